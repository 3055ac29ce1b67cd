"""Commands that answer a question about a run: preview, power, drift, freeze, rehearse, verify."""
