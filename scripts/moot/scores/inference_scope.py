"""The population to which a comparison, or one run's metric, can be generalised.

It is either cases like the debated ones, or only the debated cases.

Intervals and tests by case apply to cases like the debated ones. If there are too few cases for
that, but each was debated several times, the debates within cases give an interval for these cases
only. The result then states how many cases could show the difference for others.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from moot.scores.contrasts import Contrast, SideDebates, measure, measure_spread, sides_of
from moot.scores.results import ExperimentResults
from moot.stats.arrays import Floats
from moot.stats.differences import Difference, difference_of
from moot.stats.power import Spread, cases_needed, paired_proportions, share_against
from moot.stats.statistic import Bounds
from moot.stats.within_cases import MIN_CASES, method_within, smallest_stratum

LIKE_THESE = "cases like these"
ACCURACY, OF_VALID = "accuracy", "accuracy_of_valid"
_MIN_CASES_OF_SPREAD = 5
"""The variance of five cases is known to a factor of eight, that of two to one of a thousand."""
_SHARES = {ACCURACY, OF_VALID, "valid"}


@dataclass(frozen=True, slots=True)
class ContrastResult:
    """A comparison and the population to which it applies.

    Attributes:
        difference: the difference.
        population: `LIKE_THESE`, or "these 5 cases".
        needed_cases: if there are too few cases, the number that could show this difference for
            cases like these; NaN if they are too few, or too much alike, to tell.
    """

    difference: Difference
    population: str = LIKE_THESE
    needed_cases: float = float("nan")


def evaluate_contrast(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults]
) -> ContrastResult | None:
    """Measure a contrast as `moot.scores.contrasts.measure`.

    With few cases, the result applies to these cases only.
    """
    difference = measure(contrast, experiments)
    if difference is None or difference.clusters >= MIN_CASES:
        return None if difference is None else ContrastResult(difference)
    sides = sides_of(contrast, experiments)
    within_cases = _difference_within_cases(contrast, sides)
    needed_cases = float("nan")
    if difference.cases >= _MIN_CASES_OF_SPREAD and not math.isnan(difference.difference):
        spread = measure_spread(contrast, experiments)
        if sum(spread.variances((1, 1))) > 0:
            needed_cases = cases_needed(difference.difference, spread, repeats_of(sides))
    needed_cases = math.ceil(needed_cases) if math.isfinite(needed_cases) else float("nan")
    if within_cases is None:
        return ContrastResult(difference, LIKE_THESE, needed_cases)
    return ContrastResult(within_cases, _these_cases(within_cases.cases), needed_cases)


def repeats_of(sides: tuple[SideDebates, SideDebates]) -> tuple[int, int]:
    """Return the minimum number of debates per case and model on the two sides."""
    first, second = (smallest_stratum(debates.runs) for debates in sides)
    return first, second


def assumed_spread(contrast: Contrast, discordant: float) -> Spread | None:
    """Return the spread of single debates that are right or wrong, without any debates.

    It follows from the share of cases that one side alone gets right, or from the threshold. It is
    None for other metrics, and for sides with different cases.
    """
    if not contrast.paired or not {side.metric for side in contrast.sides} <= _SHARES:
        return None
    threshold = contrast.second.threshold
    return paired_proportions(discordant) if threshold is None else share_against(threshold)


def evaluate_among_valid(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults]
) -> ContrastResult | None:
    """Measure the same contrast among valid answers.

    Return None if the metric is not accuracy, and if no answer is invalid.
    """
    if any(side.metric != ACCURACY for side in contrast.sides):
        return None
    rows = [(side, experiments[side.experiment].predictions) for side in contrast.sides]
    if all(
        (predictions.loc[predictions["model"].isin(side.models), "status"] == "valid").all()
        for side, predictions in rows
    ):
        return None
    first, second = (replace(side, metric=OF_VALID) for side in contrast.sides)
    return evaluate_contrast(replace(contrast, first=first, second=second), experiments)


def carried_note(difference: float, among_valid: float) -> str:
    """Return a note that a difference is due to invalid answers, with both numbers."""
    return (
        f"invalid answers carry the difference ({difference:+.3f} with them as wrong, "
        f"{among_valid:+.3f} without)"
    )


def _these_cases(cases: int) -> str:
    return f"these {cases} case{'s' * (cases != 1)}"


def _is_one_run(contrast: Contrast) -> bool:
    """Return whether both sides are measured of the same debates."""
    first, second = contrast.sides
    return (first.experiment, first.models, first.cases) == (
        second.experiment,
        second.models,
        second.cases,
    )


def _difference_within_cases(
    contrast: Contrast, sides: tuple[SideDebates, SideDebates]
) -> Difference | None:
    """Estimate the difference by debates within cases; None if a case was debated once.

    If both sides are measured on the same run, they share the debates.
    """
    one_run, threshold = _is_one_run(contrast), contrast.second.threshold
    first, second = (debates.runs for debates in sides)
    strata = (
        first if one_run else [("first", *of) for of in first] + [("second", *of) for of in second]
    )
    if smallest_stratum(strata) <= 1 or (one_run and first != second):
        return None
    first_sums, second_sums = (debates.shared for debates in sides)
    values = first_sums.total(), second_sums.total()
    second_start = 0 if one_run else len(first)

    def difference_of_weights(weights: Floats) -> Floats:
        return first_sums.value(weights[:, : len(first)]) - second_sums.value(
            weights[:, second_start:]
        )

    size = max(1.0, *map(abs, values))
    if threshold is None:
        method = method_within(difference_of_weights, strata, _bounds(sides), size=size)
    else:
        bounds = sides[0].terms.bounds
        method = method_within(first_sums.value, strata, bounds, threshold, size)
    cases = len(set(sides[0].terms.case_ids) | set(sides[1].terms.case_ids))
    return difference_of(values, method, (cases, cases), contrast.margin)


def _bounds(sides: tuple[SideDebates, SideDebates]) -> Bounds:
    low, high = (debates.terms.bounds for debates in sides)
    return low[0] - high[1], low[1] - high[0]
