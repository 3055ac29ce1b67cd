"""How small a difference a number of cases and repeats can show, and how many are needed to show a given one.

Let d be the difference between both sides of a case, and M its second moment, so that M - delta^2 is its variance under
a true difference delta. The two-sided test at level alpha has power 1 - beta where

    delta sqrt(n) = t(1 - alpha/2, n - 1) sqrt(M) + z(1 - beta) sqrt(M - delta^2)

(Connor 1987, Biometrics 43, for paired proportions, where M is the share of cases that one side alone gets right). n is
the number of cases over their design effect (Kish 1965). With R repeats, M = between + within / R + delta_0^2, where
delta_0 is the difference in the debates that both variances come from. Sides of different cases have between + within /
R under both roots. Fleiss, Tytun and Ury (1980) give the correction for a test that counts cases: McNemar's exact one,
which moot takes where each case was debated once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from moot.stats.bootstrap import Floats, as_numbers

_ROUNDS = 60
_FEWEST = 2.0
_MOST = 1e9


@dataclass(frozen=True, slots=True)
class Goal:
    """A test to plan for: its two-sided level, and the power that it shall have."""

    level: float = 0.05
    power: float = 0.8


@dataclass(frozen=True, slots=True)
class Spread:
    """How the difference between two sides varies.

    Attributes:
        difference: in the debates that this was estimated from.
        between: variance between cases of the difference that many repeats would come to.
        within: variance that one repeat of all runs of either side adds, first and second; NaN where each case was
            debated once, so that it is part of `between`.
        design: the design effect: by how much clusters of cases raise the variance of a mean.
        cases: how many cases were debated, by the first side.
        paired: whether both sides debated the same cases.
        counted: whether a debate is right or wrong, so that an exact test counts cases that were debated once.
    """

    difference: float
    between: float
    within: tuple[float, float]
    design: float = 1.0
    cases: int = 0
    paired: bool = True
    counted: bool = False

    @property
    def is_split(self) -> bool:
        """Whether variance within cases is known."""
        return not np.isnan(self.within).any()

    def moments(self, repeats: tuple[int, int], difference: float) -> tuple[float, float]:
        """The mean square of a case's difference between equal sides, and its variance under a true difference."""
        once = [within / number for within, number in zip(self.within, repeats, strict=True)] if self.is_split else []
        variance = self.between + sum(once)
        if not self.paired:
            return variance, variance
        square = max(variance + self.difference**2, difference**2)
        return square, square - difference**2

    def is_exact(self, repeats: tuple[int, int]) -> bool:
        """Whether the test with these repeats counts cases."""
        return self.counted and repeats == (1, 1)


def paired_proportions(discordant: float) -> Spread:
    """The spread of two shares of right answers on the same cases, each debated once.

    Args:
        discordant: the share of cases that one side alone gets right.
    """
    return Spread(0.0, discordant, (float("nan"), float("nan")))


def cases_needed(
    difference: float, spread: Spread, repeats: tuple[int, int] = (1, 1), goal: Goal | None = None
) -> float:
    """The number of cases that show a difference, not rounded; infinite where a difference is 0."""
    goal = goal or Goal()
    if not difference:
        return float("inf")
    equal, apart = spread.moments(repeats, difference)
    n = _FEWEST
    for _ in range(_ROUNDS):
        of_level, of_power = _quantiles(goal, n)
        n = max(_FEWEST, (of_level * math.sqrt(equal) + of_power * math.sqrt(apart)) ** 2 / difference**2)
    if spread.is_exact(repeats):
        n *= (1 + (1 + 4 / (n * abs(difference))) ** 0.5) ** 2 / 4
    return n * spread.design


def smallest_difference(
    cases: float, spread: Spread, repeats: tuple[int, int] = (1, 1), goal: Goal | None = None
) -> float:
    """The smallest difference that a number of cases shows; NaN where no difference can be shown."""
    low, high = 0.0, max(1.0, 100 * math.sqrt(spread.moments(repeats, 0.0)[0]))
    if cases < _FEWEST * spread.design or cases_needed(high, spread, repeats, goal) > cases:
        return float("nan")
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if cases_needed(middle, spread, repeats, goal) <= cases else (middle, high)
    return high


