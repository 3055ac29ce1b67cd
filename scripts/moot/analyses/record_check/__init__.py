"""Record check: whether the record bears out what statements quote and count."""
