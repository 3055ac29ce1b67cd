"""Tables and figures of recorded debates."""
