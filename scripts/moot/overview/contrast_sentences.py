"""Sentences on a planned comparison: whether the answers differ, and how many cases it takes."""

import math
from collections import Counter
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
    pairs = _pair_answers(contrast, experiments)
    cases: dict[str, bool] = {}
    for case, first_counts, second_counts in pairs:
        if first_counts.keys() | second_counts.keys() != {INVALID}:
            cases[case] = cases.get(case, True) and _are_equal(first_counts, second_counts)
    common_cases = {case for case, *_ in pairs}
    has_several = len(pairs) > len(common_cases) or any(pair[1].total() > 1 for pair in pairs)
    sentences: list[str] = []
    if cases:
        changes = sum(not is_equal for is_equal in cases.values())
        sentences.append(_count_changes(changes, len(cases), has_several=has_several))
    if count := len(common_cases - cases.keys()):
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


def _pair_answers(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults]
) -> list[tuple[str, Counter[str], Counter[str]]]:
    """Return the case and the answers of both sides for each common case, by model if both sides
    have the same models.
    """
    has_same_models = contrast.sides[0].models == contrast.sides[1].models
    first_answers, second_answers = (
        _answers(side, experiments[side.experiment], by_model=has_same_models)
        for side in contrast.sides
    )
    common_cases = set(sides_of(contrast, experiments)[0].terms.case_ids)
    return [
        (key[0], first_answers[key], second_answers[key])
        for key in first_answers.keys() & second_answers.keys()
        if key[0] in common_cases
    ]


def _are_equal(first: Counter[str], second: Counter[str]) -> bool:
    """Return whether both sides gave each answer as often, as a share of their repeats."""
    totals = first.total(), second.total()
    return first.keys() == second.keys() and all(
        first[answer] * totals[1] == second[answer] * totals[0] for answer in first
    )


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


def _answers(
    side: Side, results: ExperimentResults, *, by_model: bool
) -> dict[tuple[str, str], Counter[str]]:
    """Return how often each answer was given to each case; by case and model if `by_model`."""
    rows = results.predictions
    rows = rows[rows["model"].isin(side.models)]
    valid_answers = rows["prediction"].where(rows["status"] == "valid", INVALID).astype(str)
    models = rows["model"] if by_model else pd.Series("", index=rows.index)
    answers: dict[tuple[str, str], Counter[str]] = {}
    for case, model, answer in zip(rows["case_id"], models, valid_answers, strict=True):
        answers.setdefault((str(case), str(model)), Counter())[answer] += 1
    return answers


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
