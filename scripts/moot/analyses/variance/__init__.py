"""Variance: the shares of verdicts' variation that come from cases, models and repeats."""
