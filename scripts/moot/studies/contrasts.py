"""The planned comparisons of a run, tested and corrected together: one table, in every study that plans some."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from moot.report.content import CONTRASTS, StudyResults, TableContent
from moot.scores.contrasts import DIFFER, FIRST_HIGHER, FIRST_LOWER, Contrast, by_family, direction_met, measure
from moot.stats.contrasts import Difference
from moot.stats.paired import holm
from moot.studies import table
from moot.studies.paired import DIFFERENCES, STUDIES

EXPECTED = {FIRST_HIGHER: "first higher", FIRST_LOWER: "first lower", DIFFER: "they differ"}
NO_CASES = "no case was argued by both; expected common cases, or `paired: false`"
COLUMNS = (
    "study",
    "contrast",
    "question",
    "first",
    "second",
    "metric",
    "expected",
    "first value",
    "second value",
    *DIFFERENCES,
    "p",
    "p (Holm)",
    "tests",
    "cases",
    "clusters",
    "expectation met",
    "not tested because",
)


def contrasts(results: StudyResults) -> TableContent:
    """One row a planned comparison."""
    rows = [row for family in by_family(results.contrasts).values() for row in _rows(results, family)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return TableContent(
        frame.astype(dict.fromkeys(("tests", "cases", "clusters"), "Int64")),
        notes=[
            "Confirmatory: these comparisons were named in the configuration (`contrasts:`). Holm's correction is over "
            "those of one study that this run tests (`tests`). All other tests of this report are exploratory.",
            *results.frozen,
            "A case counts by the mean of its debates, an invalid answer as wrong. Interval and p are by cluster. "
            "p is two-sided: of a randomisation test that exchanges the sides' debates cluster by cluster, or, where "
            "they argued different cases (`paired: false`), of a t test on the bootstrap's standard error.",
            "Expectation met: `yes` where p (Holm) is below 0.05 and the difference lies on the expected side, "
            "`opposite` where it lies on the other, `not shown` where p (Holm) is not below 0.05: no evidence of "
            "equality.",
        ],
        ours=("first value", "second value"),
        difference=DIFFERENCES,
        intervals={"95 % interval": ("difference low", "difference high")},
        keys=("study",),
        formats={"difference": "+.3f"},
    )


for _study in STUDIES:
    table(
        _study,
        "contrasts",
        "Planned comparisons",
        "The comparisons that were planned in the configuration, with intervals by cluster and Holm's correction.",
        (CONTRASTS,),
    )(contrasts)


def _rows(results: StudyResults, family: list[Contrast]) -> Iterator[dict[str, Any]]:
    found = [_measured(results, contrast) for contrast in family]
    adjusted = holm([difference.p if difference else float("nan") for difference, _ in found])
    tests = sum(p == p for p in adjusted)  # noqa: PLR0124 - NaN stands for no test
    for contrast, (difference, reason), p in zip(family, found, adjusted, strict=True):
        row = {
            "study": contrast.family,
            "contrast": contrast.name,
            "question": contrast.question,
            "first": str(contrast.first),
            "second": str(contrast.second),
            "metric": " against ".join(dict.fromkeys(side.metric for side in contrast.sides)),
            "expected": EXPECTED[contrast.direction],
            "not tested because": reason,
        }
        yield row if difference is None else row | _cells(contrast, difference, p, tests)


def _measured(results: StudyResults, contrast: Contrast) -> tuple[Difference | None, str]:
    """The difference, or why there is none."""
    reason = contrast.missing or "; ".join(
        f"{side.experiment} has no debate that has ended"
        for side in contrast.sides
        if not set(side.models) <= set(_models(results, side.experiment))
    )
    difference = None if reason else measure(contrast, results.tested)
    return difference, reason or ("" if difference else NO_CASES)


def _models(results: StudyResults, experiment: str) -> tuple[str, ...]:
    return results.tested[experiment].config.models if experiment in results.tested else ()


def _cells(contrast: Contrast, found: Difference, p: float, tests: int) -> dict[str, Any]:
    return {
        "first value": found.first,
        "second value": found.second,
        "difference": found.difference,
        "difference low": found.low,
        "difference high": found.high,
        "p": found.p,
        "p (Holm)": p,
        "tests": tests,
        "cases": found.cases,
        "clusters": found.clusters,
        "expectation met": direction_met(contrast, found.difference, p),
    }
