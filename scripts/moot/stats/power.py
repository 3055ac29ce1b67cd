"""The power of tests: which differences a number of cases and repeats can show.

Let v be the variance of a difference between cases. With R repeats, v = between + within / R. The
power of the two-sided t test at n cases, divided by the design effect (Kish 1965), is that of
statsmodels; sides with different cases have the variances v1 / n1 + v2 / n2 and n1 + n2 - 2 degrees
of freedom. For single debates of two sides that are right or wrong, v is at most the share of cases
that one side alone gets right.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.stats.arrays import Floats, as_numbers
from moot.stats.clusters import kinds_of_clusters

_MIN_CASES, _MAX_CASES, _MIN_DIFFERENCE = 2.0, 1e9, 1e-9
Sizes = float | tuple[float, ...]
"""Numbers of cases: a single number for paired sides or for both sides, or one number for each
side.
"""


@dataclass(frozen=True, slots=True)
class Goal:
    """A test to plan for: its two-sided level and its power."""

    level: float = 0.05
    power: float = 0.8


@dataclass(frozen=True, slots=True)
class Spread:
    """How the difference between two sides varies.

    Attributes:
        between_variance: the variance between cases of the mean difference over many repeats; one
            value for each side if cases differ.
        within: the variance that one repeat of all runs adds, for the first and the second side;
            NaN if each case was debated once, so that `between_variance` includes it.
        design: the design effect, the factor by which clusters of cases raise the variance of a
            mean; one value for each side if cases differ.
        cases: the number of debated cases; one for each side if cases differ.
    """

    between_variance: tuple[float, ...]
    within: tuple[float, float] = (float("nan"), float("nan"))
    design: tuple[float, ...] = (1.0, 1.0)
    cases: tuple[int, ...] = (0,)

    @property
    def is_split(self) -> bool:
        """Whether the variance within cases is known."""
        return not np.isnan(self.within).any()

    def variances(self, repeats: tuple[int, int]) -> tuple[float, ...]:
        """Return the variance between cases: of the difference, or of each side."""
        of_repeats = [
            variance / number if self.is_split else 0.0
            for variance, number in zip(self.within, repeats, strict=True)
        ]
        if len(self.between_variance) == 1:
            return (self.between_variance[0] + sum(of_repeats),)
        return self.between_variance[0] + of_repeats[0], self.between_variance[1] + of_repeats[1]

    def power(
        self, difference: float, cases: Sizes, repeats: tuple[int, int], level: float
    ) -> float:
        """Return the probability that the test shows a true difference, which must be above 0."""
        from statsmodels.stats.power import TTestIndPower, TTestPower  # slow to import

        variances = as_numbers(self.variances(repeats))
        sizes = as_numbers(cases) / as_numbers(self.design[: len(variances)])
        sizes = np.broadcast_to(sizes, variances.shape)
        if sizes.min() < _MIN_CASES:
            return 0.0
        if not variances.any():
            return 1.0
        if len(sizes) == 1:
            power = TTestPower().power(difference / variances[0] ** 0.5, sizes[0], level)
        else:
            pooled = (variances / sizes).sum() / (1 / sizes).sum()
            ratio = sizes[1] / sizes[0]
            effect = difference / pooled**0.5
            power = TTestIndPower().power(effect, sizes[0], level, ratio=ratio)
        return 1.0 if np.isnan(power) else float(power)  # scipy's t has no large noncentrality


def paired_proportions(discordant: float) -> Spread:
    """Return the spread of two shares of right answers on the same cases, each debated once.

    It follows from the share of cases that one side alone gets right.
    """
    return Spread((discordant,))


def share_against(threshold: float) -> Spread:
    """Return the spread of a share of single right debates that is near a threshold."""
    return Spread((threshold * (1 - threshold),))


def cases_needed(
    difference: float, spread: Spread, repeats: tuple[int, int] = (1, 1), goal: Goal | None = None
) -> float:
    """Return the number of cases, on each side, that shows a difference.

    The number is not rounded. It is infinite if no number suffices.
    """
    goal = goal or Goal()

    def surplus(logarithm: float) -> float:
        return spread.power(abs(difference), math.exp(logarithm), repeats, goal.level) - goal.power

    if not difference:
        return math.inf
    return math.exp(_root(surplus, math.log(_MIN_CASES), math.log(_MAX_CASES)))


def smallest_difference(
    cases: Sizes, spread: Spread, repeats: tuple[int, int] = (1, 1), goal: Goal | None = None
) -> float:
    """Return the smallest difference that these numbers of cases show; NaN if they show none."""
    goal = goal or Goal()
    highest = max(1.0, 100 * math.sqrt(max(spread.variances(repeats))))

    def surplus(candidate: float) -> float:
        return spread.power(candidate, cases, repeats, goal.level) - goal.power

    difference = _root(surplus, _MIN_DIFFERENCE, highest)
    return difference if math.isfinite(difference) else float("nan")


def _root(surplus: Callable[[float], float], low: float, high: float) -> float:
    """Return where the power suffices; infinite if it does not at the highest value."""
    from scipy.optimize import brentq  # registries are read at every start of Snakemake

    if surplus(high) < 0:
        return math.inf
    return low if surplus(low) >= 0 else float(brentq(surplus, low, high))


def estimate_spread(
    first: pd.DataFrame,
    second: pd.DataFrame,
    clusters: Iterable[Hashable],
    is_paired: bool,
) -> Spread:
    """Estimate the spread of a difference from the debates of both sides.

    Args:
        first, second: a row for each debate of a side, with its case and model, and its influence
            on the metric (value); on the same cases if `is_paired`.
        clusters: the cluster of each case, or a tuple with one of each kind, in the order of the
            cases' names; for unpaired sides, the first side's cases, then the second's.
        is_paired: whether both sides debated the same cases.
    """
    means, noise, repeat_variances = zip(*map(_summarise_cases, (first, second)), strict=True)
    parts = [(means[0] - means[1], sum(noise))] if is_paired else zip(means, noise, strict=True)
    clusters, between_variances, design, cases = list(clusters), [], [], []
    for values, noisy in parts:
        mine, clusters = clusters[: len(values)], clusters[len(values) :]
        deviations = values - values.mean()
        total = float((deviations**2).sum() / max(1, len(values) - 1))
        between_variances.append(total if np.isnan(sum(noise)) else max(0.0, total - noisy))
        design.append(_design_effect(deviations, mine))
        cases.append(len(values))
    within = [
        variance / side["model"].nunique()
        for variance, side in zip(repeat_variances, (first, second), strict=True)
    ]
    return Spread(tuple(between_variances), (within[0], within[1]), tuple(design), tuple(cases))


def _summarise_cases(debates: pd.DataFrame) -> tuple[Floats, float, float]:
    """Return the mean of each case over its models, and two variances of repeats.

    The first variance is what repeats add to that of these means, on average; the second is that
    between repeats of one case and model. Both are NaN without repeats.
    """
    runs = debates.groupby(["case", "model"])["value"]
    repeats = runs.size()
    squares = (debates["value"] - runs.transform("mean")) ** 2
    freedom = int((repeats - 1).sum())
    variance = float(squares.sum()) / freedom if freedom else float("nan")
    shares = (1 / repeats).groupby("case")
    noise = float((variance * shares.mean() / shares.size()).mean())
    return as_numbers(runs.mean().groupby("case").mean()), noise, variance


def _design_effect(deviations: Floats, clusters: Sequence[Hashable]) -> float:
    """Return the variance of a sum over clusters relative to independent cases; at least 1.

    With several kinds of clusters, the variances by one kind are added, by two kinds together
    subtracted, and so on.
    """
    sums = (
        (1 if number % 2 else -1) * float((np.bincount(codes, weights=deviations) ** 2).sum())
        for codes, number in kinds_of_clusters(clusters)
    )
    independent_variance = float((deviations**2).sum())
    return max(1.0, sum(sums) / independent_variance) if independent_variance else 1.0
