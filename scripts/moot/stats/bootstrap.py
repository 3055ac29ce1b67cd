"""Intervals by a bootstrap over clusters: rows of one cluster are not independent, so they are drawn together.

A cluster is a case (whose repeats share all), or what several cases have in common: the motion of a claim, the topic of
a post. A statistic is a function of row weights. It takes an array of shape (resamples, rows) that says how often each
row was drawn and returns an array of shape (resamples,); all resamples are computed at once.

The interval is a small-sample t interval: the bootstrap's standard error, Student's t with one degree of freedom less
than there are clusters, on a scale that suits the statistic's range (log odds for a share, so that it stays within 0
and 1). Percentiles of the draws cover too little with few clusters and rare outcomes; docs/results.md has the coverage
of this method by simulation, for 5 to 200 clusters. Where all clusters agree (all or none right) the draws show no
spread, and the interval is that of Clopper and Pearson (1934) with the clusters as sample size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Bounds = tuple[float, float]

RESAMPLES = 1000
LEVEL = 0.95
FEWEST_CLUSTERS = 2

ANY: Bounds = (-np.inf, np.inf)
AMOUNT: Bounds = (0.0, np.inf)
SHARE: Bounds = (0.0, 1.0)
DIFFERENCE: Bounds = (-1.0, 1.0)

MEANT_DIGITS = 9  # of a share's interval
_WEIGHTS_AT_ONCE = 2**22
"""Resamples times rows whose weights are in memory at once: 32 MB, and a statistic takes some times as much."""
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of row weights, with what its interval needs to know.

    Attributes:
        function: weights of shape (resamples, rows) to values of shape (resamples,); NaN where undefined.
        bounds: the least and the greatest value that it can have: `SHARE`, `DIFFERENCE`, `AMOUNT` or `ANY`.
        rows: the rows that it rests on, shape (rows,), such as the positive cases for recall; None for all.
    """

    function: Callable[[Floats], Floats]
    bounds: Bounds = ANY
    rows: Truths | None = None

    def __call__(self, weights: Floats) -> Floats:
        return self.function(weights)


