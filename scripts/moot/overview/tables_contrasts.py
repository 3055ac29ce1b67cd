"""The table of planned comparisons, tested and corrected together, in each study that has some."""

import math
from collections.abc import Iterator, Mapping
from math import isnan

from moot.core.config import PowerConfig
from moot.core.errors import CannotTellError
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent, has_contrasts
from moot.report.study_questions import EITHER_SIDE
from moot.report.study_results import StudyResults
from moot.scores.contrasts import (
    CANNOT_TELL,
    DIFFER,
    FIRST_HIGHER,
    FIRST_LOWER,
    NOT_SUPPORTED,
    SUPPORTED,
    Contrast,
    group_by_family,
    judge,
    measure_spread,
    sides_of,
)
from moot.scores.inference_scope import (
    ContrastResult,
    assumed_spread,
    carried_note,
    evaluate_among_valid,
    evaluate_contrast,
    repeats_of,
)
from moot.scores.results import ExperimentResults
from moot.stats.differences import PAIRED_NOTE, UNPAIRED_NOTE, Difference
from moot.stats.intervals import TEST_LEVEL
from moot.stats.paired import holm
from moot.stats.power import Goal, Spread, cases_needed
from moot.stats.within_cases import MIN_CASES

EXPECTED = {FIRST_HIGHER: "first higher", FIRST_LOWER: "first lower", DIFFER: EITHER_SIDE}
NO_CASES = "no case was argued by both; expected common cases, or `paired: false`"
MARGIN_NOTE = (
    "Equivalent: `supported` if two one-sided tests (Schuirmann 1987) show that the difference is "
    "within the margin, above and below 0. Their p, after Holm's correction over the contrasts of "
    "the study, is then below 0.05."
)
COLUMNS = (
    Columns()
    .keys("study")
    .plain(
        "contrast", "question", "published", "first", "second", "threshold", "metric", "expected"
    )
    .ours("first value", "second value")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p", "p (Holm)")
    .counts("tests in family", "cases", "clusters")
    .plain("speaks of")
    .counts("cases needed")
    .plain("answer", "margin", "p of equivalence", "p of equivalence (Holm)", "equivalent")
    .estimate("valid answers alone", "valid", digits=SIGNED)
    .counts("cases with valid")
    .plain("not tested because", "in words")
)


@table(EVERY_STUDY_AND_COMPARISON, "contrasts", "Planned comparisons", needs=(has_contrasts,))
def contrasts(results: StudyResults) -> TableContent:
    """The planned comparisons, with intervals by cluster and Holm's correction."""
    rows: list[Row] = []
    for family in group_by_family(results.contrasts).values():
        rows += _rows(results, family)
    return COLUMNS.table(
        rows,
        [
            (
                "Confirmatory: these comparisons were named in the configuration (`contrasts:`)."
                " Holm's correction is over all of them in one study that this run tests (`tests in"
                " family`). All other tests are exploratory."
            ),
            *results.plan_history,
            (
                "A case counts by the mean of its debates, first of each model, an invalid answer"
                " as wrong; a model counts on the cases that it argued on both sides."
                f" {PAIRED_NOTE} If the sides argued different cases (`paired: false`):"
                f" {UNPAIRED_NOTE}"
            ),
            (
                f"Speaks of: the cases to which a row applies. With fewer than {MIN_CASES} "
                "cases (or clusters of cases) that were each debated several times, debates are "
                "compared within cases, p follows from the interval, and the row applies to these "
                "cases only. `cases needed` is the number that could show this difference for "
                "cases like these, with 80 % power; fewer than five cases, or equal ones, cannot "
                "tell."
            ),
            (
                "Valid answers alone: the difference among valid answers, if some answers are "
                "invalid, on the cases with valid answers on both sides. If it has another "
                "answer, invalid answers carry the difference."
            ),
            (
                f"Answer: `{SUPPORTED}` if p (Holm) is below 0.05 and the difference is on the "
                f"expected side; `{NOT_SUPPORTED}` if it is on the other side; `{CANNOT_TELL}` if "
                "p (Holm) is not below 0.05, which is not evidence of equality."
            ),
            (
                "In words: without an answer to the question, how many cases it takes to show the"
                " difference that `power: difference` plans for. The variances come from this run;"
                f" with fewer than {MIN_CASES} cases, or if all answers agree, `power:"
                " discordant_share` is assumed."
            ),
            *([MARGIN_NOTE] if any(contrast.margin for contrast in results.contrasts) else []),
        ],
    )


