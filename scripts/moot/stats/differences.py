"""Differences between two ratios of sums over cases: value, interval and test by cluster.

Each case contributes a numerator and a denominator to every term of a metric. The metric of a
sample is the mean over terms of the summed numerators over the summed denominators. Accuracy, F1
and rates of events are such metrics.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moot.stats.arrays import Floats, Truths, as_numbers, ratio
from moot.stats.clusters import MIN_CLUSTERS, Clusters, effective_number, satterthwaite
from moot.stats.intervals import (
    NOTHING,
    Method,
    Mover,
    SharedValue,
    Student,
    Tango,
    p_equivalence,
    p_value,
)
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import DIFFERENCE, SHARE, Bounds, Statistic

MIN_HITS = 5
"""With fewer cases on which either side names a label correctly, a difference of F1 has no
interval: the F1 of a rare label is far from its long-run value.
"""
NO_SPREAD = "no interval: the values do not differ, so that nothing shows how far they may be off"
PAIRED_NOTE = (
    "Interval and two-sided p are by cluster: Tango's (1998) if both sides are right or wrong on"
    " each cluster as a whole, where p is McNemar's; else Student's t by the jackknife."
)
UNPAIRED_NOTE = (
    "The interval of a difference between different cases is that of Agresti and Caffo (2000) if"
    " each is right or wrong, else MOVER's (Zou and Donner 2008) of both sides' intervals; amounts"
    " have Welch's, whose p is too small if they are skewed and one side has few cases, the other"
    " many. p belongs to the same interval; a difference that cannot be computed has p = 1."
)


@dataclass(frozen=True, slots=True)
class Sums:
    """Numerators and denominators of each case (or debate).

    Attributes:
        tops, bottoms: numerators and denominators, both of shape (cases, terms).
        needs_hits: whether a paired difference has no interval if, for a term, fewer than
            `MIN_HITS` clusters have a case that adds to the numerator on either side.
        odds: as in `moot.stats.statistic.Statistic`.
    """

    tops: Floats
    bottoms: Floats
    needs_hits: bool = False
    odds: float = 1.0

    @property
    def are_counts(self) -> bool:
        """Whether the metric counts cases that are right or wrong."""
        are_whole = np.isin(self.tops, (0, 1)).all() and np.isin(self.bottoms, (0, 1)).all()
        return self.tops.shape[1] == 1 and bool(are_whole)

    @property
    def are_means(self) -> bool:
        """Whether the metric is a plain mean, so that each case has the same weight."""
        return self.tops.shape[1] == 1 and bool((self.bottoms == 1).all())

    @property
    def counted(self) -> Truths:
        """Which cases the metric depends on, shape (cases,)."""
        return np.asarray((self.bottoms > 0).any(axis=1), dtype=bool)

    def statistic(self, bounds: Bounds) -> Statistic:
        """Return the metric as a statistic."""
        return Statistic(self.value, bounds, self.counted, odds=self.odds)

    def value(self, weights: Floats) -> Floats:
        """Return the metric of weighted cases; weights have shape (samples, cases).

        A term whose denominators are all 0 does not count, such as the F1 of a label that does not
        occur there.
        """
        bottoms = weights @ self.bottoms
        return ratio(
            ratio(weights @ self.tops, bottoms, 0.0).sum(axis=1), (bottoms > 0).sum(axis=1)
        )

    def total(self) -> float:
        """Return the metric of the observed cases; NaN without cases."""
        return float(self.value(np.ones((1, len(self.tops))))[0])

    def influences(self) -> Floats:
        """Return what each case adds to the metric beyond its mean, shape (cases,).

        The metric is linearised (delta method). For a plain mean these are the deviations from it.
        """
        occurs = self.bottoms.sum(axis=0) > 0
        if not occurs.any():
            return np.zeros(len(self.tops))
        tops, bottoms = self.tops[:, occurs], self.bottoms[:, occurs]
        ratios = tops.sum(axis=0) / bottoms.sum(axis=0)
        return as_numbers(((tops - ratios * bottoms) / bottoms.mean(axis=0)).mean(axis=1))


@dataclass(frozen=True, slots=True)
class Difference:
    """Two metrics and their difference.

    Attributes:
        first, second: the metric of either side.
        difference, low, high: the first minus the second, with its 95 % interval by cluster.
        p: of the two-sided test by cluster, which rejects 0 exactly if the interval excludes it.
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
    first: Sums, second: Sums, clusters: Clusters, bounds: Bounds, margin: float | None = None
) -> Difference:
    """Compare both sides on the same cases, row by row.

    Clusters that are right or wrong as a whole on both sides are pairs, with Tango's interval and
    test; unequal clusters count by their effective number. All others have Student's, by the
    jackknife. F1 has neither if too few cases are hits (`Sums.needs_hits`). `bounds` are the
    smallest and the largest possible difference. With a margin, equivalence is tested as well.
    """
    jackknife = ClusterJackknife(clusters)
    sides, nothing = (first.total(), second.total()), float("nan")
    value = sides[0] - sides[1]
    if not jackknife.rows:
        return Difference(*sides, value, nothing, nothing, nothing, 0, 0)
    counts = jackknife.rows, jackknife.clusters
    if reason := _too_few_hits(first, second, jackknife.codes):
        p = nothing if margin is None else 1.0
        return Difference(*sides, value, *NOTHING, 1.0, *counts, p, reason)
    method = _pairs(first, second, jackknife) or _by_jackknife(
        Statistic(
            lambda weights: first.value(weights) - second.value(weights),
            bounds,
            first.counted | second.counted,
        ),
        jackknife,
    )
    return difference_of(sides, method, counts, margin)


