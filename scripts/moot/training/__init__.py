"""Trained models: the baselines (registry `BASELINES`), their evaluation, and the assistant."""