class ClusterBootstrap:
    """Resamples of the clusters behind some rows; equal clusters and seed give equal draws, also across models.

    Args:
        clusters: the cluster that each row belongs to; several rows may share one.
        seed: the configuration's seed.
        resamples: how many samples of clusters are drawn, with replacement.
        level: the interval's nominal coverage.
    """

    def __init__(
        self, clusters: "ArrayLike | pd.Series[Any]", seed: int, resamples: int = RESAMPLES, level: float = LEVEL
    ) -> None:
        self.codes, names = pd.factorize(np.asarray(clusters, dtype=object), sort=True)
        self.rows, self.clusters, self.level = len(self.codes), len(names), level
        self._seed, self._resamples = seed, resamples

    def weights(self) -> Iterator[Floats]:
        """How often each row is drawn: some resamples at a time, shape (some, rows), all of them where rows are few."""
        at_once = max(1, _WEIGHTS_AT_ONCE // max(self.rows, 1))
        if at_once >= self._resamples:
            yield self._all_weights
            return
        drawn = _draws(self.clusters, self._seed, self._resamples)
        for start in range(0, self._resamples, at_once):
            yield drawn[start : start + at_once].astype(np.float64)[:, self.codes]

    @cached_property
    def _all_weights(self) -> Floats:
        if not self.clusters:
            return np.ones((self._resamples, 0))
        return _draws(self.clusters, self._seed, self._resamples).astype(np.float64)[:, self.codes]

    def value(self, statistic: Callable[[Floats], Floats]) -> float:
        """The statistic on the rows as they are; NaN without rows."""
        return float(statistic(np.ones((1, self.rows)))[0]) if self.rows else float("nan")

    def draws(self, statistic: Callable[[Floats], Floats]) -> Floats:
        """The statistic on every resample, shape (resamples,)."""
        return np.concatenate([statistic(weights) for weights in self.weights()])

    def clusters_among(self, rows: Truths | None) -> int:
        """How many clusters some rows belong to; None for all rows."""
        return self.clusters if rows is None else len(np.unique(self.codes[rows]))

    def interval(self, statistic: Statistic) -> tuple[float, float]:
        """The interval of a statistic, as `estimate_interval`."""
        clusters = self.clusters_among(statistic.rows)
        if clusters < FEWEST_CLUSTERS:
            return float("nan"), float("nan")
        return estimate_interval(self.value(statistic), self.draws(statistic), clusters, statistic.bounds, self.level)

    def estimate(self, statistic: Statistic) -> tuple[float, float, float]:
        """Value, lower and upper end of the interval."""
        return self.value(statistic), *self.interval(statistic)


@lru_cache(maxsize=4)
def _draws(clusters: int, seed: int, resamples: int) -> "NDArray[np.uint8]":
    """How often each cluster is drawn, shape (resamples, clusters), in a byte each: more than 255 never happens."""
    generator, shares = np.random.default_rng(seed), np.full(clusters, 1 / clusters)
    drawn = np.empty((resamples, clusters), dtype=np.uint8)
    at_once = max(1, _WEIGHTS_AT_ONCE // clusters)
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        drawn[start : start + size] = generator.multinomial(clusters, shares, size=size)
    return drawn


def estimate_interval(
    value: float, draws: Floats, clusters: int, bounds: Bounds = ANY, level: float = LEVEL
) -> tuple[float, float]:
    """The interval around a value from its bootstrap draws.

    Args:
        value: the statistic on the sample.
        draws: the statistic on every resample; those in which it is undefined (NaN) are left out.
        clusters: how many clusters the value rests on.
        bounds: the least and the greatest value that the statistic can have.
        level: the nominal coverage.

    Returns:
        Both ends; NaN from fewer than two clusters, and where the draws show no spread of a statistic that has no two
        bounds, since then nothing says how far the next cluster may lie.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - registries are read at every start of Snakemake

    nothing = float("nan"), float("nan")
    defined = draws[~np.isnan(draws)]
    if clusters < FEWEST_CLUSTERS or len(defined) < FEWEST_CLUSTERS or np.isnan(value):
        return nothing
    if np.ptp(defined) <= _NO_SPREAD * max(1.0, abs(value)):
        return _without_spread(value, clusters, bounds, level) if np.isfinite(bounds).all() else nothing
    error = float(np.std(defined, ddof=1)) * np.sqrt(clusters / (clusters - 1))
    half = float(stdtrit(clusters - 1, (1 + level) / 2)) * error
    return _around(value, half, *bounds)


def _without_spread(value: float, clusters: int, bounds: Bounds, level: float) -> tuple[float, float]:
    """Clopper-Pearson where no cluster deviates: at most a share `rare` of all clusters may, up to either bound."""
    low, high = bounds
    rare = 1 - ((1 - level) / 2) ** (1 / clusters)
    return value - rare * (value - low), value + rare * (high - value)


def _around(value: float, half: float, low: float, high: float) -> tuple[float, float]:
    """Symmetric around the value on the scale of log odds (two bounds) or logarithms (one), by the delta method."""
    if low < value < high < np.inf:
        share = (value - low) / (high - low)
        centre, reach = np.log(share / (1 - share)), half / (share * (1 - share) * (high - low))
        shares = [1 / (1 + np.exp(-np.clip(centre + side * reach, -700, 700))) for side in (-1, 1)]
        ends = [low + (high - low) * round(float(end), MEANT_DIGITS) for end in shares]
    elif -np.inf < low < value and high == np.inf:
        reach = min(half / (value - low), 700)
        ends = [low + (value - low) * np.exp(side * reach) for side in (-1, 1)]
    else:  # no bounds, or a value at its bound although resamples differ
        ends = [float(np.clip(value + side * half, low, high)) for side in (-1, 1)]
    return float(ends[0]), float(ends[1])


def as_numbers(values: "ArrayLike | pd.Series[Any]") -> Floats:
    """Truth values or numbers as an array of floats."""
    return np.asarray(values, dtype=np.float64)


def ratio(numerator: Floats, denominator: Floats, where_zero: float = float("nan")) -> Floats:
    """Element-wise ratio with a given value where the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, where_zero, dtype=np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def mean_statistic(values: "ArrayLike | pd.Series[Any]", bounds: Bounds = ANY) -> Statistic:
    """The mean of `values`, one a row."""
    array = as_numbers(values)
    return Statistic(lambda weights: ratio(weights @ array, weights.sum(axis=1)), bounds)


def share_statistic(values: "ArrayLike | pd.Series[Any]") -> Statistic:
    """The share of rows that are true, or the mean of values between 0 and 1."""
    return mean_statistic(values, SHARE)


def ratio_statistic(numerators: ArrayLike, denominators: ArrayLike, bounds: Bounds = ANY) -> Statistic:
    """The sum of one column over the sum of another; it rests on the rows whose denominator is not 0."""
    top, bottom = as_numbers(numerators), as_numbers(denominators)
    return Statistic(lambda weights: ratio(weights @ top, weights @ bottom), bounds, bottom != 0)
