"""Questions that can be asked of any run, one folder each; see docs/architecture.md."""
