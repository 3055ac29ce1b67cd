"""A statistic as a function of row weights: means, shares and ratios of sums.

The weights say how often each row counts, in an array of shape (samples, rows). The statistic
returns an array of shape (samples,), so that it is computed without each cluster at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from moot.stats.arrays import Floats, Truths, Values, as_numbers, ratio

Bounds = tuple[float, float]
ANY: Bounds = (-np.inf, np.inf)
AMOUNT: Bounds = (0.0, np.inf)
SHARE: Bounds = (0.0, 1.0)
DIFFERENCE: Bounds = (-1.0, 1.0)
F1_ODDS = 2.0
_NUDGE = 1e-4  # of a row's weight


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of row weights, with what its interval needs to know.

    Attributes:
        function: weights of shape (samples, rows) to values of shape (samples,); NaN if undefined.
        bounds: its smallest and largest possible value: `SHARE`, `DIFFERENCE`, `AMOUNT` or `ANY`.
        rows: the rows that it depends on, shape (rows,), such as the positive cases for recall;
            None for all. A statistic of two classes of rows has both, shape (rows, 2).
        departing: of a coefficient of agreement, the rows that depart from the most frequent label,
            shape (rows,). Its error is that of its linear approximation (the delta method), since a
            coefficient changes too much if one of few departing rows is left out.
        odds: how many times its odds are those of a share of rows: `F1_ODDS` for F1 of a label,
            whose share is that of hits among the rows with the label or the answer.
    """

    function: Callable[[Floats], Floats]
    bounds: Bounds = ANY
    rows: Truths | None = None
    departing: Truths | None = None
    odds: float = 1.0

    def __call__(self, weights: Floats) -> Floats:
        return self.function(weights)

    def linear(self, weights: Floats) -> Floats:
        """Return the linear approximation: the value, with the mean influence of weighted rows."""
        value = self.function(np.ones((1, weights.shape[1])))
        nudged = self.function(1 - _NUDGE * (1 - weights))
        counted = np.ones(weights.shape[1]) if self.rows is None else as_numbers(self.rows)
        return value + ratio((nudged - value) * counted.sum(), _NUDGE * (weights @ counted))


def mean_statistic(values: Values, bounds: Bounds = ANY) -> Statistic:
    """Return the statistic of the mean of `values`, one per row."""
    array = as_numbers(values)
    return Statistic(lambda weights: ratio(weights @ array, weights.sum(axis=1)), bounds)


def share_statistic(values: Values) -> Statistic:
    """Return the share of rows that are true, or the mean of values between 0 and 1."""
    return mean_statistic(values, SHARE)


def ratio_statistic(
    numerators: ArrayLike, denominators: ArrayLike, bounds: Bounds = ANY
) -> Statistic:
    """Return the sum of one column over the sum of another.

    The statistic's rows are those whose denominator is not 0.
    """
    top, bottom = as_numbers(numerators), as_numbers(denominators)
    return Statistic(lambda weights: ratio(weights @ top, weights @ bottom), bounds, bottom != 0)
