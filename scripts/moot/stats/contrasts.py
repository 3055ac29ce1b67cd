"""Differences between two ratios of sums over cases: value, interval and test by cluster, each case's share in them.

A metric of a case is some terms, each a numerator and a denominator; the metric of a sample is the mean over terms of
summed numerators over summed denominators. Accuracy, F1 and rates of events are such metrics.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from moot.stats.bootstrap import (
    FEWEST_CLUSTERS,
    Bounds,
    ClusterBootstrap,
    Floats,
    Statistic,
    as_numbers,
    estimate_interval,
    ratio,
)
from moot.stats.paired import EXACT_CLUSTERS, PATTERNS, portions, sign_flip

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Sums:
    """Numerators and denominators of each case (or debate), both of shape (cases, terms)."""

    tops: Floats
    bottoms: Floats

    def value(self, weights: Floats) -> Floats:
        """The metric of resamples: weights of shape (resamples, cases) to shape (resamples,).

        A term whose denominators are all 0, as the F1 of a label that is neither true nor named, does not count.
        """
        occurs = self.bottoms.sum(axis=0) > 0
        if not occurs.any():
            return np.full(len(weights), np.nan)
        values = ratio(weights @ self.tops[:, occurs], weights @ self.bottoms[:, occurs])
        return np.asarray(values.mean(axis=1), dtype=np.float64)

    def total(self) -> float:
        """The metric of the cases as they are; NaN without cases."""
        return float(self.value(np.ones((1, len(self.tops))))[0])

    def influences(self) -> Floats:
        """What each case adds to the metric beyond its mean, shape (cases,): the metric linearised (delta method).

        Their mean is 0; the metric's sampling variance is their variance over the number of cases. For a plain mean
        they are the deviations from it.
        """
        occurs = self.bottoms.sum(axis=0) > 0
        tops, bottoms = self.tops[:, occurs], self.bottoms[:, occurs]
        ratios = tops.sum(axis=0) / bottoms.sum(axis=0)
        return np.asarray(((tops - ratios * bottoms) / bottoms.mean(axis=0)).mean(axis=1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two metrics and what lies between them.

    Attributes:
        first, second: the metric of either side.
        difference, low, high: the first less the second, with its 95 % interval by cluster.
        p: of the two-sided test by cluster.
        cases, clusters: how many the difference rests on.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    cases: int
    clusters: int


def compare_paired(first: Sums, second: Sums, clusters: ArrayLike, seed: int, bounds: Bounds) -> Difference:
    """Both sides on the same cases, row by row.

    p is that of a randomisation test: between equal sides, each cluster's debates could be either's. For plain means it
    is `moot.stats.paired.sign_flip`.
    """
    bootstrap = ClusterBootstrap(clusters, seed)
    statistic = Statistic(lambda weights: first.value(weights) - second.value(weights), bounds)
    p = _exchange(first, second, bootstrap, seed) if bootstrap.rows else float("nan")
    return Difference(
        first.total(), second.total(), *bootstrap.estimate(statistic), p, bootstrap.rows, bootstrap.clusters
    )


def _exchange(first: Sums, second: Sums, bootstrap: ClusterBootstrap, seed: int) -> float:
    """The share of exchanges of sides, cluster by cluster, that set them at least as far apart as they are."""
    if first.tops.shape[1] == 1 and (first.bottoms == 1).all() and (second.bottoms == 1).all():
        return sign_flip(_by_cluster(first.tops - second.tops, bootstrap)[:, 0], seed)
    tops = _by_cluster(first.tops, bootstrap), _by_cluster(second.tops, bootstrap)
    bottoms = _by_cluster(first.bottoms, bootstrap), _by_cluster(second.bottoms, bootstrap)
    moved = np.abs(np.hstack([tops[0] - tops[1], bottoms[0] - bottoms[1]])).max(axis=1) > _ROUNDING
    if not moved.any():
        return 1.0
    count = int(moved.sum())
    sides = [Sums(np.vstack([tops[i], tops[1 - i]]), np.vstack([bottoms[i], bottoms[1 - i]])) for i in (0, 1)]

    def apart(patterns: NDArray[Any]) -> Floats:
        swapped = np.zeros((len(patterns), len(moved)))
        swapped[:, moved] = patterns
        weights = np.hstack([1 - swapped, swapped])
        return np.abs(sides[0].value(weights) - sides[1].value(weights))

    least = apart(np.zeros((1, count)))[0] - _ROUNDING
    if count <= EXACT_CLUSTERS:
        reached = apart(np.arange(2**count)[:, None] >> np.arange(count) & 1) >= least
        return float(reached.mean())
    random = np.random.default_rng(seed)
    drawn = (random.integers(0, 2, (some, count)) for some in portions(PATTERNS, count))
    return (1 + sum(int((apart(patterns) >= least).sum()) for patterns in drawn)) / (1 + PATTERNS)


def _by_cluster(values: Floats, bootstrap: ClusterBootstrap) -> Floats:
    """Column sums within each cluster, shape (clusters, columns)."""
    summed = np.zeros((bootstrap.clusters, values.shape[1]))
    np.add.at(summed, bootstrap.codes, values)
    return summed


def compare_unpaired(
    first: Sums, second: Sums, first_clusters: ArrayLike, second_clusters: ArrayLike, seed: int, bounds: Bounds
) -> Difference:
    """Sides that argued different cases; a cluster with cases of both is drawn as a whole.

    p is that of a t test: the difference over its bootstrap standard error, one degree of freedom less than clusters.
    """
    count = len(first.tops)
    bootstrap = ClusterBootstrap([*np.asarray(first_clusters), *np.asarray(second_clusters)], seed)

    def apart(weights: Floats) -> Floats:
        return first.value(weights[:, :count]) - second.value(weights[:, count:])

    difference, draws = bootstrap.value(apart), bootstrap.draws(apart)
    interval = estimate_interval(difference, draws, bootstrap.clusters, bounds)
    p = _t_test(difference, draws, bootstrap.clusters)
    rows = bootstrap.rows
    return Difference(first.total(), second.total(), difference, *interval, p, rows, bootstrap.clusters)


def _t_test(value: float, draws: Floats, clusters: int) -> float:
    """NaN where fewer than two clusters, or draws without spread, say nothing of the error."""
    from scipy.special import stdtr  # noqa: PLC0415 - registries are read at every start of Snakemake

    defined = as_numbers(draws[~np.isnan(draws)])
    if clusters < FEWEST_CLUSTERS or len(defined) < FEWEST_CLUSTERS:
        return float("nan")
    error = float(np.std(defined, ddof=1)) * np.sqrt(clusters / (clusters - 1))
    return 2 * float(stdtr(clusters - 1, -abs(value) / error)) if error > _ROUNDING else float("nan")
