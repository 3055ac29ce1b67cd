"""The stages of a run. Only these modules know the plan; they hand down what the other rooms need: prompts, a model's
configuration, a seed, paths.
"""
