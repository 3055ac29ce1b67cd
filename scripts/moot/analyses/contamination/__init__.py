"""Contamination: whether a model has seen the cases of a data set."""
