"""Tables and figures of the stance study."""
