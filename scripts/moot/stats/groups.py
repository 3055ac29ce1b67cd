"""Is a rate in one group of units other than in the rest? A test by permutation: which units form the group."""

import numpy as np
from numpy.typing import NDArray

from moot.stats.bootstrap import Floats, ratio

PATTERNS = 9999
_ROUNDING = 1e-9
_AT_ONCE = 2_000_000


def permutation_p(numerators: Floats, denominators: Floats, inside: NDArray[np.bool_], seed: int) -> float:
    """The two-sided p-value of the difference between the group's rate and that of all other units.

    A rate is the sum of one column over the sum of the other. If the rates are equal, which units form the group says
    nothing; so the observed difference is compared with those of `PATTERNS` groups of the same size drawn at random.
    The observed one is counted too (Phipson and Smyth 2010).

    Args:
        numerators, denominators: of each independent unit (a case, by its repeats), shape (units,).
        inside: which units form the group.
        seed: of the random groups.

    Returns:
        The p-value; NaN where one side has no unit with a denominator.
    """
    counted = denominators > 0
    top, bottom, members = numerators[counted], denominators[counted], inside[counted]
    if members.all() or not members.any():
        return float("nan")
    observed = abs(_differences(top, bottom, members[None, :].astype(np.float64))[0])
    generator = np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // len(members))
    extreme, drawn = 0, 0
    while drawn < PATTERNS:
        count = min(at_once, PATTERNS - drawn)
        groups = generator.permuted(np.tile(members, (count, 1)), axis=1).astype(np.float64)
        extreme += int((np.abs(_differences(top, bottom, groups)) >= observed - _ROUNDING).sum())
        drawn += count
    return (1 + extreme) / (1 + PATTERNS)


def _differences(top: Floats, bottom: Floats, groups: Floats) -> Floats:
    """The group's rate less the rest's, for each row of `groups` (1: inside)."""
    within, below = groups @ top, groups @ bottom
    return ratio(within, below) - ratio(top.sum() - within, bottom.sum() - below)
