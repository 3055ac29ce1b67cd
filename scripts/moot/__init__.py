"""moot argues cases before panels of language models and measures the results."""

import atexit
import gc

__version__ = "0.1.0"

# What imports make stays to the end, so that looking through it for garbage is in vain: it takes a
# third of the time of a short job, most of it when Python ends.
gc.set_threshold(10_000)
atexit.register(gc.freeze)