def compare_with_threshold(
    side: Sums,
    threshold: float,
    clusters: Clusters,
    bounds: Bounds,
    margin: float | None = None,
) -> Difference:
    """Compare a metric with a number that has no error, by the interval of the metric itself."""
    jackknife = ClusterJackknife(clusters)
    value, method = jackknife.value_and_method(side.statistic(bounds), threshold)
    return difference_of((value, threshold), method, (jackknife.rows, jackknife.clusters), margin)


def compare_unpaired(
    first: Sums,
    second: Sums,
    first_clusters: Clusters,
    second_clusters: Clusters,
    bounds: Bounds,
    margin: float | None = None,
) -> Difference:
    """Compare two sides that argued different cases.

    Counts of independent cases have the interval of Agresti and Caffo (2000, "Simple and effective
    confidence intervals for proportions", The American Statistician 54): one case that is right and
    one that is wrong are added to each side, since MOVER covers too little where shares lie far
    apart.
    Other values within bounds have MOVER's, and amounts have Welch's (1947).

    If clusters have cases of both sides, or if there are several kinds of clusters, the difference
    itself has a jackknife over all clusters. `bounds` are the smallest and the largest possible
    value of either side's metric. With a margin, equivalence is tested as well.
    """
    first_clusters, second_clusters = list(first_clusters), list(second_clusters)
    both = ClusterJackknife([*first_clusters, *second_clusters])
    low, high = bounds
    if both.kinds > 1 or set(first_clusters) & set(second_clusters):
        size = len(first.tops)
        method: Method = _by_jackknife(
            Statistic(
                lambda weights: first.value(weights[:, :size]) - second.value(weights[:, size:]),
                (low - high, high - low),
                np.concatenate([first.counted, second.counted]),
            ),
            both,
        )
    elif bounds == SHARE and (counted := _agresti_caffo(first, second, both)):
        method = counted
    else:
        sides = ((first, first_clusters), (second, second_clusters))
        method = _mover(sides, bounds) if np.isfinite(bounds).all() else _welch(sides)
    counts = both.rows, both.clusters
    return difference_of((first.total(), second.total()), method, counts, margin)


def difference_of(
    sides: tuple[float, float],
    method: Method,
    counts: tuple[int, int],
    margin: float | None = None,
) -> Difference:
    """Return the difference of two values with the interval and the tests of a method.

    `counts` are the numbers of cases and of clusters.
    """
    equivalence = float("nan") if margin is None else p_equivalence(method, margin)
    interval, p = method.interval(), p_value(method)
    reason = NO_SPREAD if isinstance(method, Student) and method.error == 0 else ""
    return Difference(*sides, sides[0] - sides[1], *interval, p, *counts, equivalence, reason)


