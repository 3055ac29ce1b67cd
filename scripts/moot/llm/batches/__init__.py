"""Calls in batches of a provider."""
