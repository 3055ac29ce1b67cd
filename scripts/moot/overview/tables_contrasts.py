"""The planned comparisons of a run, tested and corrected together: one table, in every study that
plans some.
"""

from collections.abc import Iterator
from math import isnan

from moot.report import EVERYWHERE, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import StudyResults, TableContent
from moot.report.needs import has_contrasts
from moot.scores.answers import Answer, among_valid, answer, carried_note
from moot.scores.contrasts import (
    DIFFER,
    FIRST_HIGHER,
    FIRST_LOWER,
    NOT_SHOWN,
    Contrast,
    by_family,
    direction_met,
)
from moot.stats.differences import UNPAIRED_NOTE, Difference
from moot.stats.paired import holm
from moot.stats.randomisation import LEVEL
from moot.stats.within_cases import FEWEST_CASES

EXPECTED = {FIRST_HIGHER: "first higher", FIRST_LOWER: "first lower", DIFFER: "they differ"}
NO_CASES = "no case was argued by both; expected common cases, or `paired: false`"
MARGIN_NOTE = (
    "Equivalent: `yes` where the difference is shown to be smaller than the margin, above and below"
    " 0, by two one-sided tests (Schuirmann 1987) whose p, after Holm's correction over those of"
    " the study, is below 0.05."
)
COLUMNS = (
    Columns()
    .keys("study")
    .plain("contrast", "question", "first", "second", "metric", "expected")
    .ours("first value", "second value")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p", "p (Holm)")
    .counts("tests in family", "cases", "clusters")
    .plain("speaks of")
    .counts("cases needed")
    .plain("expectation met", "margin", "p of equivalence", "p of equivalence (Holm)", "equivalent")
    .estimate("valid answers alone", "valid", digits=SIGNED)
    .counts("cases with valid")
    .plain("not tested because")
    .short_form(
        "study",
        "question",
        "difference",
        "95 % interval",
        "p (Holm)",
        "expectation met",
        "cases",
        "not tested because",
    )
)


@table(EVERYWHERE, "contrasts", "Planned comparisons", needs=(has_contrasts,))
def contrasts(results: StudyResults) -> TableContent:
    """The comparisons that were planned in the configuration, with intervals by cluster and Holm's
    correction.
    """
    rows = [
        row for family in by_family(results.contrasts).values() for row in _rows(results, family)
    ]
    return COLUMNS.table(
        rows,
        [
            (
                "Confirmatory: these comparisons were named in the configuration (`contrasts:`)."
                " Holm's correction is over those of one study that this run tests (`tests in"
                " family`). All other tests are exploratory."
            ),
            *results.frozen,
            (
                "A case counts by the mean of its debates, first of each model, an invalid answer"
                " as wrong; a model counts on the cases that it argued on both sides. Interval and"
                " p are by cluster. p is two-sided, of a randomisation test that exchanges the"
                " sides' debates cluster by cluster. Where they argued different cases (`paired:"
                f" false`): {UNPAIRED_NOTE}"
            ),
            *dict.fromkeys(one.test.note for one in results.contrasts if one.test),
            (
                f"Speaks of: with fewer than {FEWEST_CASES} cases (or clusters of cases) that were"
                " each debated several times, debates are compared within cases, p is that of the"
                " interval, and the row speaks of these cases alone; `cases needed` is how many"
                " could show this difference for cases like these, with 80 % power."
            ),
            (
                "Valid answers alone: the difference among these, where some are invalid, on the"
                " cases that have some on both sides. Where it does not bear the expectation out,"
                " invalid answers carry the difference."
            ),
            (
                "Expectation met: `yes` where p (Holm) is below 0.05 and the difference lies on the"
                " expected side, `opposite` where it lies on the other, `not shown` where p (Holm)"
                " is not below 0.05: no evidence of equality."
            ),
            *([MARGIN_NOTE] if any(one.margin for one in results.contrasts) else []),
        ],
    )


def _rows(results: StudyResults, family: list[Contrast]) -> Iterator[Row]:
    found = [_measured(results, contrast) for contrast in family]
    adjusted = holm([given.found.p if given else float("nan") for given, _ in found])
    equal = holm([given.found.equivalence if given else float("nan") for given, _ in found])
    tests = sum(p == p for p in adjusted)  # noqa: PLR0124 - NaN means no test
    for contrast, (given, reason), p, same in zip(family, found, adjusted, equal, strict=True):
        metric = " against ".join(dict.fromkeys(side.metric for side in contrast.sides))
        sides, expected = (str(contrast.first), str(contrast.second)), EXPECTED[contrast.direction]
        row: Row = {
            "study": (contrast.family, contrast.name, contrast.question, *sides, metric, expected)
        }
        row["not tested because"] = reason
        if given:
            of, among = given.found, among_valid(contrast, results.tested)
            valid = among.found if among else None
            row["first value"] = (
                of.first,
                of.second,
                of.difference,
                of.low,
                of.high,
                of.p,
                p,
                tests,
            )
            row["cases"] = (of.cases, of.clusters, given.speaks_of, given.needed)
            row["expectation met"] = _met(contrast, of, p, valid)
            if contrast.margin and not isnan(same):
                row["margin"] = (
                    contrast.margin,
                    of.equivalence,
                    same,
                    "yes" if same < LEVEL else NOT_SHOWN,
                )
            if valid:
                row["valid answers alone"] = (valid.difference, valid.low, valid.high, valid.cases)
        yield row


def _measured(results: StudyResults, contrast: Contrast) -> tuple[Answer | None, str]:
    """The difference, or why there is none."""
    reason = contrast.missing or "; ".join(
        f"{side.experiment} has no debate that has ended"
        for side in contrast.sides
        if side.experiment not in results.tested
        or not set(side.models) <= set(results.tested[side.experiment].config.models)
    )
    given = None if reason else answer(contrast, results.tested)
    return given, reason or ("" if given else NO_CASES)


def _met(contrast: Contrast, found: Difference, p: float, valid: Difference | None) -> str:
    """Whether the expectation was met, and whether by invalid answers alone."""
    met = direction_met(contrast, found.difference, p)
    if (
        met == NOT_SHOWN
        or valid is None
        or direction_met(contrast, valid.difference, valid.p) == met
    ):
        return met
    return f"{met}, but {carried_note(found.difference, valid.difference)}"
