"""Differences between two ratios of sums over cases: value, interval and test by cluster.

Each case contributes a numerator and a denominator to every term of a metric. The metric of a
sample is the mean over terms of the summed numerators over the summed denominators. Accuracy, F1
and rates of events are such metrics.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.bootstrap_interval import FEW_CARRIERS, difference_factor, estimate_interval
from moot.stats.clusters import MIN_CLUSTERS, Clusters, effective_number, kinds_of_clusters
from moot.stats.independent import MIN_CASES, Independent, Part, p_of_interval
from moot.stats.randomisation import LEVEL as TEST_LEVEL
from moot.stats.randomisation import fisher_p, sign_flip_p
from moot.stats.score_intervals import LEVEL, tango_interval
from moot.stats.statistic import DIFFERENCE, Bounds

MIN_HITS, MIN_HITS_OF_MACRO = 10, 2
"""Minimum numbers of hits for an interval of a difference of a label's F1 and of macro F1.

A hit is a case on which either side names the label correctly.
"""
_NO_VARIANCE = 1e-18
IntervalAtLevel = Callable[[float], tuple[float, float]]
"""The ends of an interval at a level."""
UNPAIRED_NOTE = (
    "The interval is Newcombe's, joined with Agresti and Caffo's if fewer than"
    f" {FEW_CARRIERS} cases of a side are right, or wrong; by cluster it joins both sides' own"
    " variances. p comes from Fisher's exact test if independent cases are right or wrong, and"
    " otherwise from the interval. With fewer than"
    f" {MIN_CASES} independent cases on both sides there is no interval. A difference that cannot"
    " be computed has p = 1."
)


@dataclass(frozen=True, slots=True)
class Sums:
    """Numerators and denominators of each case (or debate).

    Attributes:
        tops, bottoms: numerators and denominators, both of shape (cases, terms).
        min_hits: a difference of the metric has no interval if, for a term, fewer clusters than
            this have a case that adds to the numerator on either side; 0 for no such rule.
    """

    tops: Floats
    bottoms: Floats
    min_hits: int = 0

    def value(self, weights: Floats) -> Floats:
        """Return the metric of resamples; weights have shape (resamples, cases).

        A term whose denominators are all 0 in a resample does not count, such as the F1 of a label
        that does not occur there.
        """
        bottoms = weights @ self.bottoms
        return ratio(
            ratio(weights @ self.tops, bottoms, 0.0).sum(axis=1), (bottoms > 0).sum(axis=1)
        )

    def total(self) -> float:
        """Return the metric of the observed cases; NaN without cases."""
        return float(self.value(np.ones((1, len(self.tops))))[0])

    def to_part(self, bounds: Bounds) -> Part:
        """Return the data that a comparison with different cases needs."""
        bottoms = self.bottoms[:, self.bottoms.sum(axis=0) > 0]
        weights = bottoms @ (1 / bottoms.sum(axis=0)) / max(1, bottoms.shape[1])
        is_count = self.tops.shape[1] == 1 and bool(
            np.isin(np.hstack([self.tops, self.bottoms]), (0, 1)).all()
        )
        return Part(
            self.total(), bounds, self.influences() / max(1, len(self.tops)), weights, is_count
        )

    def influences(self) -> Floats:
        """Return what each case adds to the metric beyond its mean, shape (cases,).

        The metric is linearised (delta method).

        The mean of these influences is 0. The metric's sampling variance is their variance over the
        number of cases. For a plain mean they are the deviations from it.
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
    """Two metrics and their difference.

    Attributes:
        first, second: the metric of either side.
        difference, low, high: the first minus the second, with its 95 % interval by cluster.
        p: of the two-sided test by cluster.
        cases, clusters: the numbers behind the difference.
        equivalence: p of two one-sided tests that the difference is beyond a margin; NaN without a
            margin.
        reason: why a rule forbids an interval; "" if none does.
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
    reason: str = ""


def compare_paired(
    first: Sums,
    second: Sums,
    clusters: Clusters,
    seed: int,
    bounds: Bounds,
    margin: float | None = None,
) -> Difference:
    """Compare both sides on the same cases, row by row.

    Independent pairs that are right or wrong have Tango's score interval; all others have the
    interval of `moot.stats.bootstrap`. The interval of F1 and of other ratios is as wide
    as if one further cluster had deviated in each direction. F1 has no interval if too few cases
    are hits (`Sums.min_hits`).

    For plain means, p comes from a randomisation test that exchanges both sides cluster by cluster
    (`moot.stats.randomisation.sign_flip_p`). For other metrics it follows from the interval. p and
    interval agree about 0 (`_reconcile`). `bounds` are the smallest and the largest possible
    difference. With a margin, the test of equivalence follows from the interval.
    """
    bootstrap = ClusterBootstrap(clusters, seed)
    sides = first.total(), second.total()
    difference, nothing = sides[0] - sides[1], float("nan")
    if not bootstrap.rows:
        return Difference(*sides, difference, nothing, nothing, nothing, 0, 0)
    are_means = _are_means(first, second)
    reason = too_few_hits(first, second, bootstrap.codes)
    interval = _no_interval if reason else paired_interval(first, second, bootstrap, bounds)
    test_p = None
    if are_means and bootstrap.kinds == 1:
        test_p = sign_flip_p(sums_by(first.tops - second.tops, bootstrap.codes)[:, 0], seed)
    low, high, p = _reconcile(interval, test_p)
    p_equivalence = nothing if margin is None else p_of_interval(interval, margin)
    return Difference(
        *sides, difference, low, high, p, bootstrap.rows, bootstrap.clusters, p_equivalence, reason
    )


def paired_interval(
    first: Sums, second: Sums, bootstrap: ClusterBootstrap, bounds: Bounds
) -> IntervalAtLevel:
    """Return the interval of `compare_paired` at any level, before it is reconciled with a test."""
    are_means = _are_means(first, second)
    are_pairs = are_means and bounds == DIFFERENCE and bootstrap.has_single_rows
    if are_pairs and _are_binary(first, second):
        return _tango_interval(first, second)
    value, clusters = first.total() - second.total(), bootstrap.clusters_among(None)
    draws = bootstrap.draws(lambda weights: first.value(weights) - second.value(weights))
    if not are_means:
        draws = with_unseen_clusters(draws, first, second, clusters, bounds)

    def interval(level: float) -> tuple[float, float]:
        return estimate_interval(
            value, draws, clusters, bounds, level, bootstrap.has_unequal_clusters
        )

    return interval


def _no_interval(_level: float) -> tuple[float, float]:
    return float("nan"), float("nan")


def too_few_hits(first: Sums, second: Sums, codes: NDArray[np.intp]) -> str:
    """Return why a difference of F1 has no interval, or "" if it has one.

    The F1 of a label with few hits is far from its long-run value.
    """
    min_hits = max(first.min_hits, second.min_hits)
    is_hit = (first.tops > 0) | (second.tops > 0)
    occurs = (first.bottoms > 0).any(axis=0) | (second.bottoms > 0).any(axis=0)
    if not min_hits or not occurs.any():
        return ""
    hits = min(
        effective_number(np.bincount(codes[is_hit[:, term]])) for term in np.flatnonzero(occurs)
    )
    if hits >= min_hits:
        return ""
    return (
        "no interval: too few cases on which either side names the label correctly; found "
        f"{hits:.0f}, expected at least {min_hits} of each label. Debate more cases of the rare "
        "label, or compare accuracy"
    )


def with_unseen_clusters(
    draws: Floats, first: Sums, second: Sums, clusters: float, bounds: Bounds
) -> Floats:
    """Widen the draws of a difference between ratios for clusters that were not seen.

    The spread grows as if one further cluster had deviated in each direction (Bonett and Price
    2012). Cases that decide about F1 may not occur in the sample, for example if one side always
    names a label and the other misses one true case in twenty. An unseen cluster adds as much as
    the case that counts most for one side and least for the other. The draws grow by what
    `moot.stats.bootstrap_interval.difference_factor` does not add to their spread.
    """
    defined = draws[~np.isnan(draws)]
    variance = float(np.var(defined)) if len(defined) else 0.0
    if variance <= _NO_VARIANCE or clusters < MIN_CLUSTERS:
        return draws
    first_influences, second_influences = first.influences(), second.influences()
    highest = first_influences.max() - second_influences.min()
    lowest = first_influences.min() - second_influences.max()
    widened = (variance * clusters**2 + highest**2 + lowest**2) / (clusters + 2) ** 2
    factor = (widened / variance) ** 0.5 / difference_factor(defined, bounds)
    centre = defined.mean()
    return as_numbers(centre + (draws - centre) * max(1.0, factor))


def _are_means(first: Sums, second: Sums) -> bool:
    """Return whether both metrics are plain means, so that each case has the same weight."""
    return first.tops.shape[1] == 1 and bool(
        (first.bottoms == 1).all() and (second.bottoms == 1).all()
    )


def _are_binary(first: Sums, second: Sums) -> bool:
    """Return whether each case is right or wrong on both sides."""
    return bool(np.isin(np.hstack([first.tops, second.tops]), (0, 1)).all())


def _tango_interval(first: Sums, second: Sums) -> IntervalAtLevel:
    """Return Tango's interval at any level."""
    differences = (first.tops - second.tops)[:, 0]
    first_alone, second_alone = int((differences > 0).sum()), int((differences < 0).sum())

    def interval(level: float) -> tuple[float, float]:
        return tango_interval(first_alone, second_alone, len(differences), level)

    return interval


