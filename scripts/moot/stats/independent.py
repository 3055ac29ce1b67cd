"""The difference between two sides that argued different cases.

Shares of independent cases (each right or wrong once) have the interval of Newcombe (1998,
Statistics in Medicine 17, method 10), which joins the score intervals of Wilson (1927). If fewer
than `FEW_CARRIERS` cases of a side are right, or wrong, it also includes the interval of Agresti
and Caffo (2000). With fewer than `MIN_CASES` on both sides there is no interval.

Otherwise each side has an interval by its clusters. The metric is linearised, and each cluster's
part is divided by one minus the cluster's share of the side (the jackknife, CR3 of Bell and
McCaffrey 2002). A quarter of an average cluster that is all right, and a quarter of one that is all
wrong, are added to centre and variance, so that a side without spread does not count as free of
error. t has the degrees of freedom of Satterthwaite (1946), from the effective number of clusters.
Both intervals are joined as in Newcombe's method (MOVER; Zou and Donner 2008, Statistics in
Medicine 27). The interval of amounts includes the log-normal one (`moot.stats.amounts`).

If clusters have cases of both sides, or if there are several kinds of clusters, the interval uses
Student's t around the difference itself. The clusters' parts of both sides are added, with the
variance of `moot.stats.bootstrap`. The interval grows if few clusters carry the difference.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from moot.stats.amounts import LognormalFit, fit_lognormal
from moot.stats.arrays import Floats, as_numbers
from moot.stats.bootstrap_interval import FEW_CARRIERS, interval_around, unanimous_interval
from moot.stats.clusters import MIN_CLUSTERS, effective_number
from moot.stats.replication import difference_interval
from moot.stats.score_intervals import LEVEL, Interval, agresti_caffo_interval, wilson_interval
from moot.stats.statistic import SHARE, Bounds

PSEUDO_CLUSTERS = 0.25
FEW_CARRIERS_WEIGHT = 2
MIN_CLUSTERS_OF_AMOUNT = 8
MIN_CASES = 5
_NEGLIGIBLE = 1e-12
_STEPS = 40
_MIN_LOG_P = -34.0  # the logarithm of the smallest p that is distinguished from 0


@dataclass(frozen=True)
class Part:
    """One side of a comparison.

    The metric is described by what each case contributes.

    Attributes:
        value: of its metric.
        bounds: the smallest and the largest possible value of the metric.
        influences: what each case adds to the value beyond its mean, shape (cases,).
        weights: each case's share of the side, shape (cases,).
        is_count: whether each case is right, wrong, or does not count.
    """

    value: float
    bounds: Bounds
    influences: Floats
    weights: Floats
    is_count: bool


@dataclass(frozen=True, slots=True)
class _Errors:
    """Errors by the clusters of one kind.

    These are the variances, skewness and effective numbers of clusters of both sides, and the
    degrees of freedom.
    """

    variances: tuple[float, float]
    of_difference: float
    skewness: tuple[float, float]
    clusters: tuple[float, float]
    freedom: float


class Independent:
    """Two sides of different cases.

    Args:
        parts: both sides.
        kinds: as `moot.stats.clusters.kinds_of_clusters`, over the first side's cases, then the
            second's.
    """

    def __init__(self, parts: tuple[Part, Part], kinds: list[tuple[NDArray[np.intp], int]]) -> None:
        self.parts, self._kinds = parts, kinds
        self._side = np.repeat([0, 1], [len(part.influences) for part in parts])

    @property
    def value(self) -> float:
        """The first side's value minus the second's."""
        return self.parts[0].value - self.parts[1].value

    @cached_property
    def _has_weight(self) -> NDArray[np.bool_]:
        """Which cases count."""
        return np.concatenate([part.weights for part in self.parts]) > 0

    @cached_property
    def by_cluster(self) -> NDArray[np.intp]:
        """The numbers of cases that count, by cluster and side, shape (clusters, 2).

        With several kinds of clusters, the first kind counts.
        """
        codes = self._kinds[0][0]
        counts = np.zeros((int(codes.max(initial=-1)) + 1, 2), dtype=np.intp)
        np.add.at(counts, (codes[self._has_weight], self._side[self._has_weight]), 1)
        return counts

    @cached_property
    def has_separate_clusters(self) -> bool:
        """Whether no cluster has cases of both sides."""
        return len(self._kinds) == 1 and bool((self.by_cluster > 0).sum(axis=1).max(initial=0) <= 1)

    @cached_property
    def is_plain(self) -> bool:
        """Whether both sides are shares of independent cases."""
        is_one_case_a_cluster = self.has_separate_clusters and self.by_cluster.max(initial=0) <= 1
        return is_one_case_a_cluster and all(
            part.is_count and part.bounds == SHARE for part in self.parts
        )

    @cached_property
    def _errors(self) -> _Errors | None:
        """The variances of Cameron, Gelbach and Miller; None if a side has fewer than two
        clusters.
        """
        errors_by_kind = [(self._errors_by(codes), number) for codes, number in self._kinds]
        single = [errors for errors, number in errors_by_kind if number == 1]
        if any(min(errors.clusters) < MIN_CLUSTERS for errors in single):
            return None
        widest = max(single, key=lambda errors: errors.of_difference)
        combined_variance = sum(
            errors.of_difference if number % 2 else -errors.of_difference
            for errors, number in errors_by_kind
        )
        freedom = min(errors.freedom for errors in single)
        return replace(
            widest, of_difference=max(combined_variance, widest.of_difference), freedom=freedom
        )

    def _errors_by(self, codes: NDArray[np.intp]) -> _Errors:
        sums, weights = (np.zeros((int(codes.max()) + 1, 2)) for _ in range(2))
        np.add.at(
            sums, (codes, self._side), np.concatenate([part.influences for part in self.parts])
        )
        np.add.at(
            weights, (codes, self._side), np.concatenate([part.weights for part in self.parts])
        )
        counts = np.array([effective_number(weights[:, side]) for side in (0, 1)])
        if self.has_separate_clusters:
            sums = (
                sums
                / np.maximum(1 - weights, _NEGLIGIBLE)
                * np.sqrt((counts - 1) / np.maximum(counts, 1))
            )
        first_variance, second_variance = (
            _variance(part, sums[:, side], float(counts[side]), self.has_separate_clusters)
            for side, part in enumerate(self.parts)
        )
        if self.has_separate_clusters:
            of_difference = first_variance + second_variance
            squared_terms = first_variance**2 / max(1, counts[0] - 1) + second_variance**2 / max(
                1, counts[1] - 1
            )
            freedom = of_difference**2 / squared_terms if squared_terms else float(counts.sum())
        else:
            clusters = int((weights.sum(axis=1) > 0).sum())
            cluster_variance = _shared_variance(sums[:, 0] - sums[:, 1], clusters)
            pseudo_variances = [
                size
                for size, side in ((first_variance, 0), (second_variance, 1))
                if not (sums[:, side] ** 2).sum() > _NEGLIGIBLE
            ]
            of_difference, freedom = cluster_variance + sum(pseudo_variances), float(clusters - 1)
        skewness = _skewness(sums[:, 0]), _skewness(sums[:, 1])
        return _Errors(
            (first_variance, second_variance),
            of_difference,
            skewness,
            (float(counts[0]), float(counts[1])),
            freedom,
        )

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval of the difference.

        It is NaN if a side has fewer than two clusters of several cases.
        """
        from scipy.special import stdtrit  # registries are read at every start of Snakemake

        nothing = float("nan"), float("nan")
        if np.isnan(self.value):
            return nothing
        if self.is_plain:
            return self._of_single_cases(level)
        if (
            (errors := self._errors) is None
            or not errors.of_difference > _NEGLIGIBLE
            or self._is_small_amount(errors)
        ):
            return nothing
        quantile = float(stdtrit(errors.freedom, (1 + level) / 2))
        if not self.has_separate_clusters:
            low, high = self.parts[0].bounds
            return interval_around(
                self.value, errors.of_difference**0.5, quantile, (low - high, high - low)
            )
        first, second = (self._of_side(side, errors, quantile, level) for side in (0, 1))
        return difference_interval(first, second)

    def _of_single_cases(self, level: float) -> tuple[float, float]:
        """Join the score intervals of two shares of independent cases.

        Newcombe's interval covers too seldom if few cases deviate, as with .02 against .98.
        """
        first_cases, second_cases = (int((part.weights > 0).sum()) for part in self.parts)
        if max(first_cases, second_cases) < MIN_CASES:
            return float("nan"), float("nan")
        first = wilson_interval(self.parts[0].value, first_cases, level)
        second = wilson_interval(self.parts[1].value, second_cases, level)
        low, high = difference_interval(first, second)
        first_right, second_right = first.value * first_cases, second.value * second_cases
        deviating = min(
            first_right, first_cases - first_right, second_right, second_cases - second_right
        )
        if deviating >= FEW_CARRIERS - _NEGLIGIBLE:
            return low, high
        few_low, few_high = agresti_caffo_interval(
            first_right, first_cases, second_right, second_cases, level
        )
        return min(low, few_low), max(high, few_high)

    def _is_small_amount(self, errors: _Errors) -> bool:
        """Return whether an amount has too few clusters on a side.

        Amounts are skewed, so intervals from fewer than `MIN_CLUSTERS_OF_AMOUNT` clusters cover too
        seldom.
        """
        return _is_amount(self.parts[0].bounds) and min(errors.clusters) < MIN_CLUSTERS_OF_AMOUNT

    def _of_side(self, side: int, errors: _Errors, quantile: float, level: float) -> Interval:
        value, bounds = self.parts[side].value, self.parts[side].bounds
        if value in bounds and np.isfinite(bounds).all():
            return Interval(value, *unanimous_interval(value, errors.clusters[side], bounds, level))
        low, high = interval_around(
            _centre(value, errors.clusters[side], bounds),
            errors.variances[side] ** 0.5,
            quantile,
            bounds,
            errors.skewness[side],
        )
        fit = self._lognormal_fits[side] if _is_amount(bounds) else None
        if fit:
            ends = fit.interval(level)
            low, high = min(low, bounds[0] + ends[0]), max(high, bounds[0] + ends[1])
        return Interval(value, min(low, value), max(high, value))

    @cached_property
    def _lognormal_fits(self) -> tuple[LognormalFit | None, LognormalFit | None]:
        """The log-normal distribution of each side's amounts, fitted once for all levels."""
        return self._fit_lognormal(0), self._fit_lognormal(1)

    def _fit_lognormal(self, side: int) -> LognormalFit | None:
        """Fit a side's amounts above the lower bound, one for each cluster."""
        if self._errors is None:
            return None
        part, codes = self.parts[side], self._kinds[0][0][self._side == side]
        weights = as_numbers(np.bincount(codes, part.weights))
        deviations = as_numbers(np.bincount(codes, part.influences))[weights > 0]
        weights = weights[weights > 0]
        amounts = part.value + deviations / weights - part.bounds[0]
        return fit_lognormal(amounts, weights, self._errors.clusters[side])


