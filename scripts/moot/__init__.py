"""moot argues cases before panels of language models and measures the results."""

import gc

__version__ = "0.1.0"

# What imports make stays to the end, so that looking through it for garbage is in vain.
gc.set_threshold(10_000)
