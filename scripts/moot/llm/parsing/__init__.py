"""From a reply's text to what it says: a ladder from strict JSON to stated answers."""
