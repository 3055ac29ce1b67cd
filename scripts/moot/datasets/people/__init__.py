"""What data sets of people share: cleaned columns, narratives, synthetic people, feature ranking."""
