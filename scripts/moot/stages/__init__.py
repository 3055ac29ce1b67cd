"""The stages of the workflow: what each one makes, and from what."""
