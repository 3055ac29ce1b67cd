"""How much more answers change when something is changed than when the same is asked twice.

A model that samples gives other answers to the same prompt. So of answers to two prompts some
differ even if the prompts mean the same to it: with one answer of probability 0.71 and another of
0.29, in 41 % of cases. What a change does is the share of pairs of answers that differ between both
prompts, less the mean share that differ within either (half the energy distance of Szekely and
Rizzo, 2013): 0 where both are answered alike, at any noise, else above.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from moot.stats.bootstrap import (
    DIFFERENCE,
    ClusterBootstrap,
    Column,
    Floats,
    Numbers,
    as_numbers,
    mean_statistic,
)

NO_FLOOR = "no floor: nothing was asked twice; `repeats: 2` on either side gives one"
Apart = Callable[[Numbers, Numbers], Floats]


@dataclass(frozen=True, slots=True)
class Changed:
    """How often answers change.

    Attributes:
        changed: the mean change between both prompts.
        again: that between repeats of one prompt; NaN without repeats.
        more, low, high: the difference between them, with its 95 % interval by cluster; NaN without
            repeats.
        cases: how many cases this rests on.
    """

    changed: float
    again: float
    more: float
    low: float
    high: float
    cases: int


def differ(one: Numbers, other: Numbers) -> Floats:
    """1 where two answers differ, else 0."""
    return as_numbers(one != other)


def distance(one: Numbers, other: Numbers) -> Floats:
    """How far two numbers are apart."""
    return as_numbers(np.abs(one - other))


def changes(
    first: Column,
    second: Column,
    apart: Apart,
    clusters: Mapping[str, Hashable],
    seed: int,
    known: float = float("nan"),
) -> Changed:
    """Compare answers to two prompts about the same cases with repeats of either.

    Answers of different repeats are compared, since a changed debate may share calls with the same
    repeat of the original; where each case has one answer a side, these two are.

    Args:
        first, second: the answers, by case and repeat.
        apart: how far two answers are apart, at most 1.
        clusters, seed: of each case, and of the bootstrap over them.
        known: what changes when the same is asked twice, where that is known: 0 for a trained
            model.
    """
    one, other = (
        {str(case): answers for case, answers in side.groupby(level=0)} for side in (first, second)
    )
    found = {
        case: (
            _between(one[case], other[case], apart),
            _again([one[case], other[case]], apart, known),
        )
        for case in sorted(set(one) & set(other))
    }
    judged = [case for case, (_, again) in found.items() if not np.isnan(again)]
    if not judged:
        nothing = float("nan")
        mean = float(np.mean([change for change, _ in found.values()])) if found else nothing
        return Changed(mean, nothing, nothing, nothing, nothing, len(found))
    change, again = as_numbers([found[case] for case in judged]).T
    bootstrap = ClusterBootstrap([clusters[case] for case in judged], seed)
    more, low, high = bootstrap.estimate(mean_statistic(change - again, DIFFERENCE))
    return Changed(float(change.mean()), float(again.mean()), more, low, high, len(judged))


def _between(one: Column, other: Column, apart: Apart) -> float:
    sizes = apart(one.to_numpy()[:, None], other.to_numpy()[None, :])
    repeats = [side.index.get_level_values(1).to_numpy() for side in (one, other)]
    elsewhere = repeats[0][:, None] != repeats[1][None, :]
    return float((sizes[elsewhere] if elsewhere.any() else sizes).mean())


def _again(sides: Sequence[Column], apart: Apart, known: float) -> float:
    """The mean over both sides of what changes between two of its repeats;
    `known` where neither has two.
    """
    within = []
    for side in sides:
        values = side.to_numpy()
        first, second = np.triu_indices(len(values), 1)
        if len(first):
            within.append(float(apart(values[first], values[second]).mean()))
    return float(np.mean(within)) if within else known
