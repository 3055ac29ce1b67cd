"""What answers a question about a run: preview, power, drift, freeze, rehearse, verify."""
