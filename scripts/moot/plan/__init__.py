"""From a checked configuration to experiments: the plan that jobs and commands read."""
