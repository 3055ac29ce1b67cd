"""Intervals by a bootstrap over clusters: rows of one cluster are not independent, so they are
drawn together.

A cluster is a case (whose repeats share all), or what several cases have in common: the motion of a
claim, the topic of a post. A statistic is a function of row weights. It takes an array of shape
(resamples, rows) that says how often each row was drawn and returns an array of shape (resamples,);
all resamples are computed at once.

The interval is a small-sample t interval: the bootstrap's standard error, Student's t with one
degree of freedom less than there are clusters, on a scale that suits the statistic's range (log
odds for a share, so that it stays within 0 and 1). Percentiles of the draws cover too little with
few clusters and rare outcomes; docs/results.md has the coverage of this method by simulation, for 5
to 200 clusters. Where all clusters agree (all or none right) the draws show no spread, and the
interval is that of Clopper and Pearson (1934) with the clusters as sample size. Where fewer than
`FEW_CARRIERS` of unequal clusters deviate, it holds the score interval (Wilson 1927; Tango 1998) of
so many clusters that are right or wrong as a whole. Amounts (rounds, tokens, costs) are skewed:
their interval holds that on the scale of logarithms and that of t corrected for the draws' skewness
(Hall 1992, "On the removal of skewness by transformation", JRSS B 54), and that of a mean holds the
interval of log-normal amounts (`moot.stats.amounts`).

Where rows belong to clusters of several kinds at once, none within the other (a debate's story and
its judge), the variance is that of Cameron, Gelbach and Miller (2011, "Robust inference with
multiway clustering", JBES 29): of each kind, less that of what both share; but not less than of one
kind alone. t has one degree of freedom less than the kind with the fewest clusters has.
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
"""Clusters that could have deviated unseen where few carry a difference, one in each direction."""
FEW_CARRIERS = 5
"""With fewer clusters that deviate, of unequal sizes, the next large one decides: the interval
holds that of clusters which deviate as a whole.
"""
SHARE_DIGITS = 9  # of a share's interval
_MAX_WEIGHTS_IN_MEMORY = 2**22
"""Resamples times rows whose weights are in memory at once: 32 MB, and a statistic takes some times
as much.
"""
_NEARLY_EQUAL = 0.8
_NO_SPREAD = 1e-12
_NO_SKEWNESS = 1e-6


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of row weights, with what its interval needs to know.

    Attributes:
        function: weights of shape (resamples, rows) to values of shape (resamples,); NaN where
            undefined.
        bounds: the least and the greatest value that it can have: `SHARE`, `DIFFERENCE`, `AMOUNT`
            or `ANY`.
        rows: the rows that it rests on, shape (rows,), such as the positive cases for recall; None
            for all.
        signed_parts: where the statistic is a sum of absolute values, these values with their
            signs, shape (resamples, parts). Chance alone raises such a sum, so that its interval
            is extended downwards.
        min_clusters: with fewer clusters there is no interval.
        amounts: where the statistic is a mean of amounts above 0, these amounts, shape (rows,). Its
            interval holds that of log-normal amounts.
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
    """Resamples of the clusters behind some rows; equal clusters and seed give equal draws, also
    across models.

    Args:
        clusters: the cluster that each row belongs to; several rows may share one. A tuple
            names one of each kind.
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
        """Yield how often each row is drawn: some resamples at a time, shape (some, rows), all of
        them where rows are few.

        Of several kinds of clusters those of the fewest clusters are drawn.
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
        """Return the statistic on the rows as they are; NaN without rows."""
        return float(statistic(np.ones((1, self.rows)))[0]) if self.rows else float("nan")

    def draws(self, statistic: Callable[[Floats], Floats]) -> Floats:
        """Return the statistic on every resample, shape (resamples,); see `draws_of`."""
        return self.draws_of(lambda weights: {"": statistic(weights)})[""]

    def draws_of(self, statistics: Callable[[Floats], Mapping[Key, Floats]]) -> dict[Key, Floats]:
        """Return several statistics on every resample, shape (resamples,) each.

        With several kinds of clusters: the draws of that kind by which the statistic varies most,
        spread so that their variance is that of Cameron, Gelbach and Miller.
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
        """Return the effective number of clusters that some rows belong to; None for all rows.

        Of several kinds of clusters it is the least.
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
        """Return an interval with that of log-normal amounts, where there is one."""
        sizes = np.bincount(self.codes).astype(np.float64)
        means = np.bincount(self.codes, amounts) / sizes
        ends = lognormal_interval(means, sizes, clusters, self.level)
        return (min(interval[0], ends[0]), max(interval[1], ends[1])) if ends else interval

    def _bias(self, signed_parts: Callable[[Floats], Floats], clusters: float) -> float:
        """By how much chance raises a sum of absolute values at most: the mean absolute values of
        normal variables around 0 with the parts' standard errors.
        """
        parts = np.concatenate([signed_parts(weights) for weights in self.weights()])
        errors = np.nanstd(parts, axis=0) * np.sqrt(clusters / (clusters - 1))
        return float(errors.sum() * np.sqrt(2 / np.pi))

    def estimate(self, statistic: Statistic) -> tuple[float, float, float]:
        """Value, lower and upper end of the interval."""
        return self.value(statistic), *self.interval(statistic)


def effective_number(sizes: Numbers) -> float:
    """Return the effective number of clusters of these sizes or weights, shape (clusters,).

    Of clusters of unequal sizes few may decide: the number is the squared sum of sizes over the sum
    of squared sizes (Kish 1965; Carter, Schnepel and Steigerwald 2017, "Asymptotic behavior of a
    t-test robust to cluster heterogeneity", Review of Economics and Statistics 99), and at least 2
    where there are two clusters.
    """
    positive = sizes[sizes > 0]
    if len(positive) < MIN_CLUSTERS:
        return float(len(positive))
    positive = positive / positive.max()  # squares of tiny weights are 0
    return max(float(MIN_CLUSTERS), float(positive.sum() ** 2 / (positive**2).sum()))


def kinds_of_clusters(clusters: Clusters) -> list[tuple[NDArray[np.intp], int]]:
    """Return the number of each row's cluster by each kind, then by each two kinds together, and so
    on; and how many kinds.
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
    """Return the number of each row's cluster; rows whose cluster is missing are one cluster."""
    array = np.asarray(names, dtype=object)
    return pd.factorize(array, sort=True, use_na_sentinel=False)[0]


def _combine_kinds(kinds: list[tuple[Floats, int, int]]) -> Floats:
    """Draws with the variance of several kinds of clusters: of each kind its draws, its clusters,
    how many kinds it is.

    A kind's variance counts as its small-sample interval would (times clusters over clusters
    less one), and that of two kinds together is subtracted.
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
    if not variances[widest] or clusters == 1:  # equal draws have a variance by rounding
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
    """How often each cluster is drawn, shape (resamples, clusters), in a byte each: more than 255
    never happens.
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
    """Return the interval around a statistic's value on the sample, from its bootstrap draws;
    undefined ones are left out.

    NaN from fewer than two clusters, and where the draws show no spread of a statistic that has
    no two bounds, since then nothing says how far the next cluster may lie.
    """
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    nothing = float("nan"), float("nan")
    defined = draws[~np.isnan(draws)]
    if clusters < MIN_CLUSTERS or len(defined) < MIN_CLUSTERS or np.isnan(value):
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
        value, error, float(stdtrit(clusters - 1, (1 + level) / 2)), bounds, skewness(defined)
    )
    if not has_unequal_clusters or excess_kurtosis(defined) * FEW_CARRIERS <= 1:
        return low, high
    few_low, few_high = _score_interval(value, clusters, bounds, level)
    return min(low, few_low), max(high, few_high)


