"""Intervals of differences between shares that hold with few cases and rare outcomes."""

from typing import NamedTuple

import numpy as np

LEVEL = 0.95
_ROUNDING = 1e-9


class Interval(NamedTuple):
    """A value with the ends of its interval; the ends are NaN without an interval."""

    value: float
    low: float
    high: float


def wilson_interval(share: float, n: float, level: float = LEVEL) -> Interval:
    """Return a share of n answers with the interval of Wilson (1927).

    NaN if n is 0, or if the share is not from 0 to 1.

    >>> [round(end, 3) for end in wilson_interval(0.9, 200)]
    [0.9, 0.851, 0.934]
    """
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    if not n > 0 or not -_ROUNDING <= share <= 1 + _ROUNDING:
        return Interval(float("nan"), float("nan"), float("nan"))
    z = float(ndtri((1 + level) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(max(share * (1 - share), 0.0) / n + (z / (2 * n)) ** 2)
    return Interval(share, float(min(centre - half, share)), float(max(centre + half, share)))


def agresti_caffo_interval(
    first_right: float,
    first_cases: float,
    second_right: float,
    second_cases: float,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Return the interval of a difference between shares of different independent cases.

    Source: Agresti and Caffo 2000, The American Statistician 54.

    It is Wald's interval with one additional right and one additional wrong case on each side.

    >>> [round(end, 3) for end in agresti_caffo_interval(9, 10, 3, 10)]
    [0.16, 0.84]
    """
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    if not (first_cases > 0 and second_cases > 0):
        return float("nan"), float("nan")
    first_share = (first_right + 1) / (first_cases + 2)
    second_share = (second_right + 1) / (second_cases + 2)
    variance = first_share * (1 - first_share) / (first_cases + 2)
    variance += second_share * (1 - second_share) / (second_cases + 2)
    half = float(ndtri((1 + level) / 2)) * variance**0.5
    difference = first_share - second_share
    return max(-1.0, difference - half), min(1.0, difference + half)


def tango_interval(
    first_alone: float, second_alone: float, pairs: float, level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval of a difference between two shares of the same independent cases.

    Source: Tango 1998, Statistics in Medicine 17.

    Args:
        first_alone, second_alone: cases that one side alone gets right. They may be fractions if
            clusters have an effective number.
        pairs: all cases.
        level: the nominal coverage.

    >>> [round(end, 3) for end in tango_interval(1, 0, 30)]
    [-0.084, 0.167]
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    if not pairs > 0:
        return float("nan"), float("nan")
    quantile = float(ndtri((1 + level) / 2))
    estimate = (first_alone - second_alone) / pairs

    def score(supposed: float) -> float:
        return _tango_score(supposed, first_alone, second_alone, pairs)

    low = -1.0 if estimate <= -1 else brentq(lambda d: score(d) - quantile, -1.0, estimate)
    high = 1.0 if estimate >= 1 else brentq(lambda d: score(d) + quantile, estimate, 1.0)
    return float(low), float(high)


def _tango_score(supposed: float, first_alone: float, second_alone: float, pairs: float) -> float:
    """Return the standardised distance of the estimate from a supposed difference."""
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