def _reconcile(interval: IntervalAtLevel, test_p: float | None) -> tuple[float, float, float]:
    """Return an interval and a p-value that agree about 0.

    p comes from the test; without a test, or if the test rejects 0 and the interval includes 0, it
    follows from the interval. If only the interval excludes 0, it is extended
    to 0.

    Args:
        interval: its ends at a level.
        test_p: of a test of 0; None without one.
    """
    low, high = interval(LEVEL)
    if np.isnan([low, high]).any():
        return low, high, 1.0 if test_p is None or np.isnan(test_p) else test_p
    if test_p is None or (test_p < TEST_LEVEL and low <= 0 <= high):
        return low, high, p_of_interval(interval)
    if test_p >= TEST_LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    return low, high, test_p


def sums_by(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the sums of columns over the rows of each code, shape (codes, columns)."""
    summed = np.zeros((int(codes.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(summed, codes, values)
    return summed


def compare_unpaired(
    first: Sums,
    second: Sums,
    first_clusters: Clusters,
    second_clusters: Clusters,
    seed: int,  # noqa: ARG001 (the arguments of `compare_paired`)
    bounds: Bounds,
    margin: float | None = None,
) -> Difference:
    """Compare two sides that argued different cases, by the interval of `moot.stats.independent`.

    For independent cases that are right or wrong, p comes from Fisher's exact test; for all others
    it follows from the interval. p and interval agree about 0 (`_reconcile`). p is 1 if nothing can
    be computed. `bounds` are the smallest and the largest possible value of either side's metric.
    With a margin, the test of equivalence follows from the interval.
    """
    kinds = kinds_of_clusters([*first_clusters, *second_clusters])
    sides = Independent((first.to_part(bounds), second.to_part(bounds)), kinds)
    rows = len(first.tops) + len(second.tops)
    count = min(int(codes.max(initial=-1)) + 1 for codes, _ in kinds)
    test_p = fisher_p(*_counts(first), *_counts(second)) if sides.is_plain else None
    low, high, p = _reconcile(sides.interval, test_p)
    if not len(first.tops) or not len(second.tops):
        p = float("nan")
    p_equivalence = float("nan") if margin is None else p_of_interval(sides.interval, margin)
    return Difference(
        first.total(), second.total(), sides.value, low, high, p, rows, count, p_equivalence
    )


def _counts(side: Sums) -> tuple[int, int]:
    """Return the numbers of right and wrong cases among those that count."""
    right, total = int(side.tops.sum()), int(side.bottoms.sum())
    return right, total - right
