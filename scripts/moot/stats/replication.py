"""Comparison of a value of ours with a published one; both have sampling errors."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from moot.stats.intervals import Interval

NOTHING = (float("nan"), float("nan"))


def scale_interval(value: float, like: Interval, size: float, n: float) -> Interval:
    """Return the interval of a value of n answers, scaled from a similar value of `size` answers.

    Errors are proportional to 1 / sqrt(n).
    """
    factor = np.sqrt(size / n)
    return Interval(
        value, value - (like.value - like.low) * factor, value + (like.high - like.value) * factor
    )


def difference_interval(first: Interval, second: Interval) -> tuple[float, float]:
    """Return the interval of first minus second, from two samples.

    Squared errors add up (Newcombe 1998, method 10).
    """
    value = first.value - second.value
    lower_reach = np.hypot(first.value - first.low, second.high - second.value)
    upper_reach = np.hypot(first.high - first.value, second.value - second.low)
    return float(value - lower_reach), float(value + upper_reach)


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
