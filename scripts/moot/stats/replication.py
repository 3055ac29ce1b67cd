"""A value of ours against one that somebody published: both have errors, the published one from its
n.
"""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from moot.stats.score_intervals import Interval

NOTHING = (float("nan"), float("nan"))


def scale_interval(value: float, like: Interval, size: float, n: float) -> Interval:
    """Return a value of n answers, whose errors are those of a like value of `size` answers, in
    proportion to 1 / sqrt(n).
    """
    factor = np.sqrt(size / n)
    return Interval(
        value, value - (like.value - like.low) * factor, value + (like.high - like.value) * factor
    )


def difference_interval(first: Interval, second: Interval) -> tuple[float, float]:
    """Return the interval of first less second, from two samples: errors add in squares (Newcombe
    1998, method 10).
    """
    value = first.value - second.value
    lower_reach = np.hypot(first.value - first.low, second.high - second.value)
    upper_reach = np.hypot(first.high - first.value, second.value - second.low)
    return float(value - lower_reach), float(value + upper_reach)


def replication_interval(published: Interval, ours: Interval) -> tuple[float, float]:
    """Where a replication as large as ours falls 95 times of 100, if it differs by chance alone.

    Ours lies within it exactly where the interval of the difference holds 0.
    """
    low, high = difference_interval(ours, published)
    gap = ours.value - published.value
    return float(published.value - (high - gap)), float(published.value + (gap - low))


def all_defined(*values: Iterable[float]) -> bool:
    """Return whether every number is there."""
    return not any(map(np.isnan, chain.from_iterable(values)))
