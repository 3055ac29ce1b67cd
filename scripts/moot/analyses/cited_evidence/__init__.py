"""Cited evidence: which passages of a case's evidence its seats cite by number."""
