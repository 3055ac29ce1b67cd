"""The decision conferences."""
