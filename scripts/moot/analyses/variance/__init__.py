"""Variance: how much of the verdicts' variation comes from cases, models and repeats."""