def p_of_interval(
    interval: Callable[[float], tuple[float, float]], margin: float | None = None
) -> float:
    """Return the p-value of an interval: 1 minus the level at which it reaches 0.

    The level is found by bisection on the logarithm. p is 1 without an interval.

    With a margin, it is the p of two one-sided tests that the value lies beyond the margin, above
    or below (Schuirmann 1987): half of 1 minus the level at which the interval reaches either
    margin.
    """
    if np.isnan(interval(LEVEL)).any():
        return 1.0
    low_log_p, high_log_p = _MIN_LOG_P, 0.0
    for _ in range(_STEPS):
        middle = (low_log_p + high_log_p) / 2
        low, high = interval(1 - float(np.exp(middle)))
        reaches = low <= 0 <= high if margin is None else low <= -margin or high >= margin
        low_log_p, high_log_p = (middle, high_log_p) if reaches else (low_log_p, middle)
    if high_log_p == 0.0:
        return 1.0
    return float(np.exp(low_log_p)) / (1 if margin is None else 2)


def _is_amount(bounds: Bounds) -> bool:
    """Return whether values have a lower bound and no upper bound."""
    return bool(np.isfinite(bounds[0])) and not np.isfinite(bounds[1])


def _centre(value: float, clusters: float, bounds: Bounds) -> float:
    """Return a side's centre: its value with the added clusters at its bounds.

    An interval around the value itself, on the scale of log odds, would reach from one bound to the
    other.
    """
    if not np.isfinite(bounds).all():
        return value
    return (value * clusters + PSEUDO_CLUSTERS * sum(bounds)) / (clusters + 2 * PSEUDO_CLUSTERS)


