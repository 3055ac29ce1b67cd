"""Trained models: the baselines (registry `BASELINES` in `training/baselines`), how they are
evaluated, and the reliability assistant.
"""
