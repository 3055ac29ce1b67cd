"""The sentence on how many cases a planned comparison takes."""

import math
from collections.abc import Mapping

from moot.core.config import PowerConfig
from moot.scores.contrasts import Contrast, measure_spread, sides_of
from moot.scores.inference_scope import assumed_spread, repeats_of
from moot.scores.results import ExperimentResults
from moot.stats.differences import Difference
from moot.stats.power import Goal, Spread, cases_needed
from moot.stats.within_cases import MIN_CASES


def describe_needed_cases(
    contrast: Contrast,
    experiments: Mapping[str, ExperimentResults],
    difference: Difference,
    power: PowerConfig,
    tests: int,
) -> str:
    """Return a sentence on how many cases show the planned difference; "" if it is unknown.

    The spread is estimated from the debates. If this is impossible, because of few cases or equal
    answers, that of `assumed_spread` is assumed; the sentence says so if there is none of few
    cases. Amounts have no planned difference.
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
    if spread is None and difference.cases < MIN_CASES:
        return (
            f"How many cases are needed cannot be estimated from {difference.cases:,}; it takes at"
            f" least {MIN_CASES}."
        )
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


def _known_spread(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults], difference: Difference
) -> Spread | None:
    """Return the spread of the debates; None with few cases, or if all debates agree."""
    if difference.cases < MIN_CASES or math.isnan(difference.difference):
        return None
    spread = measure_spread(contrast, experiments)
    return spread if sum(spread.variances((1, 1))) > 0 else None


def _describe_correction(tests: int) -> str:
    return f" after Holm's correction for {tests} tests" if tests > 1 else ""