def _score_interval(
    value: float, clusters: float, bounds: Bounds, level: float
) -> tuple[float, float]:
    """Return the interval of a value whose clusters lie at the bounds: Wilson's of a share, Tango's
    of a difference; the value itself where there are no such bounds.
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

    Of b clusters that deviate alike among G, that of the sampling distribution is 1 / b - 3 / G.
    """
    deviations = draws - draws.mean()
    return max(0.0, float((deviations**4).mean() / (deviations**2).mean() ** 2 - 3))


def difference_factor(draws: Floats, bounds: Bounds) -> float:
    """By how much the standard error of a difference grows where few clusters carry it; 1 of all
    else.

    The variance grows as if one more of the clusters that deviate had deviated in each direction
    (Bonett and Price 2012, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", JEBS 37); `excess_kurtosis` says how many do.
    """
    if not -np.inf < bounds[0] < 0 < bounds[1] < np.inf:
        return 1.0
    return float(np.sqrt(1 + PSEUDO_CLUSTERS * excess_kurtosis(draws)))


def skewness(draws: Floats) -> float:
    """Return the skewness of some draws."""
    deviations = draws - draws.mean()
    return float((deviations**3).mean() / (deviations**2).mean() ** 1.5)


def unanimous_interval(
    value: float, clusters: float, bounds: Bounds, level: float
) -> tuple[float, float]:
    """Clopper-Pearson where no cluster deviates: at most a share `rare` of all clusters may, up to
    either bound.
    """
    low, high = bounds
    rare = 1 - ((1 - level) / 2) ** (1 / clusters)
    return value - rare * (value - low), value + rare * (high - value)


