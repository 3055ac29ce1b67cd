"""From a reply's text to its values: a ladder from strict JSON to stated answers."""
