"""From a reply's text to its values: an object, a label, a number, a list, or invalid."""
