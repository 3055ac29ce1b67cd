"""Bootstrap over clusters: dependent rows are drawn together.

A cluster is a case with its repeats, or a property that several cases share: the motion of a claim,
the topic of a post. `moot.stats.bootstrap_interval` computes the interval of a statistic. The
interval of a mean amount also includes the interval of log-normal amounts (`moot.stats.amounts`).

Rows may belong to clusters of several kinds that are not nested (a debate's story and its judge).
The variance of Cameron, Gelbach and Miller (2011, "Robust inference with multiway clustering", JBES
29) is then the sum over the kinds, minus the variance by both kinds together, and at least the
variance by each single kind. The degrees of freedom of t are one less than the smallest number of
clusters of a kind.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from moot.stats.amounts import lognormal_interval
from moot.stats.arrays import Floats, Truths
from moot.stats.bootstrap_interval import estimate_interval
from moot.stats.clusters import MIN_CLUSTERS, Clusters, effective_number, kinds_of_clusters
from moot.stats.score_intervals import LEVEL
from moot.stats.statistic import Statistic

Key = TypeVar("Key")

RESAMPLES = 1000
_MAX_WEIGHTS_IN_MEMORY = 2**22
"""Maximum of resamples times rows whose weights are in memory at once: 32 MB. A statistic takes
several times as much.
"""
_NEARLY_EQUAL = 0.8


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
        self.rows = len(self.codes)
        self.clusters = int(self.codes.max(initial=-1)) + 1
        self.level = level
        self.kinds = len(kinds)
        self._seed = seed
        self._resamples = resamples
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
