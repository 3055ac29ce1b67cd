"""Intervals by a bootstrap over clusters: dependent rows are drawn together.

A cluster is a case with its repeats, or a property that several cases share: the motion of a claim,
the topic of a post. A statistic is a function of row weights. It takes an array of shape
(resamples, rows), which says how often each row was drawn, and returns an array of shape
(resamples,). All resamples are computed at once.

The interval is a small-sample t interval from the bootstrap's standard error. Student's t has one
degree of freedom less than there are clusters. The scale suits the statistic's range: log odds for
a share, so that the interval stays within 0 and 1. Percentiles of the draws cover too little with
few clusters and rare outcomes. docs/results.md gives the simulated coverage of this method for 5 to
200 clusters. If all clusters agree (all or none right), the draws show no spread. Then moot uses
the interval of Clopper and Pearson (1934) with the clusters as the sample size. If fewer than
`FEW_CARRIERS` clusters of unequal sizes deviate, the interval includes the score interval (Wilson
1927; Tango 1998) of clusters that are right or wrong as a whole. Amounts (rounds, tokens, costs)
are skewed. Their interval includes the t interval on the scale of logarithms and the t interval
corrected for the draws' skewness (Hall 1992, "On the removal of skewness by transformation", JRSS B
54). The interval of a mean also includes the interval of log-normal amounts (`moot.stats.amounts`).

Rows may belong to clusters of several kinds that are not nested (a debate's story and its judge).
The variance of Cameron, Gelbach and Miller (2011, "Robust inference with multiway clustering", JBES
29) is then the sum over the kinds, minus the variance by both kinds together, and at least the
variance by each single kind. The degrees of freedom of t are one less than the smallest number of
clusters of a kind.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from moot.stats.amounts import MIN_AMOUNTS, lognormal_interval
from moot.stats.score_intervals import LEVEL, tango_interval, wilson_interval

Floats = NDArray[np.float64]
Numbers = NDArray[Any]
Truths = NDArray[np.bool_]
Column: TypeAlias = "pd.Series[Any]"
Values: TypeAlias = "ArrayLike | Column"
Clusters = Iterable[Hashable]
Bounds = tuple[float, float]
Key = TypeVar("Key")

RESAMPLES = 1000
MIN_CLUSTERS = 2

ANY: Bounds = (-np.inf, np.inf)
AMOUNT: Bounds = (0.0, np.inf)
SHARE: Bounds = (0.0, 1.0)
DIFFERENCE: Bounds = (-1.0, 1.0)

PSEUDO_CLUSTERS = 2
"""The number of unseen deviating clusters that are assumed in each direction if few carry a
difference.
"""
FEW_CARRIERS = 5
"""The number of deviating clusters of unequal sizes below which the next large cluster decides.
Then the interval includes the interval of clusters that deviate as a whole.
"""
SHARE_DIGITS = 9  # of a share's interval
_MAX_WEIGHTS_IN_MEMORY = 2**22
"""Maximum of resamples times rows whose weights are in memory at once: 32 MB. A statistic takes
several times as much.
"""
_NEARLY_EQUAL = 0.8
_NO_SPREAD = 1e-12
_NO_SKEWNESS = 1e-6


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of row weights, with what its interval needs to know.

    Attributes:
        function: weights of shape (resamples, rows) to values of shape (resamples,); NaN if
            undefined.
        bounds: its smallest and largest possible value: `SHARE`, `DIFFERENCE`, `AMOUNT` or `ANY`.
        rows: the rows that it depends on, shape (rows,), such as the positive cases for recall;
            None for all.
        signed_parts: for a sum of absolute values, these values with their signs, shape (resamples,
            parts). Chance alone raises such a sum, so its interval is extended downwards.
        min_clusters: with fewer clusters there is no interval.
        amounts: for a mean of amounts above 0, these amounts, shape (rows,). The interval then
            includes the interval of log-normal amounts.
    """

    function: Callable[[Floats], Floats]
    bounds: Bounds = ANY
    rows: Truths | None = None
    signed_parts: Callable[[Floats], Floats] | None = None
    min_clusters: int = MIN_CLUSTERS
    amounts: Floats | None = None

    def __call__(self, weights: Floats) -> Floats:
        return self.function(weights)


