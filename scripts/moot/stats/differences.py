"""Differences between two ratios of sums over cases: value, interval and test by cluster, each
case's share in them.

A metric of a case is some terms, each a numerator and a denominator; the metric of a sample is the
mean over terms of summed numerators over summed denominators. Accuracy, F1 and rates of events are
such metrics.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from moot.stats.bootstrap import (
    Bounds,
    ClusterBootstrap,
    Clusters,
    Floats,
    Numbers,
    Statistic,
    estimate_interval,
    kinds_of_clusters,
    ratio,
)
from moot.stats.independent import Independent, Part, p_of_interval
from moot.stats.randomisation import agree_with_test, dealing_p, exchange_p, sign_flip_p

MAX_DEALT_CLUSTERS = 3000  # clusters; beyond, tests by dealing take long, and both ways to p agree
UNPAIRED_NOTE = (
    "The interval is Newcombe's, or by cluster one that joins both sides' own variances; p is of"
    " Fisher's exact test, of one that deals the clusters to both sides anew, or, where these"
    " differ in size or have cases of both sides, of the interval. What cannot be computed has p"
    " = 1."
)
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Sums:
    """Numerators and denominators of each case (or debate), both of shape (cases, terms)."""

    tops: Floats
    bottoms: Floats

    def value(self, weights: Floats) -> Floats:
        """The metric of resamples: weights of shape (resamples, cases) to shape (resamples,).

        A term whose denominators are all 0 in a resample, as the F1 of a label that is neither true
        nor named there, does not count.
        """
        bottoms = weights @ self.bottoms
        return ratio(
            ratio(weights @ self.tops, bottoms, 0.0).sum(axis=1), (bottoms > 0).sum(axis=1)
        )

    def total(self) -> float:
        """The metric of the cases as they are; NaN without cases."""
        return float(self.value(np.ones((1, len(self.tops))))[0])

    def shifted(self, supposed: float) -> "Sums":
        """The same cases with a metric that is greater by so much."""
        return Sums(self.tops + supposed * self.bottoms, self.bottoms) if supposed else self

    def to_part(self, bounds: Bounds) -> Part:
        """What a comparison with other cases needs to know."""
        bottoms = self.bottoms[:, self.bottoms.sum(axis=0) > 0]
        weights = bottoms @ (1 / bottoms.sum(axis=0)) / max(1, bottoms.shape[1])
        is_count = self.tops.shape[1] == 1 and bool(
            np.isin(np.hstack([self.tops, self.bottoms]), (0, 1)).all()
        )
        return Part(
            self.total(), bounds, self.influences() / max(1, len(self.tops)), weights, is_count
        )

    def influences(self) -> Floats:
        """What each case adds to the metric beyond its mean, shape (cases,): the metric linearised
        (delta method).

        Their mean is 0; the metric's sampling variance is their variance over the number of
        cases. For a plain mean they are the deviations from it.
        """
        occurs = self.bottoms.sum(axis=0) > 0
        if not occurs.any():
            return np.zeros(len(self.tops))
        tops, bottoms = self.tops[:, occurs], self.bottoms[:, occurs]
        ratios = tops.sum(axis=0) / bottoms.sum(axis=0)
        return np.asarray(
            ((tops - ratios * bottoms) / bottoms.mean(axis=0)).mean(axis=1), dtype=np.float64
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """Two metrics and what lies between them.

    Attributes:
        first, second: the metric of either side.
        difference, low, high: the first less the second, with its 95 % interval by cluster.
        p: of the two-sided test by cluster.
        cases, clusters: how many the difference rests on.
        equivalence: p of two one-sided tests that the difference is beyond a margin; NaN where none
            is asked for.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    cases: int
    clusters: int
    equivalence: float = float("nan")


def compare_paired(
    first: Sums,
    second: Sums,
    clusters: Clusters,
    seed: int,
    bounds: Bounds,
    margin: float | None = None,
) -> Difference:
    """Both sides on the same cases, row by row.

    p is that of a randomisation test: between equal sides, each cluster's debates could be
    either's. For plain means it is `moot.stats.randomisation.sign_flip`. Where cases belong to
    clusters of several kinds there is no such test, and p is that of the interval. The interval
    agrees with p (`moot.stats.randomisation.in_agreement`). `bounds` are the least and the greatest
    difference. With a margin the test of equivalence is that of the interval.
    """
    bootstrap = ClusterBootstrap(clusters, seed)
    statistic = Statistic(lambda weights: first.value(weights) - second.value(weights), bounds)
    difference, low, high = bootstrap.estimate(statistic)
    sides = first.total(), second.total()
    if not bootstrap.rows:
        return Difference(*sides, difference, low, high, float("nan"), 0, 0)
    if np.isnan(difference):
        p = 1.0
    elif bootstrap.kinds > 1:
        draws = bootstrap.draws(statistic)
        p = p_of_interval(
            lambda level: estimate_interval(difference, draws, bootstrap.clusters, bounds, level)
        )
    else:

        def p_at(supposed: float) -> float:
            return _exchange_p(first, second.shifted(supposed), bootstrap, seed)

        p = p_at(0.0)
        low, high = agree_with_test(difference, (low, high), p, p_at, bounds)
    result = Difference(*sides, difference, low, high, p, bootstrap.rows, bootstrap.clusters)
    if margin is None:
        return result
    draws = bootstrap.draws(statistic)
    p_equivalence = p_of_interval(
        lambda level: estimate_interval(difference, draws, bootstrap.clusters, bounds, level),
        margin,
    )
    return replace(result, equivalence=p_equivalence)


