"""How much more answers change after a modification than between repeats of the same prompt.

A model that samples gives different answers to the same prompt. Therefore some answers to two
prompts differ even if the model treats both prompts alike: with probabilities of 0.71 and 0.29 for
two answers, 41 % of pairs differ. The effect of a modification is the share of pairs that differ
between the two prompts, minus the mean share that differ within each prompt. This is half the
energy distance of Szekely and Rizzo (2013). It is 0 if both prompts get the same distribution of
answers, and above 0 otherwise.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.stats.arrays import Column, Floats, Values, as_numbers
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import DIFFERENCE, mean_statistic

NO_FLOOR = "no baseline: nothing was asked twice; `repeats: 2` on either side provides one"
Distance = Callable[[Values, Values], Floats]


@dataclass(frozen=True, slots=True)
class Change:
    """How often answers change.

    Attributes:
        changed: the mean change between both prompts.
        between_repeats: the mean change between repeats of one prompt; NaN without repeats.
        excess, low, high: the difference between them, with its 95 % interval by cluster; NaN
            without repeats.
        cases: how many cases this rests on.
    """

    changed: float
    between_repeats: float
    excess: float
    low: float
    high: float
    cases: int


def differ(first: Values, second: Values) -> Floats:
    """Return 1 if two answers differ, else 0; two missing answers do not differ."""
    answers = [pd.Series(np.asarray(side, dtype=object)) for side in (first, second)]
    are_missing = answers[0].isna() & answers[1].isna()
    return as_numbers((answers[0] != answers[1]) & ~are_missing)


def distance(first: Values, second: Values) -> Floats:
    """Return the distance between two numbers."""
    return np.abs(as_numbers(first) - as_numbers(second))


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
    sides = [_by_case(first), _by_case(second)]
    repeat_changes = [_mean_distances(side, side, distance_of).dropna() for side in sides]
    by_case = pd.DataFrame(
        {
            "changed": _mean_distances(sides[0], sides[1], distance_of),
            "between repeats": pd.concat(repeat_changes).groupby(level=0).mean(),
        }
    )
    by_case = by_case.dropna(subset="changed").fillna({"between repeats": default_change})
    repeated = by_case.dropna()
    if repeated.empty:
        undefined = float("nan")
        return Change(
            by_case["changed"].mean(), undefined, undefined, undefined, undefined, len(by_case)
        )
    jackknife = ClusterJackknife([clusters[case] for case in repeated.index])
    excess = mean_statistic(repeated["changed"] - repeated["between repeats"], DIFFERENCE)
    changed, between_repeats = (float(mean) for mean in repeated.mean())
    return Change(changed, between_repeats, *jackknife.estimate(excess), len(repeated))


def _by_case(answers: Column) -> pd.DataFrame:
    cases, repeats = (answers.index.get_level_values(level) for level in range(2))
    frame = pd.DataFrame({"case": cases.astype(str), "repeat": repeats, "value": answers.array})
    return frame.rename_axis("number").reset_index()


def _mean_distances(first: pd.DataFrame, second: pd.DataFrame, distance_of: Distance) -> Column:
    """Return the mean distance of two answers about each case that are of different repeats.

    If both sides have a single answer, these two are compared; an answer is not compared with
    itself.
    """
    pairs = first.merge(second, on="case", suffixes=("", " of second"))
    distances = pd.Series(distance_of(pairs["value"], pairs["value of second"]))
    if first is second:
        is_other = pairs["number"] != pairs["number of second"]
    else:
        is_other = pairs["repeat"] != pairs["repeat of second"]
        is_other |= ~is_other.groupby(pairs["case"]).transform("any")
    return distances.where(is_other).groupby(pairs["case"]).mean()
