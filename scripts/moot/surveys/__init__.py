"""Tables about people: what their columns mean, how they are cleaned, and made-up ones for trying things out."""
