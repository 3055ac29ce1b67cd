"""Intervals of differences between shares that hold with few cases and rare outcomes."""

from typing import NamedTuple

import numpy as np

LEVEL = 0.95


class Interval(NamedTuple):
    """A value with the ends of its interval; NaN where there are none."""

    value: float
    low: float
    high: float


def wilson_interval(share: float, n: float, level: float = LEVEL) -> Interval:
    """A share of n answers, with the interval of Wilson (1927).

    >>> [round(end, 3) for end in wilson_interval(0.9, 200)]
    [0.9, 0.851, 0.934]
    """
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    z = float(ndtri((1 + level) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(max(share * (1 - share), 0.0) / n + (z / (2 * n)) ** 2)
    return Interval(share, float(min(centre - half, share)), float(max(centre + half, share)))


def tango_interval(
    first_alone: float, second_alone: float, pairs: float, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of Tango (1998, Statistics in Medicine 17) of a difference between two shares of
    the same independent cases.

    Args:
        first_alone, second_alone: cases that one side alone gets right. An effective number of
            clusters need not be whole.
        pairs: all cases.
        level: the nominal coverage.

    >>> [round(end, 3) for end in tango_interval(1, 0, 30)]
    [-0.084, 0.167]
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    quantile = float(ndtri((1 + level) / 2))
    estimate = (first_alone - second_alone) / pairs

    def score(supposed: float) -> float:
        return _tango_score(supposed, first_alone, second_alone, pairs)

    low = -1.0 if estimate <= -1 else brentq(lambda d: score(d) - quantile, -1.0, estimate)
    high = 1.0 if estimate >= 1 else brentq(lambda d: score(d) + quantile, estimate, 1.0)
    return float(low), float(high)


def _tango_score(supposed: float, first_alone: float, second_alone: float, pairs: float) -> float:
    """The standardised distance of the estimate from a supposed difference."""
    distance = first_alone - second_alone - pairs * supposed
    linear = -first_alone - second_alone + (2 * pairs - first_alone + second_alone) * supposed
    constant = -second_alone * supposed * (1 - supposed)
    root = np.sqrt(max(linear**2 - 8 * pairs * constant, 0.0))
    second_alone_share = (root - linear) / (4 * pairs)
    variance = pairs * (2 * second_alone_share + supposed * (1 - supposed))
    if distance == 0:
        return 0.0
    return (
        float(distance / np.sqrt(variance)) if variance > 0 else float(np.copysign(1e9, distance))
    )
