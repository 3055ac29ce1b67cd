"""Bootstrap intervals over cases: the repeats of a case are not independent, so they are drawn together.

A statistic is a function of row weights. It takes an array of shape (resamples, rows) that says how often each row was
drawn and returns an array of shape (resamples,); all resamples are computed at once.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

RESAMPLES = 1000
LEVEL = 0.95


class CaseBootstrap:
    """Resamples of the cases behind some rows; equal case ids and seed give equal draws, also across models.

    Args:
        case_ids: the case that each row belongs to; several rows may share one.
        seed: the configuration's seed.
        resamples: how many samples of cases are drawn, with replacement.
        level: the interval's nominal coverage.
    """

    def __init__(
        self, case_ids: "ArrayLike | pd.Series[Any]", seed: int, resamples: int = RESAMPLES, level: float = LEVEL
    ) -> None:
        codes, cases = pd.factorize(np.asarray(case_ids, dtype=object), sort=True)
        self.rows, self.cases, self.level = len(codes), len(cases), level
        if not self.cases:
            self.weights: Floats = np.ones((resamples, 0))
            return
        self.weights = _draws(self.cases, seed, resamples)[:, codes]

    def value(self, statistic: Statistic) -> float:
        """The statistic on the rows as they are; NaN without rows."""
        return float(statistic(np.ones((1, self.rows)))[0]) if self.rows else float("nan")

    def draws(self, statistic: Statistic) -> Floats:
        """The statistic on every resample, shape (resamples,)."""
        return statistic(self.weights)

    def interval(self, statistic: Statistic) -> tuple[float, float]:
        """The percentile interval; NaN for fewer than two cases, since one case has no spread to draw from."""
        if self.cases <= 1:
            return float("nan"), float("nan")
        return percentile_interval(self.draws(statistic), self.level)

    def estimate(self, statistic: Statistic) -> tuple[float, float, float]:
        """Value, lower and upper end of the interval."""
        return self.value(statistic), *self.interval(statistic)


@lru_cache(maxsize=8)
def _draws(cases: int, seed: int, resamples: int) -> Floats:
    """How often each case is drawn, shape (resamples, cases)."""
    drawn = np.random.default_rng(seed).multinomial(cases, np.full(cases, 1 / cases), size=resamples)
    return drawn.astype(np.float64)


def percentile_interval(draws: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The percentile interval of bootstrap draws; resamples in which the statistic is undefined (NaN) are left out."""
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def as_numbers(values: "ArrayLike | pd.Series[Any]") -> Floats:
    """Truth values or numbers as an array of floats."""
    return np.asarray(values, dtype=np.float64)


def ratio(numerator: Floats, denominator: Floats, where_zero: float = float("nan")) -> Floats:
    """Element-wise ratio with a given value where the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, where_zero, dtype=np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def mean_of(values: "ArrayLike | pd.Series[Any]") -> Statistic:
    """The statistic that is the mean of `values`, one a row."""
    array = as_numbers(values)
    return lambda weights: ratio(weights @ array, weights.sum(axis=1))


def ratio_of(numerators: ArrayLike, denominators: ArrayLike) -> Statistic:
    """The statistic that is the sum of one column over the sum of another."""
    top, bottom = as_numbers(numerators), as_numbers(denominators)
    return lambda weights: ratio(weights @ top, weights @ bottom)
