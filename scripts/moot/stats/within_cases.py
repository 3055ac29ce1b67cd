"""Values that apply to the debated cases only: debates vary within each case.

With few cases a test by case has no power, however many debates each case has: five cases all
differ in the same direction in 2 of 32 worlds of equal sides. The debates of a case are independent
of each other. They can therefore show what is true of these cases, but not of other cases.

The variance of the value is the sum over the cases' variances, each moderated by the variance of
all cases (Smyth 2004, "Linear models and empirical Bayes methods", Statistical Applications in
Genetics and Molecular Biology 3), with the degrees of freedom of Satterthwaite (1946, "An
approximate distribution of estimates of variance components", Biometrics Bulletin 2); p belongs to
the same interval.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.stats.arrays import Floats, as_numbers
from moot.stats.intervals import LogOdds, Method, SharedValue, Student, log_odds_error
from moot.stats.statistic import SHARE, Bounds

_NUDGE = 1e-4  # of a row's weight
_ROUNDING = 1e-9
"""A smaller error, relative to the values, is due to rounding, which a nudge of 1e-4 enlarges to
1e-12.
"""
_PRIOR_FREEDOM = 1
"""How much the variance of all cases counts, in degrees of freedom: with 0, two equal debates would
show that a case has no variance, and intervals would cover 85 %; with 2 they cover too much.
"""
_ROWS_AT_ONCE = 500

MIN_CASES = 10
"""With fewer clusters of cases, debates within cases are compared if there are repeats."""


def smallest_stratum(strata: Sequence[object]) -> int:
    """Return the number of rows in the smallest stratum."""
    return int(np.bincount(pd.factorize(_objects(strata))[0]).min()) if len(strata) else 0


def method_within(
    function: Callable[[Floats], Floats],
    strata: Sequence[object],
    bounds: Bounds,
    threshold: float = 0.0,
    size: float = 1.0,
) -> Method:
    """Return the interval and test of a value less a threshold, by the rows within each stratum.

    Args:
        function: row weights of shape (samples, rows) to values of shape (samples,).
        strata: for each row, its case and other fixed properties (the side, the model).
        bounds: of the value.
        threshold: is subtracted from the value.
        size: of the values behind a difference, which may be much larger than the difference.
    """
    codes = pd.factorize(_objects(strata), sort=False)[0]
    value = float(function(np.ones((1, len(codes))))[0])
    variances, freedom = _variances_of_strata(function, codes)
    error = float(variances.sum()) ** 0.5
    has_error, beyond = error > _ROUNDING * size, (bounds[0] - threshold, bounds[1] - threshold)
    if not has_error and np.isfinite(bounds).all():
        return SharedValue(value - threshold, len(codes), beyond)
    if bounds == SHARE:
        return LogOdds(value, log_odds_error(value, error, SHARE), freedom, SHARE, threshold)
    return Student(value - threshold, error if has_error else 0.0, freedom, beyond)


def _variances_of_strata(
    function: Callable[[Floats], Floats], codes: NDArray[np.intp]
) -> tuple[Floats, float]:
    """Return each stratum's part of a value's variance, and Satterthwaite's degrees of freedom.

    The value is linearised by a small change of each row's weight.
    """
    sizes = as_numbers(np.bincount(codes))
    influences = np.empty(len(codes))
    for start in range(0, len(codes), _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, len(codes)))
        nudges = np.zeros((len(rows), len(codes)))
        nudges[np.arange(len(rows)), rows] = _NUDGE
        influences[rows] = (function(1 + nudges) - function(1 - nudges)) / (2 * _NUDGE)
    means = np.bincount(codes, weights=influences) / sizes
    squares = np.bincount(codes, weights=(influences - means[codes]) ** 2)
    by_row = squares * sizes**2  # comparable between strata whose rows have equal weights
    pooled = by_row.sum() / max(1.0, float((sizes - 1).sum()))
    freedoms = sizes - 1 + _PRIOR_FREEDOM
    variances = as_numbers((by_row + _PRIOR_FREEDOM * pooled) / freedoms / sizes)
    terms = float((variances**2 / freedoms).sum())
    freedom = float(variances.sum()) ** 2 / terms if terms > 0 else 1.0
    return variances, max(1.0, freedom)


def _objects(strata: Sequence[object]) -> "np.ndarray[tuple[int], np.dtype[np.object_]]":
    """Return strata as one column, also if they are tuples."""
    column = np.empty(len(strata), dtype=object)
    column[:] = strata
    return column
