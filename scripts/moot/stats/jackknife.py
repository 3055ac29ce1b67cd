"""The jackknife over clusters: one cluster of dependent rows is left out at a time.

A cluster is a case with its repeats, or a property that several cases share: the motion of a claim,
the topic of a post. The variance is CV3 of MacKinnon, Nielsen and Webb (2023, "Cluster-robust
inference: A guide to empirical practice", Journal of Econometrics 232), and t has the degrees of
freedom of Bell and McCaffrey. No part of it is random.

Rows may belong to clusters of several kinds that are not nested (a debate's story and its judge).
The variance is then the sum over the kinds, minus the variance by both kinds together (Cameron,
Gelbach and Miller 2011, "Robust inference with multiway clustering", JBES 29), and at least the
variance by each single kind (MacKinnon, Nielsen and Webb 2024, "Jackknife inference with two-way
clustering"). t has the smallest degrees of freedom of a kind.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple, TypeVar

import numpy as np

from moot.stats.arrays import Floats, Numbers, Truths
from moot.stats.clusters import (
    MIN_CLUSTERS,
    Clusters,
    bell_mccaffrey_freedom,
    cluster_sizes,
    effective_number,
    kinds_of_clusters,
    satterthwaite,
)
from moot.stats.intervals import (
    LogOdds,
    Method,
    MultipliedOdds,
    SharedValue,
    Student,
    Wilson,
    divide_odds,
    log_odds,
    log_odds_error,
)
from moot.stats.statistic import SHARE, Bounds, Statistic

Key = TypeVar("Key")

MAX_GROUPS = 1000
"""More clusters are left out in this many groups (Kott 2001, "The delete-a-group jackknife",
Journal of Official Statistics 17), which bounds the time and hardly changes t.
"""
_MAX_WEIGHTS_IN_MEMORY = 2**22  # 32 MB; a statistic takes several times as much
_ROUNDING = 1e-9
"""A spread below this share of the value, or below this number for values under 1, is rounding.