def _quantiles(goal: Goal, n: float) -> tuple[float, float]:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - registries are read at every start of Snakemake

    return float(stdtrit(max(1.0, n - 1), 1 - goal.level / 2)), float(ndtri(goal.power))


@dataclass(frozen=True, slots=True)
class Design:
    """Numbers of cases and repeats that show a difference, and what they cost."""

    cases: int
    repeats: int
    cost: float


def cheapest(
    difference: float, spread: Spread, cost: float, available: float, goal: Goal | None = None, most_repeats: int = 20
) -> Design | None:
    """The cheapest design that shows a difference.

    As long as there are cases, one repeat is cheapest: repeats lower the variance within cases alone, further cases
    both. Repeats pay where cases run out, and where so few are needed that the exact test of single debates loses most.

    Args:
        difference: to be shown.
        spread: of the difference.
        cost: of one debate of every run of either side.
        available: how many cases there are.
        goal: level and power.
        most_repeats: that are considered; one, where the variance within cases is not known.

    Returns:
        None where no such number of repeats shows it on the cases that there are.
    """
    designs = []
    for repeats in range(1, (most_repeats if spread.is_split else 1) + 1):
        cases = int(np.ceil(min(cases_needed(difference, spread, (repeats, repeats), goal), _MOST)))
        if cases <= available:
            designs.append(Design(cases, repeats, cases * repeats * cost))
    return min(designs, key=lambda design: (design.cost, design.cases * design.repeats), default=None)


@dataclass(frozen=True)
class Observed:
    """One side's debates.

    Attributes:
        values: each debate's influence on the metric, shape (debates,).
        cases: the case of each.
        runs: the run (model) of each.
    """

    values: Floats
    cases: Sequence[str]
    runs: Sequence[str]

    def by_case(self) -> tuple[Floats, Floats]:
        """The mean of each case's debates, in the order of the cases' names, and how many debates these are."""
        _, codes = np.unique(np.asarray(self.cases, dtype=str), return_inverse=True)
        counts = as_numbers(np.bincount(codes))
        return as_numbers(np.bincount(codes, weights=self.values)) / counts, counts

    def within(self) -> float:
        """The variance between repeats of one case and run; NaN without repeats."""
        names = [f"{case}\x1f{run}" for case, run in zip(self.cases, self.runs, strict=True)]
        _, codes = np.unique(np.asarray(names, dtype=str), return_inverse=True)
        counts = np.bincount(codes)
        means = np.bincount(codes, weights=self.values) / counts
        freedom = int((counts - 1).sum())
        return float(((self.values - means[codes]) ** 2).sum() / freedom) if freedom else float("nan")


def estimate_spread(
    first: Observed, second: Observed, difference: float, clusters: ArrayLike, paired: bool, counted: bool = False
) -> Spread:
    """The spread of a difference, by the debates of both sides.

    Args:
        first: debates of the first side.
        second: of the second; of the same cases if `paired`.
        difference: between both sides.
        clusters: the cluster of each case, in the order of their names; of the first side's cases, then the second's,
            if they are not paired.
        paired: whether cases are paired.
        counted: whether debates are right or wrong.
    """
    sides = first, second
    means, counts = zip(*(side.by_case() for side in sides), strict=True)
    within = [side.within() for side in sides]
    noise = [float((variance / count).mean()) for variance, count in zip(within, counts, strict=True)]
    deviations = [means[0] - means[1]] if paired else list(means)
    deviations = [values - values.mean() for values in deviations]
    total = sum(float((values**2).sum() / max(1, len(values) - 1)) for values in deviations)
    known = not np.isnan(noise).any()
    runs = [len(set(side.runs)) for side in sides]
    return Spread(
        difference,
        max(0.0, total - sum(noise)) if known else total,
        (within[0] / runs[0], within[1] / runs[1]),
        _design_effect(np.concatenate(deviations), clusters),
        len(means[0]),
        paired,
        counted and paired and max(runs) == 1,
    )


def _design_effect(deviations: Floats, clusters: ArrayLike) -> float:
    """The variance of the sum of clusters over that of as many independent cases; at least 1."""
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(codes, weights=deviations)
    alone = float((deviations**2).sum())
    return max(1.0, float((sums**2).sum()) / alone) if alone else 1.0
