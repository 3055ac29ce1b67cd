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
from moot.stats.bootstrap import ClusterBootstrap, share_statistic

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
"""Groups of a grouping that have rows of their own, and their mean number of passages."""
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "passages are", "by", "group")
    .estimate(VERBATIM)
    .estimate(ALTERED, ALTERED)
    .estimate(NOT_LOCATABLE, NOT_LOCATABLE)
    .counts("passages", "statements with passages", "debates", "cases")
    .plain("what is missing", "in words")
    .short_form("answers of", "model", "passages are", "group", *RESULTS, "passages")
)
NOTES = (
    (
        "Passages of at least three words in quotation marks, cited authorities, dates, amounts and"
        " other numbers are looked up in the case, in its evidence and in what others said in"
        " public before. Words are compared without case and punctuation, figures by value."
        " `altered`: a passage as long is at least three quarters the same; of a figure, the words"
        " around it are the record's and the value is not."
    ),
    (
        "`not locatable` does not mean false: the words may paraphrase, quote common knowledge or"
        " a source that is not in the data. A number may be counted, calculated or an ordinal."
    ),
    (
        "Intervals are by case. A grouping that divides passages as an earlier one does has no rows"
        f" of its own, nor has one of more than {MAX_GROUPS} groups, or of fewer than"
        f" {MIN_PASSAGES} passages a group."
    ),
)
FIRST_PAGE_NOTES.register("record_check")(
    "Not locatable does not mean false. Brackets hold 95 % intervals by case."
)


@table(EVERY_STUDY_AND_COMPARISON, "record_check", "Does the record bear it out?")
def record_check(results: StudyResults) -> TableContent:
    """Return which shares of the quotations, authorities and figures in statements occur verbatim
    in the record, occur altered, or cannot be located, by speaker, role, side and round.
    """
    return COLUMNS.table(rows_of_runs(results, _rows), NOTES)


def _rows(run: Run) -> Iterator[Row]:
    keys: Row = {"data": (run.data, run.experiment, run.model_name), "in words": ""}
    counts: Row = {"cases": run.predictions["case_id"].nunique()}
    if not any(case.text for case in run.results.case_by_id.values()):
        yield keys | counts | {"what is missing": NO_CASE_TEXT}
        return
    passages, has_words = check_statements(run.results, run.model)
    if passages.empty:
        yield keys | counts | {"what is missing": NO_PASSAGE if has_words else NO_WORDS}
        return
    for kind, name in PLURALS.items():
        kind_keys = keys | {"passages are": name}
        rows = passages[passages["kind"] == kind]
        located = rows[rows["result"] != NO_SOURCE]
        if len(located) < len(rows):
            yield kind_keys | counts | {"what is missing": NO_SOURCE}
        if len(located):
            cells = _cells(run, located)
            sentence = _sentence(run, cells) if kind == QUOTATION else ""
            yield kind_keys | cells | {"by": EVERYTHING, "group": EVERYTHING, "in words": sentence}
            for grouping, group, group_rows in _groups(located):
                yield kind_keys | _cells(run, group_rows) | {"by": grouping, "group": group}


def _groups(passages: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Each grouping that divides passages as no earlier one does, with its groups."""
    partitions: list[list[int]] = []
    for grouping in GROUPINGS:
        names = passages[grouping].astype(str)
        codes = pd.factorize(names)[0].tolist()
        groups = names.nunique()
        has_enough = len(names) >= groups * MIN_PASSAGES
        if codes in partitions or not (1 < groups <= MAX_GROUPS and has_enough):
            continue
        partitions.append(codes)
        for name, rows in passages.groupby(names):
            if name:
                yield grouping, str(name), rows


def _cells(run: Run, passages: pd.DataFrame) -> Row:
    clusters = [run.results.clusters[case] for case in passages["case_id"]]
    sample = ClusterBootstrap(clusters, run.results.seed)
    cells: Row = {}
    for result in RESULTS:
        is_result = np.asarray(passages["result"] == result)
        cells[result] = sample.estimate(share_statistic(is_result))
    return cells | {
        "passages": len(passages),
        "statements with passages": len(passages[["debate_id", "turn"]].drop_duplicates()),
        "debates": passages["debate_id"].nunique(),
        "cases": passages["case_id"].nunique(),
    }


def _sentence(run: Run, cells: Row) -> str:
    """How many quotations the record holds; "" without enough of them for an interval."""
    share, low, high = cells[VERBATIM]
    if np.isnan(low):
        return ""
    return (
        f"{run.experiment}, {run.model_name}: of {cells['passages']:,} quotations {share:.0%}"
        f" [{low:.0%}, {high:.0%}] are verbatim, {cells[ALTERED][0]:.0%} altered and"
        f" {cells[NOT_LOCATABLE][0]:.0%} not locatable in the record."
    )
