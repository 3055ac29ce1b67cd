"""Commands that answer a question about a run: preview, power, freeze, rehearse."""
