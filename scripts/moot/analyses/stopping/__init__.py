"""Early stopping: debates that end once a planned contrast is decided."""