def _pairs(first: Sums, second: Sums, jackknife: ClusterJackknife) -> Tango | None:
    """Return Tango's test; None if a cluster is neither right nor wrong as a whole."""
    if not (first.are_means and second.are_means) or jackknife.kinds > 1:
        return None
    sizes = np.bincount(jackknife.codes)
    first_means, second_means = (
        sums_by(side.tops, jackknife.codes)[:, 0] / sizes for side in (first, second)
    )
    if not np.isin([first_means, second_means], (0, 1)).all():
        return None
    pairs, shares = effective_number(sizes), sizes / sizes.sum()
    first_alone = float(shares[first_means > second_means].sum()) * pairs
    second_alone = float(shares[first_means < second_means].sum()) * pairs
    return Tango(first_alone, second_alone, pairs) if len(sizes) > 1 else None


def _by_jackknife(statistic: Statistic, jackknife: ClusterJackknife) -> Method:
    value, spread = jackknife.value_and_spread(statistic)
    if spread.error == 0 and np.isfinite(statistic.bounds).all():
        clusters = jackknife.clusters_among(statistic.rows)
        return SharedValue(value, clusters, statistic.bounds)
    return Student(value, *spread, statistic.bounds)


def _agresti_caffo(first: Sums, second: Sums, jackknife: ClusterJackknife) -> Student | None:
    """Return the test of Agresti and Caffo; None if a side has no counts of independent cases."""
    cases = [float(side.bottoms.sum()) for side in (first, second)]
    if not (first.are_counts and second.are_counts and jackknife.has_single_rows):
        return None
    if min(cases) < MIN_CLUSTERS:
        return None
    shares = [
        (float(side.tops.sum()) + 1) / (number + 2)
        for side, number in zip((first, second), cases, strict=True)
    ]
    variances = [
        share * (1 - share) / (number + 2) for share, number in zip(shares, cases, strict=True)
    ]
    return Student(shares[0] - shares[1], sum(variances) ** 0.5, float("inf"), DIFFERENCE)


def _mover(sides: Iterable[tuple[Sums, Clusters]], bounds: Bounds) -> Mover:
    """Return MOVER's test of two sides, from the method of each."""
    (first, first_method), (second, second_method) = (
        ClusterJackknife(clusters).value_and_method(side.statistic(bounds))
        for side, clusters in sides
    )
    return Mover((first, second), (first_method, second_method))


def _welch(sides: Iterable[tuple[Sums, Clusters]]) -> Student:
    """Return Welch's test of two sides, with the degrees of freedom of Satterthwaite."""
    (first, first_spread), (second, second_spread) = (
        ClusterJackknife(clusters).value_and_spread(Statistic(side.value, rows=side.counted))
        for side, clusters in sides
    )
    variances = first_spread.error**2, second_spread.error**2
    freedoms = first_spread.freedom, second_spread.freedom
    if not all(freedoms):
        return Student(float("nan"), float("nan"), 0.0)
    return Student(first - second, sum(variances) ** 0.5, satterthwaite(variances, freedoms))


def _too_few_hits(first: Sums, second: Sums, codes: NDArray[np.intp]) -> str:
    """Return why a difference of F1 has no interval, or "" if it has one."""
    is_hit = (first.tops > 0) | (second.tops > 0)
    occurs = (first.bottoms > 0).any(axis=0) | (second.bottoms > 0).any(axis=0)
    if not first.needs_hits or not occurs.any():
        return ""
    hits = min(len(np.unique(codes[is_hit[:, term]])) for term in np.flatnonzero(occurs))
    if hits >= MIN_HITS:
        return ""
    return (
        "no interval: too few cases on which either side names the label correctly; found "
        f"{hits}, expected at least {MIN_HITS} of each label. Debate more cases of the rare "
        "label, or compare accuracy"
    )


def sums_by(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the sums of columns over the rows of each code, shape (codes, columns)."""
    summed = np.zeros((int(codes.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(summed, codes, values)
    return summed
