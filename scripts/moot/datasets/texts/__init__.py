"""What data sets of texts share: facts, label leakage, near-duplicates, topics."""
