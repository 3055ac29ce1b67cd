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
Distance = Callable[[Numbers, Numbers], Floats]


@dataclass(frozen=True, slots=True)
class Change:
    """How often answers change.

    Attributes:
        changed: the mean change between both prompts.
        between_repeats: that between repeats of one prompt; NaN without repeats.
        more, low, high: the difference between them, with its 95 % interval by cluster; NaN without
            repeats.
        cases: how many cases this rests on.
    """

    changed: float
    between_repeats: float
    excess: float
    low: float
    high: float
    cases: int


def differ(first: Numbers, second: Numbers) -> Floats:
    """1 where two answers differ, else 0."""
    return as_numbers(first != second)


def distance(first: Numbers, second: Numbers) -> Floats:
    """Return how far two numbers are apart."""
    return as_numbers(np.abs(first - second))


def changes(
    first: Column,
    second: Column,
    distance_of: Distance,
    clusters: Mapping[str, Hashable],
    seed: int,
    default_change: float = float("nan"),
) -> Change:
    """Compare answers to two prompts about the same cases with repeats of either.

    Answers of different repeats are compared, since a changed debate may share calls with the same
    repeat of the original; where each case has one answer a side, these two are.

    Args:
        first, second: the answers, by case and repeat.
        distance_of: how far two answers are apart, at most 1.
        clusters, seed: of each case, and of the bootstrap over them.
        default_change: what changes when the same is asked twice, where that is known: 0 for a
            trained model.
    """
    first_by_case = {str(case): answers for case, answers in first.groupby(level=0)}
    second_by_case = {str(case): answers for case, answers in second.groupby(level=0)}
    by_case = {
        case: (
            _change_between_sides(first_by_case[case], second_by_case[case], distance_of),
            _change_between_repeats(
                [first_by_case[case], second_by_case[case]], distance_of, default_change
            ),
        )
        for case in sorted(set(first_by_case) & set(second_by_case))
    }
    repeated_cases = [
        case for case, (_, repeat_change) in by_case.items() if not np.isnan(repeat_change)
    ]
    if not repeated_cases:
        undefined = float("nan")
        mean = float(np.mean([change for change, _ in by_case.values()])) if by_case else undefined
        return Change(mean, undefined, undefined, undefined, undefined, len(by_case))
    change, repeat_change = as_numbers([by_case[case] for case in repeated_cases]).T
    bootstrap = ClusterBootstrap([clusters[case] for case in repeated_cases], seed)
    excess, low, high = bootstrap.estimate(mean_statistic(change - repeat_change, DIFFERENCE))
    return Change(
        float(change.mean()), float(repeat_change.mean()), excess, low, high, len(repeated_cases)
    )


def _change_between_sides(first: Column, second: Column, distance_of: Distance) -> float:
    sizes = distance_of(first.to_numpy()[:, None], second.to_numpy()[None, :])
    repeats = [side.index.get_level_values(1).to_numpy() for side in (first, second)]
    has_other_repeat = repeats[0][:, None] != repeats[1][None, :]
    return float((sizes[has_other_repeat] if has_other_repeat.any() else sizes).mean())


def _change_between_repeats(
    sides: Sequence[Column], distance_of: Distance, default_change: float
) -> float:
    """Return the mean over both sides of what changes between two of its repeats; `default_change`
    where neither has two.
    """
    side_means = []
    for side in sides:
        values = side.to_numpy()
        first, second = np.triu_indices(len(values), 1)
        if len(first):
            side_means.append(float(distance_of(values[first], values[second]).mean()))
    return float(np.mean(side_means)) if side_means else default_change
