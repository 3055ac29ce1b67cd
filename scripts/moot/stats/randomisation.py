"""Randomisation tests of two sides: signs flipped, sides exchanged, clusters dealt anew; and
intervals that agree.

Each test asks how often chance alone sets equal sides as far apart as they are. Subtracting a
supposed difference first tests that difference instead of 0, so that a test has an interval: all
differences that it does not reject.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from moot.stats.bootstrap import Bounds, Floats, Numbers, as_numbers

EXACT_CLUSTERS = 14  # up to here all 2^14 patterns of signs are counted
PATTERNS = 9999
LEVEL = 0.05
_ROUNDING = 1e-9
_DIGITS = 9
_MAX_SIGNS_IN_MEMORY = 2**23  # 64 MB
_STEPS = 14


def mcnemar_exact(first_alone: int, second_alone: int) -> float:
    """The two-sided exact McNemar p of the numbers of cases that one system alone got right; 1 of
    none.
    """
    from scipy.special import bdtr  # registries are read at every start of Snakemake

    differing = first_alone + second_alone
    return min(1.0, 2 * float(bdtr(min(first_alone, second_alone), differing, 0.5)))


def sign_flip_p(differences: Floats, seed: int) -> float:
    """The two-sided p-value of a randomisation test: between equal systems each difference could
    have either sign.

    Exact for up to `EXACT_CLUSTERS` differences other than 0, else from `PATTERNS` random
    patterns of signs (the observed one is counted too: Phipson and Smyth 2010). With
    differences of 1 and -1 alone it is McNemar's exact test. A difference is the sum of an
    independent unit's: of a case, or of a cluster of cases.
    """
    moved = differences[np.abs(differences) > _ROUNDING]
    if not len(moved):
        return 1.0
    sizes = np.abs(moved)
    if (np.abs(sizes - sizes[0]) <= _ROUNDING).all():
        return mcnemar_exact(int((moved > 0).sum()), int((moved < 0).sum()))
    threshold = abs(moved.sum()) - _ROUNDING
    if len(moved) <= EXACT_CLUSTERS:
        bits = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return float((np.abs((2 * bits - 1) @ moved) >= threshold).mean())
    random = np.random.default_rng(seed)
    signs = (
        random.choice([-1.0, 1.0], size=(size, len(moved)))
        for size in split_into_portions(PATTERNS, len(moved))
    )
    reached = sum(int((np.abs(size @ moved) >= threshold).sum()) for size in signs)
    return float((1 + reached) / (1 + PATTERNS))


def split_into_portions(patterns: int, units: int) -> Iterator[int]:
    """So many patterns of all units at a time as fit into memory, until there are `patterns`; few
    are one portion.
    """
    portion = max(1, _MAX_SIGNS_IN_MEMORY // max(units, 1))
    for start in range(0, patterns, portion):
        yield min(portion, patterns - start)


def exchange_p(distance: Callable[[Numbers], Floats], moved: int, seed: int) -> float:
    """The share of exchanges of sides, unit by unit, that set them at least as far apart as they
    are.

    Args:
        distance: how far apart both sides are, shape (patterns,), from patterns of shape
            (patterns, units) in which 1 exchanges a unit's sides; NaN, where a side then has
            nothing to measure, counts as apart.
        moved: how many units differ between the sides; of more than `EXACT_CLUSTERS` random
            patterns are drawn.
        seed: of these.
    """
    if not moved:
        return 1.0
    threshold = distance(np.zeros((1, moved)))[0] - _ROUNDING
    if moved <= EXACT_CLUSTERS:
        return float(
            (~(distance(np.arange(2**moved)[:, None] >> np.arange(moved) & 1) < threshold)).mean()
        )
    random = np.random.default_rng(seed)
    draws = (random.integers(0, 2, (size, moved)) for size in split_into_portions(PATTERNS, moved))
    reached = sum(int((~(distance(patterns) < threshold)).sum()) for patterns in draws)
    return (1 + reached) / (1 + PATTERNS)


def dealing_p(
    rows: Floats, first: int, distance: Callable[[Floats, Floats, Floats], Floats], seed: int
) -> float:
    """The share of ways to deal all clusters to two sides anew that set them at least as far apart
    as they are.

    Equal clusters are counted by kind. With two kinds, as where each cluster is one answer,
    right or wrong, all ways are counted: that is Fisher's exact test, two-sided by the
    difference. Else `PATTERNS` ways are drawn.

    Args:
        rows: one a cluster, those of the first side before those of the second, shape
            (clusters, columns).
        first: how many clusters the first side has.
        distance: from the kinds' rows and how many of each kind either side has, shape (ways,
            kinds) each, to (ways,).
        seed: of the random ways.
    """
    kinds, codes, counts = np.unique(
        np.round(rows, _DIGITS), axis=0, return_inverse=True, return_counts=True
    )
    dealt = np.bincount(codes.reshape(-1)[:first], minlength=len(kinds))[None, :]
    threshold = distance(kinds, as_numbers(dealt), as_numbers(counts - dealt))[0] - _ROUNDING
    if len(kinds) == 1:
        return 1.0
    is_exact = len(kinds) == 2  # as in a table of two by two
    if is_exact:
        ways, probability = _all_ways(int(counts[0]), int(counts[1]), first)
    else:
        ways, probability = _some_ways(tuple(counts), first, seed, PATTERNS)
    reached = ~(distance(kinds, ways, counts - ways) < threshold)
    share = float(probability @ reached)
    return min(1.0, share) if is_exact else (1 + share * PATTERNS) / (1 + PATTERNS)


@lru_cache(maxsize=2)
def _some_ways(
    counts: tuple[int, ...], first: int, seed: int, number: int
) -> tuple[Floats, Floats]:
    """How many of each kind the first side has in random ways, shape (ways, kinds), and each way's
    share of them.
    """
    random = np.random.default_rng(seed)
    ways = as_numbers(
        random.multivariate_hypergeometric(counts, first, size=number, method="marginals")
    )
    return ways, np.full(number, 1 / number)


def _all_ways(first_kind: int, second_kind: int, first: int) -> tuple[Floats, Floats]:
    """How many of two kinds the first side may have, and how probable that is (hypergeometric)."""
    from scipy.special import gammaln  # registries are read at every start of Snakemake

    def log_ways(among: int, numbers: ArrayLike) -> Floats:
        number = as_numbers(numbers)
        return np.asarray(
            gammaln(among + 1) - gammaln(number + 1) - gammaln(among - number + 1), dtype=np.float64
        )

    numbers = np.arange(max(0, first - second_kind), min(first_kind, first) + 1, dtype=np.float64)
    logs = (
        log_ways(first_kind, numbers)
        + log_ways(second_kind, first - numbers)
        - log_ways(first_kind + second_kind, first)
    )
    return np.stack([numbers, first - numbers], axis=1), np.exp(logs)


def agree_with_test(
    value: float,
    interval: tuple[float, float],
    p: float,
    p_at: Callable[[float], float],
    bounds: Bounds,
) -> tuple[float, float]:
    """An interval that holds 0 where p is at least `LEVEL`, and does not where p is less.

    Interval and p come of two methods: the interval of one that covers at every difference, p of a
    test that is exact between equal sides. Where they disagree about 0, the end near 0 becomes that
    of the interval which the test has: the outermost difference that it does not reject (`p_at`),
    within the least and the greatest (`bounds`).
    """
    low, high = interval
    if np.isnan([value, low, high, p]).any() or (p < LEVEL) != (low <= 0 <= high):
        return interval
    if p < LEVEL:
        end = _outermost(0.0, value, p_at)
        return (end, high) if value > 0 else (low, end)
    near, bound = (low, bounds[0]) if low > 0 else (high, bounds[1])
    end = -2 * near
    while abs(end) < abs(bound) and p_at(end) >= LEVEL:
        end *= 2
    kept_at_bound = abs(end) >= abs(bound) and p_at(bound) >= LEVEL
    end = bound if kept_at_bound else _outermost(min(bound, end, key=abs), 0.0, p_at)
    return (end, high) if low > 0 else (low, end)


def _outermost(rejected: float, not_rejected: float, p_at: Callable[[float], float]) -> float:
    """The difference between one that is rejected and one that is kept from which on they are kept,
    by bisection.
    """
    for _ in range(_STEPS):
        middle = (rejected + not_rejected) / 2
        rejected, not_rejected = (
            (middle, not_rejected) if p_at(middle) < LEVEL else (rejected, middle)
        )
    return not_rejected