def _rows(results: StudyResults, family: list[Contrast]) -> Iterator[Row]:
    answers = [_measure(results, contrast) for contrast in family]
    adjusted = holm([result.difference.p if result else float("nan") for result, _ in answers])
    adjusted_equivalence = holm(
        [result.difference.equivalence if result else float("nan") for result, _ in answers]
    )
    tests = sum(p == p for p in adjusted)  # noqa: PLR0124 - NaN means no test
    for contrast, (result, reason), p, p_equivalence in zip(
        family, answers, adjusted, adjusted_equivalence, strict=True
    ):
        metric = " against ".join(dict.fromkeys(side.metric for side in contrast.sides))
        row: Row = {
            "study": contrast.family,
            "contrast": contrast.name,
            "question": contrast.question,
            "published": contrast.published,
            "threshold": contrast.second.threshold,
            "first": str(contrast.first),
            "second": str(contrast.second),
            "metric": metric,
            "expected": EXPECTED[contrast.direction],
            "not tested because": reason,
        }
        if result:
            difference = result.difference
            among_valid_answers = evaluate_among_valid(contrast, results.experiments_and_controls)
            valid = among_valid_answers.difference if among_valid_answers else None
            row |= {
                "first value": difference.first,
                "second value": difference.second,
                "difference": difference.difference,
                "difference low": difference.low,
                "difference high": difference.high,
                "p": difference.p,
                "p (Holm)": p,
                "tests in family": tests,
                "cases": difference.cases,
                "clusters": difference.clusters,
                "speaks of": result.population,
                "cases needed": result.needed_cases,
                "answer": _describe_answer(contrast, difference, p, valid),
            }
            if contrast.margin and not isnan(p_equivalence):
                row |= {
                    "margin": contrast.margin,
                    "p of equivalence": difference.equivalence,
                    "p of equivalence (Holm)": p_equivalence,
                    "equivalent": SUPPORTED if p_equivalence < TEST_LEVEL else CANNOT_TELL,
                }
            if valid:
                row |= {
                    "valid answers alone": valid.difference,
                    "valid low": valid.low,
                    "valid high": valid.high,
                    "cases with valid": valid.cases,
                }
            row["not tested because"] = difference.reason
            if judge(contrast, difference.difference, p) == CANNOT_TELL:
                experiments = results.experiments_and_controls
                row["in words"] = describe_needed_cases(
                    contrast, experiments, difference, results.power, tests
                )
        yield row


def _measure(results: StudyResults, contrast: Contrast) -> tuple[ContrastResult | None, str]:
    """Return the answer to a comparison, or the reason why there is none."""
    reason = contrast.missing or "; ".join(
        f"{side.experiment} has no debate that has ended"
        for side in contrast.sides
        if side.experiment not in results.experiments_and_controls
        or not set(side.models)
        <= set(results.experiments_and_controls[side.experiment].config.models)
    )
    if reason:
        return None, reason
    try:
        result = evaluate_contrast(contrast, results.experiments_and_controls)
    except CannotTellError as error:
        return None, str(error)
    return result, "" if result else NO_CASES


def _describe_answer(
    contrast: Contrast, difference: Difference, p: float, valid: Difference | None
) -> str:
    """Return the answer; `CANNOT_TELL` with the reason if only invalid answers carry it."""
    answer = judge(contrast, difference.difference, p)
    if answer == CANNOT_TELL or valid is None:
        return answer
    if judge(contrast, valid.difference, valid.p) == answer:
        return answer
    return f"{CANNOT_TELL}: {carried_note(difference.difference, valid.difference)}"


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
