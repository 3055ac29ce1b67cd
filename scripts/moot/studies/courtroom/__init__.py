"""Tables and figures of the courtroom study."""
