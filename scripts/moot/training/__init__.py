"""Training and scoring of baselines: what the registered builders of `moot.baselines` are put through."""
