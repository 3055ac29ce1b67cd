"""A statistic as a function of row weights: means, shares and ratios of sums.

The weights say how often each row was drawn, in an array of shape (resamples, rows). The statistic
returns an array of shape (resamples,), so that all resamples are computed at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from moot.stats.amounts import MIN_AMOUNTS
from moot.stats.arrays import Floats, Truths, Values, as_numbers, ratio
from moot.stats.clusters import MIN_CLUSTERS

Bounds = tuple[float, float]
ANY: Bounds = (-np.inf, np.inf)
AMOUNT: Bounds = (0.0, np.inf)
SHARE: Bounds = (0.0, 1.0)
DIFFERENCE: Bounds = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of row weights, with what its interval needs to know.

    Attributes:
        function: weights of shape (resamples, rows) to values of shape (resamples,); NaN if
            undefined.
        bounds: its smallest and largest possible value: `SHARE`, `DIFFERENCE`, `AMOUNT` or `ANY`.
        rows: the rows that it depends on, shape (rows,), such as the positive cases for recall;
            None for all.
        signed_parts: for a sum of absolute values, these values with their signs, shape (resamples,
            parts). Chance alone raises such a sum, so its interval is extended downwards.
        min_clusters: with fewer clusters there is no interval.
        amounts: for a mean of amounts above 0, these amounts, shape (rows,). The interval then
            includes the interval of log-normal amounts.
    """

    function: Callable[[Floats], Floats]
    bounds: Bounds = ANY
    rows: Truths | None = None
    signed_parts: Callable[[Floats], Floats] | None = None
    min_clusters: int = MIN_CLUSTERS
    amounts: Floats | None = None

    def __call__(self, weights: Floats) -> Floats:
        return self.function(weights)


def mean_statistic(values: Values, bounds: Bounds = ANY) -> Statistic:
    """Return the statistic of the mean of `values`, one per row.

    A mean of few amounts has no interval.
    """
    array = as_numbers(values)
    has_tail = bounds == AMOUNT
    return Statistic(
        lambda weights: ratio(weights @ array, weights.sum(axis=1)),
        bounds,
        min_clusters=MIN_AMOUNTS if has_tail else MIN_CLUSTERS,
        amounts=array if has_tail else None,
    )


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
