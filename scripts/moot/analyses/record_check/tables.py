"""The table `record_check`: how much of what statements quote and state the record holds."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.analyses.record_check.record import ALTERED, NOT_LOCATABLE, RESULTS, VERBATIM
from moot.analyses.record_check.statements import NO_SOURCE, check_statements
from moot.core.checked_passages import AMOUNT, AUTHORITY, DATE, NUMBER, QUOTATION
from moot.report import EVERY_STUDY_AND_COMPARISON, FIRST_PAGE_NOTES, table
from moot.report.columns import Columns, Row
from moot.report.content import Run, StudyResults, TableContent, rows_of_runs
from moot.stats.bootstrap import share_statistic

EVERYTHING = "all"
GROUPINGS = ("speaker", "role", "side", "round")
NO_WORDS = "no words: the transcripts hold no text of speakers"
NO_PASSAGE = "no quotation, authority or figure in any statement"
NO_CASE_TEXT = "no record: the cases have no text"
PLURALS = {
    QUOTATION: "quotations",
    AUTHORITY: "authorities",
    DATE: "dates",
    AMOUNT: "amounts",
    NUMBER: "numbers",
}
MAX_GROUPS = 12
MIN_PASSAGES = 10
"""The mean number of passages of a group in a grouping that has rows."""
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "passages are", "by", "group")
    .estimate(VERBATIM)
    .estimate(ALTERED, ALTERED)
    .estimate(NOT_LOCATABLE, NOT_LOCATABLE)
    .counts("passages", "statements with passages", "debates", "cases")
    .plain("what is missing", "in words")
    .short_form(
        "answers of", "model", "passages are", "group", *RESULTS, "passages", "what is missing"
    )
)
NOTES = (
    (
        "Quotations of at least three words, cited authorities, dates, amounts and other numbers"
        " are looked up in the case, in its evidence and in earlier public words of other speakers."
        " `verbatim`: the words occur in this order, without regard to case and punctuation, or"
        " the figure occurs by value. `altered`: three quarters of the words occur in a passage of"
        " this length, or the words around a figure occur with another value."
    ),
    (
        "`not locatable` does not mean false. The words may paraphrase, or quote common knowledge"
        " or a source that is not in the data. A number may be counted, calculated or an ordinal."
    ),
    (
        "Intervals are by case. A grouping has rows if it has 2 to"
        f" {MAX_GROUPS} groups, {MIN_PASSAGES} passages a group on average, and other groups than"
        " an earlier grouping."
    ),
)
FIRST_PAGE_NOTES.register("record_check")(
    "Not locatable does not mean false. Brackets hold 95 % intervals by case."
)


@table(EVERY_STUDY_AND_COMPARISON, "record_check", "Does the record bear it out?")
def record_check(results: StudyResults) -> TableContent:
    """Shares of the quotations, authorities and figures in statements that occur verbatim in the
    record, that occur altered, and that cannot be located, by speaker, role, side and round.
    """
    return COLUMNS.table(rows_of_runs(results, _rows), NOTES)


def _rows(run: Run) -> Iterator[Row]:
    counts: Row = {"cases": run.predictions["case_id"].nunique()}
    if not any(case.text for case in run.results.case_by_id.values()):
        yield counts | {"what is missing": NO_CASE_TEXT}
        return
    passages, has_words = check_statements(run.results, run.model)
    if passages.empty:
        yield counts | {"what is missing": NO_PASSAGE if has_words else NO_WORDS}
        return
    for kind, name in PLURALS.items():
        rows = passages[passages["kind"] == kind]
        located = rows[rows["result"] != NO_SOURCE]
        if len(located) < len(rows):
            yield counts | {"passages are": name, "what is missing": NO_SOURCE}
        for grouping, group, group_rows in _groups(located):
            cells = _cells(run, group_rows)
            has_sentence = kind == QUOTATION and grouping == EVERYTHING
            sentence = _sentence(run, cells) if has_sentence else ""
            keys = {"passages are": name, "by": grouping, "group": group, "in words": sentence}
            yield keys | cells


def _groups(passages: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """All passages, and the groups of each grouping that has others than an earlier grouping."""
    partitions: list[list[int]] = []
    for grouping in (EVERYTHING, *GROUPINGS):
        names = passages.assign(**{EVERYTHING: EVERYTHING})[grouping].astype(str)
        codes = pd.factorize(names)[0].tolist()
        groups = names.nunique()
        has_enough = groups == 1 or len(names) >= groups * MIN_PASSAGES
        if has_enough and groups <= MAX_GROUPS and codes not in partitions:
            partitions.append(codes)
            for name, rows in passages.groupby(names):
                if name:
                    yield grouping, str(name), rows


def _cells(run: Run, passages: pd.DataFrame) -> Row:
    sample = run.resample(passages["case_id"])
    cells: Row = {
        "passages": len(passages),
        "statements with passages": len(passages[["debate_id", "turn"]].drop_duplicates()),
        "debates": passages["debate_id"].nunique(),
        "cases": passages["case_id"].nunique(),
    }
    for result in RESULTS:
        cells[result] = sample.estimate(share_statistic(passages["result"] == result))
    return cells


def _sentence(run: Run, cells: Row) -> str:
    """The share of quotations that the record holds; "" without enough of them for an interval."""
    share, low, high = cells[VERBATIM]
    if np.isnan(low):
        return ""
    return (
        f"{run.experiment}, {run.model_name}: of {cells['passages']:,} quotations {share:.0%}"
        f" [{low:.0%}, {high:.0%}] are verbatim in the record, {cells[ALTERED][0]:.0%} are altered"
        f" and {cells[NOT_LOCATABLE][0]:.0%} cannot be located."
    )