The differences of equal amounts of up to a million have a spread of up to 3e-10. No real share,
number of tokens, time in seconds or price in dollars has a spread as small as 1e-9.
"""


class Spread(NamedTuple):
    """The standard error of a value, with the degrees of freedom of t; NaN and 0 if unknown."""

    error: float
    freedom: float


class ClusterJackknife:
    """The clusters behind some rows, each of which is left out in turn.

    Args:
        clusters: the cluster of each row; several rows may share one. A tuple names one cluster of
            each kind.
    """

    def __init__(self, clusters: Clusters) -> None:
        kinds = kinds_of_clusters(clusters)
        self.codes, _ = min(kinds, key=lambda kind: (kind[1], kind[0].max(initial=-1)))
        self.rows = len(self.codes)
        self.clusters = int(self.codes.max(initial=-1)) + 1
        self.kinds = len(kinds)
        self._kinds = [(codes % MAX_GROUPS, number) for codes, number in kinds]

    @property
    def has_single_rows(self) -> bool:
        """Whether each row is a cluster of its own."""
        return self.kinds == 1 and self.clusters == self.rows

    def weights(self) -> Iterator[Floats]:
        """Yield the weights of the rows without each cluster, in blocks of shape (clusters, rows).

        They are 0 in the cluster and 1 in all other rows. The clusters of all kinds follow one
        another.
        """
        block_size = max(1, _MAX_WEIGHTS_IN_MEMORY // max(self.rows, 1))
        for codes, _ in self._kinds:
            clusters = np.arange(codes.max(initial=-1) + 1)
            for start in range(0, len(clusters), block_size):
                block = clusters[start : start + block_size]
                yield (codes != block[:, None]).astype(np.float64)

    @cached_property
    def _weights(self) -> list[Floats] | None:
        """All blocks, kept for further statistics if they are small."""
        sizes = [codes.max(initial=-1) + 1 for codes, _ in self._kinds]
        return list(self.weights()) if self.rows * sum(sizes) <= _MAX_WEIGHTS_IN_MEMORY else None

    def value(self, statistic: Callable[[Floats], Floats]) -> float:
        """Return the statistic of all rows; NaN without rows."""
        return float(statistic(np.ones((1, self.rows)))[0]) if self.rows else float("nan")

    def values_without(
        self, statistics: Callable[[Floats], Mapping[Key, Floats]]
    ) -> dict[Key, Floats]:
        """Return several statistics without each cluster, shape (clusters,) each."""
        blocks = self._weights if self._weights is not None else self.weights()
        parts = [statistics(weights) for weights in blocks]
        parts = parts or [statistics(np.ones((0, self.rows)))]  # no valid answer, no cluster
        return {key: np.concatenate(list(map(itemgetter(key), parts))) for key in parts[0]}

    def spread(self, value: float, left_out: Floats, rows: Truths | None = None) -> Spread:
        """Return the spread of a value, from the values without each cluster.

        Clusters that have none of the statistic's rows do not count. With two classes of rows, t
        has Satterthwaite's degrees of freedom for both, as in the test of Brunner and Munzel (2000,
        Biometrical Journal 42).
        """
        undefined = Spread(float("nan"), 0.0)
        variances, freedoms, start = [], [], 0
        for codes, number in self._kinds:
            end = start + int(codes.max(initial=-1)) + 1
            groups = cluster_sizes(codes, rows)
            if any((sizes > 0).sum() < MIN_CLUSTERS for sizes in groups):
                return undefined
            squares, parts = (left_out[start:end] - value) ** 2, []
            for sizes in groups:
                clusters = int((sizes > 0).sum())
                summed = squares.sum() if len(groups) == 1 else squares[sizes > 0].sum()
                parts.append(float(summed) * (clusters - 1) / clusters)
            variances.append((sum(parts), number))
            if number == 1:
                freedoms.append(satterthwaite(parts, map(self._freedom, groups)))
            start = end
        single = max(variance for variance, number in variances if number == 1)
        both = sum(variance if number % 2 else -variance for variance, number in variances)
        error = float(max(single, both)) ** 0.5
        if not np.isfinite(error):
            return undefined
        has_spread = error > _ROUNDING * max(1.0, abs(value))
        return Spread(error if has_spread else 0.0, min(freedoms))

    def _freedom(self, sizes: Numbers) -> float:
        """Return the degrees of freedom of t for clusters of these sizes."""
        if self.kinds == 1:
            return bell_mccaffrey_freedom(sizes)
        return float(np.count_nonzero(sizes) - 1)

    def clusters_among(self, rows: Truths | None = None) -> float:
        """Return the effective number of clusters of some rows; None for all rows.

        With several kinds of clusters it is the smallest of their numbers.
        """
        single = [codes for codes, number in self._kinds if number == 1]
        sizes = chain.from_iterable(cluster_sizes(codes, rows) for codes in single)
        return min(map(effective_number, sizes))

    def method_of(
        self,
        value: float,
        left_out: Floats,
        statistic: Statistic,
        threshold: float = 0.0,
    ) -> Method:
        """Return the interval and test of a statistic, less a threshold, from jackknife values.

        `left_out` holds the values without each cluster. A value that all clusters share has the
        interval of `SharedValue`, unless it has no upper bound. A share of independent cases has
        Wilson's; all other values have Student's, within two bounds on the scale of log odds. A
        value with other odds than a share has the share's method.
        """
        bounds, rows, odds = statistic.bounds, statistic.rows, statistic.odds
        if odds != 1:
            share, left_out = divide_odds(value, odds), divide_odds(left_out, odds)
            of_share = self.method_of(float(share), left_out, replace(statistic, odds=1.0))
            return MultipliedOdds(of_share, odds, threshold)
        clusters = self.clusters_among(rows)
        if np.isnan(value) or clusters < MIN_CLUSTERS:
            return Student(float("nan"), float("nan"), 0.0)
        spread, is_bounded = self.spread(value, left_out, rows), np.isfinite(bounds).all()
        beyond = bounds[0] - threshold, bounds[1] - threshold
        if is_bounded and spread.error == 0:
            return SharedValue(value - threshold, clusters, beyond)
        if bounds == SHARE and self.has_single_rows:
            # among values from 0 to 1, only those that are 0 or 1 have this variance
            counted_variance = value * (1 - value) / max(1.0, clusters - 1)
            if np.isclose(spread.error**2, counted_variance, rtol=1e-6):
                return Wilson(value, clusters, threshold)
        if is_bounded and bounds[0] + _ROUNDING < value < bounds[1] - _ROUNDING:
            on_log_odds = self._log_odds_spread(value, left_out, bounds, rows)
            return LogOdds(value, *on_log_odds, bounds, threshold)
        return Student(value - threshold, *spread, beyond)

    def _log_odds_spread(
        self, value: float, left_out: Floats, bounds: Bounds, rows: Truths | None
    ) -> Spread:
        """Return the spread of a value's log odds."""
        left_out_log_odds = log_odds(left_out, bounds)
        if np.isfinite(left_out_log_odds).all():
            return self.spread(float(log_odds(value, bounds)), left_out_log_odds, rows)
        error, freedom = self.spread(value, left_out, rows)
        return Spread(log_odds_error(value, error, bounds), freedom)

    def value_and_left_out(self, statistic: Statistic) -> tuple[float, Floats]:
        """Return a statistic's value, and its values without each cluster."""
        function = statistic if statistic.departing is None else statistic.linear
        left_out = self.values_without(lambda weights: {"": function(weights)})[""]
        return self.value(statistic), left_out

    def value_and_method(
        self, statistic: Statistic, threshold: float = 0.0
    ) -> tuple[float, Method]:
        """Return a statistic's value with its interval and test, as `method_of` does.

        A coefficient of agreement has Student's t of the log odds by the delta method. It has none
        if only one cluster has departing rows.
        """
        value, left_out = self.value_and_left_out(statistic)
        if statistic.departing is not None:
            error, freedom = self.spread(value, left_out, statistic.rows)
            if error > 0 and self.clusters_among(statistic.departing) >= MIN_CLUSTERS:
                error = log_odds_error(value, error, statistic.bounds)
                return value, LogOdds(value, error, freedom, statistic.bounds, threshold)
            statistic = replace(statistic, rows=statistic.departing)
        return value, self.method_of(value, left_out, statistic, threshold)

    def value_and_spread(self, statistic: Statistic) -> tuple[float, Spread]:
        """Return a statistic's value with its spread."""
        value, left_out = self.value_and_left_out(statistic)
        return value, self.spread(value, left_out, statistic.rows)

    def interval(self, statistic: Statistic) -> tuple[float, float]:
        """Return the interval of a statistic."""
        return self.estimate(statistic)[1:]

    def estimate(self, statistic: Statistic) -> tuple[float, float, float]:
        """Return the statistic's value with the lower and upper end of its interval."""
        value, method = self.value_and_method(statistic)
        return value, *method.interval()
