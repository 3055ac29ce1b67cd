"""Training and scoring of baselines: what the registered builders of `moot.training.baselines` are put through."""
