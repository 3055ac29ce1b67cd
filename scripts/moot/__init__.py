"""moot argues cases before panels of language models and measures the results."""

__version__ = "0.1.0"
