"""Values of the very cases that were debated: debates are drawn again within each case, while the
cases stay.

With few cases a test by case cannot answer, however many debates each has: of five cases all differ
in one direction in 2 of 32 draws of signs. The debates of a case are independent of each other, so
they can say what holds of these cases, and nothing of others.

The interval is that of `moot.stats.bootstrap` with as many degrees of freedom as the case with the
fewest debates gives; p is that of the same interval.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from moot.stats.bootstrap import RESAMPLES, Bounds, Floats, estimate_interval

FEWEST_CASES = 10
"""With fewer clusters of cases, debates within cases are looked at where there are repeats."""


def interval_p(value: float, low: float, high: float, supposed: float, freedom: int) -> float:
    """The two-sided p of a supposed value by the 95 % interval of Student's t around an estimate.

    It is below 0.05 where the interval does not hold the supposed value.
    """
    from scipy.special import stdtr, stdtrit  # registries are read at every start of Snakemake

    if np.isnan([value, low, high]).any():
        return float("nan")
    half = value - low if supposed < value else high - value
    distance = abs(value - supposed)
    if not distance:
        return 1.0
    freedom = max(1, freedom)
    return (
        2 * float(stdtr(freedom, -stdtrit(freedom, 0.975) * distance / half)) if half > 0 else 0.0
    )


def smallest_stratum(strata: Sequence[object]) -> int:
    """How many rows the smallest stratum has."""
    return int(np.bincount(pd.factorize(_objects(strata))[0]).min()) if len(strata) else 0


def interval_within(
    function: Callable[[Floats], Floats], strata: Sequence[object], seed: int, bounds: Bounds
) -> tuple[float, float, float]:
    """A value with its 95 % interval, from draws of the rows of each stratum.

    Args:
        function: row weights of shape (draws, rows) to values of shape (draws,).
        strata: of each row: its case, and what else was fixed (the side, the model).
        seed, bounds: of the draws, and of the value.
    """
    codes = pd.factorize(_objects(strata), sort=False)[0]
    random = np.random.default_rng(seed)
    weights = np.empty((RESAMPLES, len(codes)))
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        weights[:, rows] = random.multinomial(
            len(rows), np.full(len(rows), 1 / len(rows)), size=RESAMPLES
        )
    value = float(function(np.ones((1, len(codes))))[0])
    return value, *estimate_interval(value, function(weights), smallest_stratum(strata), bounds)


def _objects(strata: Sequence[object]) -> "np.ndarray[tuple[int], np.dtype[np.object_]]":
    """Strata as one column, also where they are tuples."""
    column = np.empty(len(strata), dtype=object)
    column[:] = strata
    return column