def _exchange_p(first: Sums, second: Sums, bootstrap: ClusterBootstrap, seed: int) -> float:
    """p of exchanges of sides, cluster by cluster."""
    if first.tops.shape[1] == 1 and (first.bottoms == 1).all() and (second.bottoms == 1).all():
        return sign_flip_p(sums_by(first.tops - second.tops, bootstrap.codes)[:, 0], seed)
    tops = [sums_by(side.tops, bootstrap.codes) for side in (first, second)]
    bottoms = [sums_by(side.bottoms, bootstrap.codes) for side in (first, second)]
    moved = np.abs(np.hstack([tops[0] - tops[1], bottoms[0] - bottoms[1]])).max(axis=1) > _ROUNDING
    sides = [
        Sums(np.vstack([tops[i], tops[1 - i]]), np.vstack([bottoms[i], bottoms[1 - i]]))
        for i in (0, 1)
    ]

    def distance(patterns: Numbers) -> Floats:
        swapped = np.zeros((len(patterns), len(moved)))
        swapped[:, moved] = patterns
        weights = np.hstack([1 - swapped, swapped])
        return np.abs(sides[0].value(weights) - sides[1].value(weights))

    return exchange_p(distance, int(moved.sum()), seed)


def sums_by(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """The sums of columns over the rows of each code, shape (codes, columns)."""
    summed = np.zeros((int(codes.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(summed, codes, values)
    return summed


def compare_unpaired(
    first: Sums,
    second: Sums,
    first_clusters: Clusters,
    second_clusters: Clusters,
    seed: int,
    bounds: Bounds,
    margin: float | None = None,
) -> Difference:
    """Sides that argued different cases: the interval of `moot.stats.independent`.

    Where the sides could have been dealt their clusters by chance, p is of a test that deals them
    anew: for independent cases that are right or wrong this is Fisher's exact test. For that no
    cluster may have cases of both sides, and the clusters of both must be of like size. Elsewhere,
    as for amounts, p is that of the interval. The interval agrees with p
    (`moot.stats.randomisation.in_agreement`). p is 1 where nothing can be said. `bounds` are the
    least and the greatest value of either side's metric. With a margin the test of equivalence is
    that of the interval.
    """
    kinds = kinds_of_clusters([*first_clusters, *second_clusters])
    sides = Independent((first.to_part(bounds), second.to_part(bounds)), kinds)
    interval = low, high = sides.interval()
    rows, count = (
        len(first.tops) + len(second.tops),
        min(int(codes.max(initial=-1)) + 1 for codes, _ in kinds),
    )
    if np.isnan(interval).any():
        p = 1.0 if len(first.tops) and len(second.tops) else float("nan")
    elif (
        np.isfinite(bounds).all()
        and (sides.is_plain or sides.are_alike)
        and count <= MAX_DEALT_CLUSTERS
    ):
        of_difference = (bounds[0] - bounds[1], bounds[1] - bounds[0])

        def p_at(supposed: float) -> float:
            return _dealing_p(first, second, kinds[0][0], seed, supposed)

        p = p_at(0.0)
        low, high = agree_with_test(sides.value, interval, p, p_at, of_difference)
    else:
        p = p_of_interval(sides.interval)
    p_equivalence = float("nan") if margin is None else p_of_interval(sides.interval, margin)
    return Difference(
        first.total(), second.total(), sides.value, low, high, p, rows, count, p_equivalence
    )


def _dealing_p(
    first: Sums, second: Sums, codes: NDArray[np.intp], seed: int, supposed: float
) -> float:
    """p of ways to deal the clusters that count for something to both sides, which differ by
    `supposed`.
    """
    rows, terms = len(first.tops), first.tops.shape[1]
    sides = [
        sums_by(np.hstack([side.tops, side.bottoms]), mine)
        for side, mine in ((first, codes[:rows]), (second, codes[rows:]))
    ]
    counting_clusters = [side[side[:, terms:].any(axis=1)] for side in sides]
    is_second = np.repeat(
        [0.0, 1.0 if supposed else 0.0], [len(side) for side in counting_clusters]
    )

    def distance(kinds: Floats, ours: Floats, theirs: Floats) -> Floats:
        tops, bottoms, shifted = kinds[:, :terms], kinds[:, terms:-1], kinds[:, -1:]
        sums = Sums(tops + supposed * shifted * bottoms, bottoms)
        return np.abs(sums.value(ours) - sums.value(theirs))

    return dealing_p(
        np.hstack([np.vstack(counting_clusters), is_second[:, None]]),
        len(counting_clusters[0]),
        distance,
        seed,
    )
