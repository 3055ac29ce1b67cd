"""Score intervals of shares: those that invert a test with the variance under the tested value."""

import numpy as np

from moot.stats.bootstrap import LEVEL


def tango_interval(
    first_alone: int, second_alone: int, pairs: int, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of Tango (1998, Statistics in Medicine 17) of a difference between two shares of
    the same independent cases.

    Args:
        first_alone, second_alone: cases that one side alone gets right.
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


def _tango_score(supposed: float, first_alone: int, second_alone: int, pairs: int) -> float:
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
