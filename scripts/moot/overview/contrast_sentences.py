"""Sentences on a planned comparison: whether the answers differ, and how many cases it takes."""

import math
from collections.abc import Mapping

import pandas as pd

from moot.core.config import PowerConfig
from moot.scores.contrasts import Contrast, Side, measure_spread, sides_of
from moot.scores.inference_scope import assumed_spread, repeats_of
from moot.scores.results import ExperimentResults
from moot.stats.differences import Difference
from moot.stats.power import Goal, Spread, cases_needed
from moot.stats.within_cases import FEWEST_CASES

ANSWER_METRICS = frozenset({"accuracy", "accuracy_of_valid", "valid", "f1", "macro_f1"})
"""The metrics that compare answers, so that equal answers give equal values."""
INVALID = ""
"""The value of every invalid answer."""


def describe_contrast(
    contrast: Contrast,
    experiments: Mapping[str, ExperimentResults],
    difference: Difference,
    power: PowerConfig,
    tests: int,
    *,
    is_answered: bool,
) -> str:
    """Return the sentences of a planned comparison; "" if there are none.

    Args:
        contrast: the comparison.
        experiments: the results of its sides, by experiment.
        difference: its result.
        power: the difference to show, and the test to plan for.
        tests: the number of tests that are corrected together.
        is_answered: whether the expectation is met or refuted. More cases then need no sentence.
    """
    sentences = list[str]()
    if {side.metric for side in contrast.sides} <= ANSWER_METRICS:
        sentences.append(describe_equal_answers(contrast, experiments))
    if not is_answered:
        sentences.append(describe_needed_cases(contrast, experiments, difference, power, tests))
    return " ".join(filter(None, sentences))


def describe_equal_answers(contrast: Contrast, experiments: Mapping[str, ExperimentResults]) -> str:
    """Return a sentence on how many cases got different answers; "" if both sides are one run.

    The answers to a case are equal if each model gave each answer as often on both sides. A case to
    which neither side gave a valid answer is counted apart.
    """
    first, second = contrast.sides
    if not contrast.paired or (first.experiment, first.models) == (
        second.experiment,
        second.models,
    ):
        return ""
    has_same_models = contrast.first.models == contrast.second.models
    first_rows, second_rows = (
        _answers(side, experiments[side.experiment], by_model=has_same_models)
        for side in contrast.sides
    )
    first_shares, second_shares = (
        pd.crosstab([rows["case_id"], rows["model"]], rows["answer"], normalize="index")
        for rows in (first_rows, second_rows)
    )
    first_shares, second_shares = first_shares.align(second_shares, "outer", axis=1, fill_value=0)
    common = first_shares.index.intersection(second_shares.index)
    cases = sides_of(contrast, experiments)[0].terms.case_ids
    common = common[common.get_level_values(0).isin(cases)]
    first_shares, second_shares = first_shares.loc[common], second_shares.loc[common]
    is_answered = ((first_shares + second_shares).drop(columns=INVALID, errors="ignore") > 0).any(
        axis=1
    )
    differs = (first_shares != second_shares).any(axis=1)[is_answered].groupby(level=0).any()
    has_several = first_rows["case_id"].isin(cases).sum() > common.get_level_values(0).nunique()
    sentences: list[str] = []
    if len(differs):
        sentences.append(_count_changes(differs.sum(), len(differs), has_several=has_several))
    if count := common.get_level_values(0).nunique() - len(differs):
        sentences.append(f"Neither side gave a valid answer on {count:,} cases.")
    return " ".join(sentences)


def _count_changes(changes: int, cases: int, *, has_several: bool) -> str:
    """Return the sentence on changes; `has_several` if cases have answers of several models or
    repeats.
    """
    number = f"{changes:,} of {cases:,}" if changes else f"all {cases:,}"
    place = f"{number} cases" if cases > 1 else "the only case"
    kind = "different" if changes else "the same"
    scope = ", in some model or repeat" if changes and has_several else ""
    return f"The two sides gave {kind} answers on {place}{scope}."


def describe_needed_cases(
    contrast: Contrast,
    experiments: Mapping[str, ExperimentResults],
    difference: Difference,
    power: PowerConfig,
    tests: int,
) -> str:
    """Return a sentence on how many cases show the planned difference; "" if it is unknown.

    The spread is estimated from the debates. If this is impossible, because of few cases or equal
    answers, that of `assumed_spread` is assumed. Amounts have no planned difference.
    """
    sides = sides_of(contrast, experiments)
    if not all(math.isfinite(debates.terms.bounds[1]) for debates in sides):
        return ""
    spread = _known_spread(contrast, experiments, difference)
    repeats, assumption = repeats_of(sides), ""
    if spread is None:
        spread, repeats = assumed_spread(contrast, power.discordant_share), (1, 1)
        assumption = f", if only one side is right on {power.discordant_share:.0%} of them"
        if (threshold := contrast.second.threshold) is not None:
            assumption = f", if {threshold:.0%} of them are right"
    if spread is None:
        return ""
    goal = Goal(power.level / max(1, tests), power.power)
    needed_cases = cases_needed(power.difference, spread, repeats, goal)
    if not math.isfinite(needed_cases):
        return ""
    number, available = math.ceil(needed_cases), difference.cases
    if not contrast.paired:
        available = min(len(set(debates.terms.case_ids)) for debates in sides)
    per_side = "" if contrast.paired else " on each side"
    suffice = ", which suffice" if available >= number else ""
    return (
        f"To show a difference of {power.difference:g} with {power.power:.0%} power"
        f"{_describe_correction(tests)}, about {number:,} cases{per_side} are needed{assumption};"
        f" this run has {available:,}{suffice}."
    )


def _answers(side: Side, results: ExperimentResults, *, by_model: bool) -> pd.DataFrame:
    """Return case, answer and, if `by_model`, model of each debate of a side."""
    rows = results.predictions[results.predictions["model"].isin(side.models)]
    answers = rows["prediction"].where(rows["status"] == "valid", INVALID)
    models = rows["model"] if by_model else ""
    return rows[["case_id"]].assign(model=models, answer=answers).astype(str)


def _known_spread(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults], difference: Difference
) -> Spread | None:
    """Return the spread of the debates; None with few cases, or if all debates agree."""
    if difference.cases < FEWEST_CASES or math.isnan(difference.difference):
        return None
    spread = measure_spread(contrast, experiments)
    return spread if sum(spread.variances((1, 1))) > 0 else None


def _describe_correction(tests: int) -> str:
    return f" after Holm's correction for {tests} tests" if tests > 1 else ""
