"""The core, on which all other packages depend."""
