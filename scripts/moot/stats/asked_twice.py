"""How much more answers change after a modification than between repeats of the same prompt.

A model that samples gives different answers to the same prompt. Therefore some answers to two
prompts differ even if the model treats both prompts alike: with probabilities of 0.71 and 0.29 for
two answers, 41 % of pairs differ. The effect of a modification is the share of pairs that differ
between the two prompts, minus the mean share that differ within each prompt. This is half the
energy distance of Szekely and Rizzo (2013). It is 0 if both prompts get the same distribution of
answers, and above 0 otherwise.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from moot.stats.arrays import Column, Floats, Numbers, as_numbers
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import DIFFERENCE, mean_statistic

NO_FLOOR = "no baseline: nothing was asked twice; `repeats: 2` on either side provides one"
Distance = Callable[[Numbers, Numbers], Floats]


@dataclass(frozen=True, slots=True)
class Change:
    """How often answers change.

    Attributes:
        changed: the mean change between both prompts.
        between_repeats: the mean change between repeats of one prompt; NaN without repeats.
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
    """Return 1 if two answers differ, else 0; two missing answers do not differ."""
    are_missing = (first != first) & (second != second)  # noqa: PLR0124 - NaN alone
    return as_numbers((first != second) & ~are_missing.astype(bool))


def distance(first: Numbers, second: Numbers) -> Floats:
    """Return the distance between two numbers."""
    return as_numbers(np.abs(first - second))


def changes(
    first: Column,
    second: Column,
    distance_of: Distance,
    clusters: Mapping[str, Hashable],
    default_change: float = float("nan"),
) -> Change:
    """Compare answers to two prompts about the same cases with the repeats of each prompt.

    Answers of different repeats are compared, since a modified debate may share calls with the same
    repeat of the original. If each case has one answer per side, these two are compared.

    Args:
        first, second: the answers, by case and repeat.
        distance_of: how far two answers are apart, at most 1.
        clusters: of each case.
        default_change: the change between repeats if it is known without repeats: 0 for a trained
            model.
    """
    first_by_case, second_by_case = _group_by_case(first), _group_by_case(second)
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
    jackknife = ClusterJackknife([clusters[case] for case in repeated_cases])
    excess, low, high = jackknife.estimate(mean_statistic(change - repeat_change, DIFFERENCE))
    return Change(
        float(change.mean()), float(repeat_change.mean()), excess, low, high, len(repeated_cases)
    )


class _CaseAnswers(NamedTuple):
    """The answers of one side about one case, and the repeats that gave them."""

    values: Numbers
    repeats: Numbers


def _group_by_case(answers: Column) -> dict[str, _CaseAnswers]:
    """Return the answers about each case, in the order of the rows."""
    codes, cases = pd.factorize(answers.index.get_level_values(0))
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(cases) + 1))
    values = answers.to_numpy()[order]
    repeats = answers.index.get_level_values(1).to_numpy()[order]
    answers_by_case = {}
    for case, start, end in zip(cases, starts[:-1], starts[1:], strict=True):
        answers_by_case[str(case)] = _CaseAnswers(values[start:end], repeats[start:end])
    return answers_by_case


def _change_between_sides(
    first: _CaseAnswers, second: _CaseAnswers, distance_of: Distance
) -> float:
    sizes = distance_of(first.values[:, None], second.values[None, :])
    has_other_repeat = first.repeats[:, None] != second.repeats[None, :]
    return float((sizes[has_other_repeat] if has_other_repeat.any() else sizes).mean())


_pair_indices = lru_cache(maxsize=16)(np.triu_indices)
"""The rows and columns above the diagonal of a square matrix: each pair of repeats once."""


def _change_between_repeats(
    sides: Sequence[_CaseAnswers], distance_of: Distance, default_change: float
) -> float:
    """Return the mean change between two repeats, over both sides; else `default_change`."""
    side_means = []
    for side in sides:
        values = side.values
        first, second = _pair_indices(len(values), 1)
        if len(first):
            side_means.append(float(distance_of(values[first], values[second]).mean()))
    return float(np.mean(side_means)) if side_means else default_change
