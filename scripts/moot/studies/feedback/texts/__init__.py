"""Legal texts: facts, label leakage, lawsuits."""
