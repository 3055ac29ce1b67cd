"""The table `record_check`: how much of what statements quote and state the record holds."""

from collections.abc import Iterator

import pandas as pd

from moot.analyses.record_check.effects import NO_SOURCE, check_statements
from moot.analyses.record_check.passages import AUTHORITY, FIGURE, QUOTATION
from moot.analyses.record_check.record import ALTERED, NOT_LOCATABLE, RESULTS, VERBATIM
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.study_results import Run, StudyResults, rows_of_runs
from moot.stats.statistic import share_statistic

EVERYTHING = "all"
NO_PASSAGE = "no quotation, authority or figure in any statement"
KINDS = {QUOTATION: "quotations", AUTHORITY: "authorities", FIGURE: "figures"}
MAX_GROUPS = 12
MIN_PASSAGES = 10
"""The mean number of passages of a group in a grouping that has rows."""
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "passages are", "by", "group")
    .estimate(VERBATIM)
    .estimate(ALTERED, ALTERED)
    .estimate(NOT_LOCATABLE, NOT_LOCATABLE)
    .counts("passages", "debates", "cases")
    .plain("what is missing")
)
NOTES = (
    "The record is the case, its evidence and earlier public words of other speakers. `altered`:"
    " three quarters of the words occur in a passage of this length, or the words around a figure"
    " occur with another value. `not locatable` does not mean false. Intervals are by case.",
    f"Speakers and rounds have rows if there are 2 to {MAX_GROUPS} of them, with {MIN_PASSAGES}"
    " passages each on average.",
)


@table(EVERY_STUDY_AND_COMPARISON, "record_check", "Does the record bear it out?")
def record_check(results: StudyResults) -> TableContent:
    """Shares of quotations, authorities and figures that are verbatim, altered or not located."""
    return COLUMNS.table(rows_of_runs(results, _rows), NOTES)


def _rows(run: Run) -> Iterator[Row]:
    counts: Row = {"cases": run.predictions["case_id"].nunique()}
    passages = pd.DataFrame(check_statements(run.results, run.model))
    if passages.empty:
        yield counts | {"what is missing": NO_PASSAGE}
        return
    for kind, name in KINDS.items():
        rows = passages[passages["kind"] == kind]
        located = rows[rows["result"] != NO_SOURCE]
        if len(located) < len(rows):
            yield counts | {"passages are": name, "what is missing": NO_SOURCE}
        for grouping, group, group_rows in _groups(located):
            sample = run.resample(group_rows["case_id"])
            row: Row = {
                "passages are": name,
                "by": grouping,
                "group": group,
                "passages": len(group_rows),
                "debates": group_rows["debate_id"].nunique(),
                "cases": group_rows["case_id"].nunique(),
            }
            for result in RESULTS:
                row[result] = sample.estimate(share_statistic(group_rows["result"] == result))
            yield row


def _groups(passages: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield all passages, and the groups of each grouping that has rows."""
    if passages.empty:
        return
    yield EVERYTHING, EVERYTHING, passages
    for grouping in ("speaker", "round"):
        groups = list(passages.groupby(grouping))
        if 1 < len(groups) <= MAX_GROUPS and len(passages) >= MIN_PASSAGES * len(groups):
            for name, rows in groups:
                yield grouping, str(name), rows
