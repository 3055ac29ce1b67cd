"""Intervals of mean amounts (tokens, costs), whose distribution has a long tail."""

from dataclasses import dataclass

import numpy as np

from moot.stats.arrays import Floats
from moot.stats.score_intervals import LEVEL

MIN_AMOUNTS = 8
"""The minimum number of amounts for an interval. With fewer, the tail is unknown and the test of
skewness is undefined.
"""
SKEWNESS_LEVEL = 0.05
_LARGEST_LOGARITHM = 700.0

_ZERO = 1e-12
"""The part of the largest amount up to which an amount is 0 with rounding errors."""


@dataclass(frozen=True, slots=True)
class LognormalFit:
    """A log-normal distribution of amounts, from which a mean has an interval at any level.

    Attributes:
        mean, variance: of the logarithms.
        clusters: the effective number of clusters.
    """

    mean: float
    variance: float
    clusters: float

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the interval of the mean amount at a level of coverage."""
        from scipy.special import chdtri, ndtri  # registries are read at every start of Snakemake

        half = float(ndtri((1 + level) / 2)) * (self.variance / self.clusters) ** 0.5
        freedom, tail = self.clusters - 1, (1 - level) / 2
        lower_reach = self.variance / 2 * (1 - freedom / float(chdtri(freedom, tail)))
        upper_reach = self.variance / 2 * (freedom / float(chdtri(freedom, 1 - tail)) - 1)
        centre = self.mean + self.variance / 2
        low = centre - float(np.hypot(half, lower_reach))
        high = centre + float(np.hypot(half, upper_reach))
        return float(np.exp(low)), float(np.exp(min(high, _LARGEST_LOGARITHM)))


def lognormal_interval(
    amounts: Floats, weights: Floats, clusters: float, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return the interval of a mean of log-normal amounts.

    Source: Zou, Huo and Taleban 2009, Environmetrics 20.

    A sample seldom has the largest amounts of a long tail, so neither its standard error nor its
    skewness shows how far the mean may lie above it. The variance of the logarithms does.

    Args:
        amounts: one per cluster, shape (clusters,).
        weights: of each cluster, of the same shape.
        clusters: their effective number.
        level: the nominal coverage.

    Returns:
        The ends. None if `fit_lognormal` gives None.
    """
    fit = fit_lognormal(amounts, weights, clusters)
    return fit.interval(level) if fit else None


def fit_lognormal(amounts: Floats, weights: Floats, clusters: float) -> LognormalFit | None:
    """Fit a log-normal distribution to amounts; it takes the arguments of `lognormal_interval`.

    Returns:
        The fit. None if an amount is not above 0, if there are fewer than `MIN_AMOUNTS`, if all
        are equal, or if their logarithms are skewed to the left, which indicates a short tail.
    """
    counted = weights > 0
    amounts, weights = amounts[counted], weights[counted]
    if len(amounts) < MIN_AMOUNTS or not np.isfinite(amounts).all():
        return None
    if not (amounts > _ZERO * amounts.max()).all():
        return None
    logs = np.log(amounts)
    mean = float(np.average(logs, weights=weights))
    variance = float(np.average((logs - mean) ** 2, weights=weights)) * clusters / (clusters - 1)
    return None if _is_left_skewed(logs) else LognormalFit(mean, variance, clusters)


def _is_left_skewed(logs: Floats) -> bool:
    """Return whether all logarithms are equal, or D'Agostino's test finds them skewed to the
    left.
    """
    from scipy.stats import skewtest  # registries are read at every start of Snakemake

    if np.ptp(logs) <= np.finfo(float).eps * max(1.0, float(np.abs(logs).max())):
        return True
    return bool(skewtest(logs, alternative="less").pvalue < SKEWNESS_LEVEL)