def interval_around(
    value: float, error: float, quantile: float, bounds: Bounds, skewness: float = 0.0
) -> tuple[float, float]:
    """So many standard errors around a value, on the scale that suits its bounds.

    Two bounds: symmetric on the scale of log odds, by the delta method. One: symmetric on the scale
    of logarithms, and at least as far as Hall's correction for the skewness of the sampling
    distribution reaches.
    """
    half, (low, high) = quantile * error, bounds
    if low < value < high < np.inf:
        share = (value - low) / (high - low)
        centre, reach = np.log(share / (1 - share)), half / (share * (1 - share) * (high - low))
        shares = [1 / (1 + np.exp(-np.clip(centre + side * reach, -700, 700))) for side in (-1, 1)]
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
    """Where t of a skewed statistic has a quantile of t: Hall's cubic transformation, solved."""
    if abs(skewness) < _NO_SKEWNESS:
        return quantile
    return float(3 * (np.cbrt(1 + skewness * (quantile - skewness / 6)) - 1) / skewness)


def as_numbers(values: Values) -> Floats:
    """Truth values or numbers as an array of floats."""
    return np.asarray(values, dtype=np.float64)


def ratio(numerator: Floats, denominator: Floats, where_zero: float = float("nan")) -> Floats:
    """Element-wise ratio with a given value where the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, where_zero, dtype=np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def departs_from_mode(values: Numbers) -> Truths:
    """Return which rows of a matrix differ from its most frequent row, shape (rows,).

    A coefficient of agreement or of ranking rests on them: where a rater is constant there are
    none, and the coefficient says nothing.
    """
    if not len(values):
        return np.zeros(0, dtype=bool)
    _, codes, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    departs: Truths = codes.reshape(-1) != counts.argmax()
    return departs


def mean_statistic(values: Values, bounds: Bounds = ANY) -> Statistic:
    """Return the mean of `values`, one a row; a mean of few amounts has no interval."""
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
    """Return the sum of one column over the sum of another; it rests on the rows whose denominator
    is not 0.
    """
    top, bottom = as_numbers(numerators), as_numbers(denominators)
    return Statistic(lambda weights: ratio(weights @ top, weights @ bottom), bounds, bottom != 0)