def _variance(part: Part, sums: Floats, clusters: float, widened: bool) -> float:
    """Return a side's variance by its clusters.

    Clusters at its bounds are added if `widened`, or if the side has no spread.
    """
    squares, (low, high) = float((sums**2).sum()), part.bounds
    if (
        not clusters
        or not np.isfinite(part.bounds).all()
        or not (widened or squares <= _NEGLIGIBLE)
    ):
        return squares
    at_bounds = ((high - part.value) ** 2 + (part.value - low) ** 2) / clusters**2
    return (squares + PSEUDO_CLUSTERS * at_bounds) / (1 + 2 * PSEUDO_CLUSTERS / clusters) ** 2


def _shared_variance(parts: Floats, clusters: int) -> float:
    """Return the variance of a difference if clusters have cases of both sides.

    If few clusters carry the difference, it grows as if one further cluster had deviated in each
    direction (Bonett and Price 2012, JEBS 37).
    """
    squares = float((parts**2).sum())
    if squares <= _NEGLIGIBLE:
        return squares
    excess_kurtosis = max(0.0, float((parts**4).sum()) / squares**2 - 3 / clusters)
    return squares * clusters / max(1, clusters - 1) * (1 + FEW_CARRIERS_WEIGHT * excess_kurtosis)


def _skewness(parts: Floats) -> float:
    squares = float((parts**2).sum())
    return float((parts**3).sum()) / squares**1.5 if squares > _NEGLIGIBLE**2 else 0.0