class ClusterBootstrap:
    """Resamples of the clusters behind some rows.

    Equal clusters and seed give equal draws, also across models.

    Args:
        clusters: the cluster of each row; several rows may share one. A tuple names one cluster of
            each kind.
        seed: of the draws.
        resamples: how many samples of clusters are drawn, with replacement.
        level: the interval's nominal coverage.
    """

    def __init__(
        self, clusters: Clusters, seed: int, resamples: int = RESAMPLES, level: float = LEVEL
    ) -> None:
        kinds = kinds_of_clusters(clusters)
        self.codes, _ = min(kinds, key=lambda kind: (kind[1], kind[0].max(initial=-1)))
        self.rows, self.clusters, self.level = (
            len(self.codes),
            int(self.codes.max(initial=-1)) + 1,
            level,
        )
        self._seed, self._resamples = seed, resamples
        self.kinds = len(kinds)
        self._kinds = [
            (ClusterBootstrap(codes, seed, resamples, level), number)
            for codes, number in kinds
            if len(kinds) > 1
        ]

    @property
    def has_single_rows(self) -> bool:
        """Whether each row is a cluster of its own."""
        return self.kinds == 1 and self.clusters == self.rows

    @cached_property
    def has_unequal_clusters(self) -> bool:
        """Whether the effective number of clusters lies well below their number."""
        return self.clusters_among(None) < _NEARLY_EQUAL * self.clusters

    def weights(self) -> Iterator[Floats]:
        """Yield how often each row is drawn, in blocks of resamples of shape (resamples, rows).

        A block holds all resamples if there are few rows. With several kinds of clusters, the kind
        with the fewest clusters is drawn.
        """
        chunk_size = max(1, _MAX_WEIGHTS_IN_MEMORY // max(self.rows, 1))
        if chunk_size >= self._resamples:
            yield self._all_weights
            return
        cluster_counts = _draw_clusters(self.clusters, self._seed, self._resamples)
        for start in range(0, self._resamples, chunk_size):
            yield self._by_row(cluster_counts[start : start + chunk_size])

    @cached_property
    def _all_weights(self) -> Floats:
        if not self.clusters:
            return np.ones((self._resamples, 0))
        return self._by_row(_draw_clusters(self.clusters, self._seed, self._resamples))

    def _by_row(self, cluster_counts: "NDArray[np.uint8]") -> Floats:
        weights = cluster_counts.astype(np.float64)
        in_order = self.rows == self.clusters and bool((self.codes == np.arange(self.rows)).all())
        return weights if in_order else weights[:, self.codes]

    def value(self, statistic: Callable[[Floats], Floats]) -> float:
        """Return the statistic on the observed rows; NaN without rows."""
        return float(statistic(np.ones((1, self.rows)))[0]) if self.rows else float("nan")

    def draws(self, statistic: Callable[[Floats], Floats]) -> Floats:
        """Return the statistic on every resample, shape (resamples,); see `draws_of`."""
        return self.draws_of(lambda weights: {"": statistic(weights)})[""]

    def draws_of(self, statistics: Callable[[Floats], Mapping[Key, Floats]]) -> dict[Key, Floats]:
        """Return several statistics on every resample, shape (resamples,) each.

        With several kinds of clusters, clusters are drawn of the kind by which the statistic
        varies most. The draws are rescaled to the variance of Cameron, Gelbach and Miller.
        """
        if self._kinds:
            draws_by_kind = [
                (kind.draws_of(statistics), kind.clusters, number) for kind, number in self._kinds
            ]
            combined_draws: dict[Key, Floats] = {}
            for key in draws_by_kind[0][0]:
                kinds = [(draws[key], size, kinds) for draws, size, kinds in draws_by_kind]
                combined_draws[key] = _combine_kinds(kinds)
            return combined_draws
        parts = [statistics(weights) for weights in self.weights()]
        draws_by_key: dict[Key, Floats] = {}
        for key in parts[0]:
            draws_by_key[key] = np.concatenate([part[key] for part in parts])
        return draws_by_key

    def clusters_among(self, rows: Truths | None) -> float:
        """Return the effective number of clusters of some rows; None for all rows.

        With several kinds of clusters it is the smallest of their numbers.
        """
        if self._kinds:
            return min(kind.clusters_among(rows) for kind, number in self._kinds if number == 1)
        return effective_number(np.bincount(self.codes if rows is None else self.codes[rows]))

    def interval(self, statistic: Statistic) -> tuple[float, float]:
        """Return the interval of a statistic, as `estimate_interval`."""
        clusters = self.clusters_among(statistic.rows)
        if clusters < max(MIN_CLUSTERS, statistic.min_clusters):
            return float("nan"), float("nan")
        low, high = estimate_interval(
            self.value(statistic),
            self.draws(statistic),
            clusters,
            statistic.bounds,
            self.level,
            self.has_unequal_clusters,
        )
        if statistic.signed_parts is not None and not np.isnan(low):
            low = max(statistic.bounds[0], low - self._bias(statistic.signed_parts, clusters))
        if statistic.amounts is not None and not self._kinds:
            return self._join_lognormal((low, high), statistic.amounts, clusters)
        return low, high

    def _join_lognormal(
        self, interval: tuple[float, float], amounts: Floats, clusters: float
    ) -> tuple[float, float]:
        """Return an interval extended to the log-normal one, if the statistic has amounts."""
        sizes = np.bincount(self.codes).astype(np.float64)
        means = np.bincount(self.codes, amounts) / sizes
        ends = lognormal_interval(means, sizes, clusters, self.level)
        return (min(interval[0], ends[0]), max(interval[1], ends[1])) if ends else interval

    def _bias(self, signed_parts: Callable[[Floats], Floats], clusters: float) -> float:
        """Return an upper bound of how much chance raises a sum of absolute values.

        It is the sum of the mean absolute values of normal variables around 0 with the parts'
        standard errors.
        """
        parts = np.concatenate([signed_parts(weights) for weights in self.weights()])
        errors = np.nanstd(parts, axis=0) * np.sqrt(clusters / (clusters - 1))
        return float(errors.sum() * np.sqrt(2 / np.pi))

    def estimate(self, statistic: Statistic) -> tuple[float, float, float]:
        """Return the statistic's value with the lower and upper end of its interval."""
        return self.value(statistic), *self.interval(statistic)


def effective_number(sizes: Numbers) -> float:
    """Return the effective number of clusters of these sizes or weights, shape (clusters,).

    If sizes are unequal, few clusters may decide. The number is the squared sum of sizes over the
    sum of squared sizes (Kish 1965; Carter, Schnepel and Steigerwald 2017, "Asymptotic behavior of
    a t-test robust to cluster heterogeneity", Review of Economics and Statistics 99). It is at
    least 2 if there are two clusters.
    """
    positive = sizes[sizes > 0]
    if len(positive) < MIN_CLUSTERS:
        return float(len(positive))
    positive = positive / positive.max()  # squares of tiny weights are 0
    return max(float(MIN_CLUSTERS), float(positive.sum() ** 2 / (positive**2).sum()))


def kinds_of_clusters(clusters: Clusters) -> list[tuple[NDArray[np.intp], int]]:
    """Return the cluster numbers of each row, and the number of kinds of clusters.

    The numbers are those by each single kind, then by each pair of kinds, and so on.
    """
    rows = list(clusters)
    if not rows or not isinstance(rows[0], tuple):
        return [(_number_clusters(rows), 1)]
    kinds = [_number_clusters(names) for names in zip(*rows, strict=True)]
    numbered_kinds: list[tuple[NDArray[np.intp], int]] = []
    for number in range(1, len(kinds) + 1):
        for subset in combinations(kinds, number):
            codes = np.unique(np.stack(subset), axis=1, return_inverse=True)[1]
            numbered_kinds.append((codes.reshape(-1), number))
    return numbered_kinds


def _number_clusters(names: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the number of each row's cluster; rows without a cluster form one cluster together."""
    array = np.asarray(names, dtype=object)
    return pd.factorize(array, sort=True, use_na_sentinel=False)[0]


def _combine_kinds(kinds: list[tuple[Floats, int, int]]) -> Floats:
    """Return draws with the variance of several kinds of clusters.

    Each kind comes with its draws, its number of clusters, and how many single kinds it combines. A
    kind's variance is multiplied by clusters / (clusters - 1), as in a small-sample interval. The
    variance of two kinds together is subtracted.
    """
    variances = [
        (
            float(np.nanvar(draws, ddof=1)) * clusters / max(1, clusters - 1)
            if not np.isnan(draws).all()
            else 0.0
        )
        for draws, clusters, _ in kinds
    ]
    combined_variance = sum(
        variance if number % 2 else -variance
        for variance, (*_, number) in zip(variances, kinds, strict=True)
    )
    single = [position for position, (*_, number) in enumerate(kinds) if number == 1]
    widest = max(single, key=lambda position: variances[position])
    fewest = min(kinds[position][1] for position in single)
    draws, clusters, _ = kinds[widest]
    if not variances[widest] or clusters == 1:  # equal draws have a variance from rounding errors
        return draws
    spread = (
        max(combined_variance, variances[widest])
        * (1 - 1 / fewest)
        / (variances[widest] * (1 - 1 / clusters))
    )
    centre = np.nanmean(draws)
    return np.asarray(centre + (draws - centre) * np.sqrt(spread), dtype=np.float64)


@lru_cache(maxsize=2)
def _draw_clusters(clusters: int, seed: int, resamples: int) -> "NDArray[np.uint8]":
    """Return how often each cluster is drawn, shape (resamples, clusters), one byte per number.

    A number above 255 practically never occurs.
    """
    generator, shares = np.random.default_rng(seed), np.full(clusters, 1 / clusters)
    counts = np.empty((resamples, clusters), dtype=np.uint8)
    chunk_size = max(1, _MAX_WEIGHTS_IN_MEMORY // clusters)
    for start in range(0, resamples, chunk_size):
        size = min(chunk_size, resamples - start)
        counts[start : start + size] = generator.multinomial(clusters, shares, size=size)
    return counts


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


def as_numbers(values: Values) -> Floats:
    """Return truth values or numbers as an array of floats."""
    return np.asarray(values, dtype=np.float64)


def ratio(numerator: Floats, denominator: Floats, where_zero: float = float("nan")) -> Floats:
    """Return the element-wise ratio, with a default value if the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, where_zero, dtype=np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def departs_from_mode(values: Numbers) -> Truths:
    """Return which rows of a matrix differ from its most frequent row, shape (rows,).

    A coefficient of agreement or of ranking depends on these rows. If a rater is constant there are
    none, and the coefficient is not informative.
    """
    if not len(values):
        return np.zeros(0, dtype=bool)
    _, codes, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    departs: Truths = codes.reshape(-1) != counts.argmax()
    return departs


def mean_statistic(values: Values, bounds: Bounds = ANY) -> Statistic:
    """Return the statistic of the mean of `values`, one per row.

    A mean of few amounts has no interval.
    """
    array = as_numbers(values)
    has_tail = bounds == AMOUNT
    return Statistic(
        lambda weights: ratio(weights @ array, weights.sum(axis=1)),
        bounds,
        min_clusters=MIN_AMOUNTS if has_tail else MIN_CLUSTERS,
        amounts=array if has_tail else None,
    )


def share_statistic(values: Values) -> Statistic:
    """Return the share of rows that are true, or the mean of values between 0 and 1."""
    return mean_statistic(values, SHARE)


def ratio_statistic(
    numerators: ArrayLike, denominators: ArrayLike, bounds: Bounds = ANY
) -> Statistic:
    """Return the sum of one column over the sum of another.

    The statistic's rows are those whose denominator is not 0.
    """
    top, bottom = as_numbers(numerators), as_numbers(denominators)
    return Statistic(lambda weights: ratio(weights @ top, weights @ bottom), bounds, bottom != 0)
