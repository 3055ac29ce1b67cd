"""moot argues cases before panels of language models and measures what comes of it."""

__version__ = "0.1.0"
