"""Shared code of data sets of people: columns, narratives, exchanges and feature ranking."""
