"""Counterfactual people: whether the same person told with another sex or race is judged alike."""
