"""Comparison of a value of ours with a published one; both have sampling errors."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from moot.stats.intervals import Interval, difference_interval


def scale_interval(value: float, like: Interval, size: float, n: float) -> Interval:
    """Return the interval of a value of n answers, scaled from a similar value of `size` answers.

    Errors are proportional to 1 / sqrt(n).
    """
    factor = np.sqrt(size / n)
    return Interval(
        value, value - (like.value - like.low) * factor, value + (like.high - like.value) * factor
    )


def replication_interval(published: Interval, ours: Interval) -> tuple[float, float]:
    """Return the interval of replications as large as ours that differ by chance alone.

    95 of 100 such replications fall into it.

    Our value lies within it exactly if the interval of the difference includes 0.
    """
    low, high = difference_interval(ours, published)
    gap = ours.value - published.value
    return float(published.value - (high - gap)), float(published.value + (gap - low))


def all_defined(*values: Iterable[float]) -> bool:
    """Return whether no number is missing."""
    return not any(map(np.isnan, chain.from_iterable(values)))
