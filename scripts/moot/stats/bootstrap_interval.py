"""The interval around a statistic, from its draws in a bootstrap over clusters.

It is a small-sample t interval from the bootstrap's standard error. Student's t has one degree of
freedom less than there are clusters. The scale suits the statistic's range: log odds for a share,
so that the interval stays within 0 and 1. Percentiles of the draws cover too little with few
clusters and rare outcomes. docs/results.md gives the simulated coverage of this method for 5 to 200
clusters. If all clusters agree (all or none right), the draws show no spread. Then moot uses the
interval of Clopper and Pearson (1934) with the clusters as the sample size. If fewer than
`FEW_CARRIERS` clusters of unequal sizes deviate, the interval includes the score interval (Wilson
1927; Tango 1998) of clusters that are right or wrong as a whole. Amounts (rounds, tokens, costs)
are skewed. Their interval includes the t interval on the scale of logarithms and the t interval
corrected for the draws' skewness (Hall 1992, "On the removal of skewness by transformation", JRSS B
54).
"""

import numpy as np

from moot.stats.arrays import Floats
from moot.stats.clusters import MIN_CLUSTERS
from moot.stats.score_intervals import LEVEL, tango_interval, wilson_interval
from moot.stats.statistic import ANY, DIFFERENCE, SHARE, Bounds

PSEUDO_CLUSTERS = 2
"""The number of unseen deviating clusters that are assumed in each direction if few carry a
difference.
"""
FEW_CARRIERS = 5
"""The number of deviating clusters of unequal sizes below which the next large cluster decides.
Then the interval includes the interval of clusters that deviate as a whole.
"""
SHARE_DIGITS = 9  # of a share's interval
_NO_SPREAD = 1e-12
_NO_SKEWNESS = 1e-6


def estimate_interval(
    value: float,
    draws: Floats,
    clusters: float,
    bounds: Bounds = ANY,
    level: float = LEVEL,
    has_unequal_clusters: bool = False,
) -> tuple[float, float]:
    """Return the interval around a statistic's value, from its bootstrap draws.

    Undefined draws are left out.

    The interval is NaN for fewer than two clusters. It is also NaN if the draws show no spread and
    the statistic lacks a lower or an upper bound, since nothing then indicates how far away the
    next cluster may be.
    """
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    nothing = float("nan"), float("nan")
    defined = draws[~np.isnan(draws)]
    if clusters < MIN_CLUSTERS or len(defined) < MIN_CLUSTERS:
        return nothing
    if not np.isfinite(value) or not np.isfinite(defined).all():
        return nothing
    if np.ptp(defined) <= _NO_SPREAD * max(1.0, abs(value)):
        return (
            unanimous_interval(value, clusters, bounds, level)
            if np.isfinite(bounds).all()
            else nothing
        )
    error = float(np.std(defined, ddof=1)) * np.sqrt(clusters / (clusters - 1))
    error *= difference_factor(defined, bounds)
    low, high = interval_around(
        value,
        error,
        float(stdtrit(clusters - 1, (1 + level) / 2)),
        bounds,
        skewness(defined) if needs_skewness(bounds) else 0.0,
    )
    if not has_unequal_clusters or excess_kurtosis(defined) * FEW_CARRIERS <= 1:
        return low, high
    few_low, few_high = _score_interval(value, clusters, bounds, level)
    return min(low, few_low), max(high, few_high)


def _score_interval(
    value: float, clusters: float, bounds: Bounds, level: float
) -> tuple[float, float]:
    """Return the score interval of a value if clusters deviate as a whole.

    It is Wilson's interval for a share and Tango's for a difference. Without such bounds, both ends
    are the value itself.
    """
    if bounds == SHARE:
        interval = wilson_interval(value, clusters, level)
        return interval.low, interval.high
    if bounds == DIFFERENCE:
        deviating = abs(value) * clusters
        low, high = tango_interval(deviating, 0.0, clusters, level)
        return (low, high) if value > 0 else (-high, -low)
    return value, value


def excess_kurtosis(draws: Floats) -> float:
    """Return the excess kurtosis of some draws; at least 0.

    If b of G clusters deviate equally, the sampling distribution has an excess kurtosis of 1 / b -
    3 / G.
    """
    deviations = draws - draws.mean()
    return max(0.0, float((deviations**4).mean() / (deviations**2).mean() ** 2 - 3))


def difference_factor(draws: Floats, bounds: Bounds) -> float:
    """Return by how much the standard error of a difference grows if few clusters carry it.

    The factor is 1 for all other statistics.

    The variance grows as if one further cluster had deviated in each direction (Bonett and Price
    2012, "Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data", JEBS 37); `excess_kurtosis` tells how many deviate.
    """
    if not -np.inf < bounds[0] < 0 < bounds[1] < np.inf:
        return 1.0
    return float(np.sqrt(1 + PSEUDO_CLUSTERS * excess_kurtosis(draws)))


def skewness(draws: Floats) -> float:
    """Return the skewness of some draws."""
    deviations = draws - draws.mean()
    return float((deviations**3).mean() / (deviations**2).mean() ** 1.5)


def needs_skewness(bounds: Bounds) -> bool:
    """Return whether an interval with these bounds is corrected for the skewness of the draws."""
    return -np.inf < bounds[0] and bounds[1] == np.inf


def unanimous_interval(
    value: float, clusters: float, bounds: Bounds, level: float
) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of clusters of which none deviates.

    At most a share `rare` of all clusters may deviate, up to either bound.
    """
    low, high = bounds
    rare = 1 - ((1 - level) / 2) ** (1 / clusters)
    return value - rare * (value - low), value + rare * (high - value)


def interval_around(
    value: float, error: float, quantile: float, bounds: Bounds, skewness: float = 0.0
) -> tuple[float, float]:
    """Return the interval of some standard errors around a value, on a scale that suits its bounds.

    With two bounds the interval is symmetric on the scale of log odds, by the delta method. With
    one bound it is symmetric on the scale of logarithms, and at least as wide as Hall's correction
    for the skewness of the sampling distribution.
    """
    half, (low, high) = quantile * error, bounds
    if low < value < high < np.inf:
        share = (value - low) / (high - low)
        centre, reach = np.log(share / (1 - share)), half / (share * (1 - share) * (high - low))
        log_odds = [min(max(centre + side * reach, -700), 700) for side in (-1, 1)]
        shares = [1 / (1 + np.exp(-end)) for end in log_odds]
        ends = [low + (high - low) * round(float(end), SHARE_DIGITS) for end in shares]
    elif -np.inf < low < value and high == np.inf:
        reach = min(half / (value - low), 700)
        below_bound, above_bound = (
            value - error * _unskewed(side * quantile, skewness) for side in (1, -1)
        )
        ends = [
            min(low + (value - low) * np.exp(-reach), below_bound),
            max(low + (value - low) * np.exp(reach), above_bound),
        ]
        ends = [max(low, end) for end in ends]
    else:  # no bounds, or a value at its bound although resamples differ
        ends = [float(np.clip(value + side * half, low, high)) for side in (-1, 1)]
    return float(ends[0]), float(ends[1])


def _unskewed(quantile: float, skewness: float) -> float:
    """Return the quantile of t corrected for skewness: the solution of Hall's cubic
    transformation.
    """
    if abs(skewness) < _NO_SKEWNESS:
        return quantile
    return float(3 * (np.cbrt(1 + skewness * (quantile - skewness / 6)) - 1) / skewness)
