"""The table `record_check`: how much of what statements quote and count the record holds."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.analyses.record_check.passages import (
    ALTERED,
    NOT_LOCATABLE,
    QUOTATION,
    VERBATIM,
    Record,
    find_passages,
)
from moot.core.utterance_kinds import COMPUTED, CONCLUSION, PUBLIC
from moot.report import EVERY_STUDY_AND_COMPARISON, FIRST_PAGE_NOTES, table
from moot.report.columns import Columns, Row
from moot.report.content import Run, StudyResults, TableContent, rows_of_runs
from moot.stats.bootstrap import ClusterBootstrap, share_statistic

ALL_SPEAKERS = "all speakers"
NO_WORDS = "no words: the transcripts hold no text of speakers"
NO_PASSAGE = "no quotation or figure in any statement"
NO_SOURCE = "no record: quotations come from a source that is not in the data"
PLATFORM_MARK = '"quoted_words"'
"""In `parsed` of a statement whose platform inserted its quotations from their source."""
NO_CASE_TEXT = "no record: the cases have no text"
MAX_SPEAKERS = 12
"""Speakers with rows of their own."""
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "speaker", "passages are")
    .estimate(VERBATIM)
    .estimate(ALTERED, ALTERED)
    .estimate(NOT_LOCATABLE, NOT_LOCATABLE)
    .counts("passages", "statements with passages", "debates", "cases")
    .plain("what is missing", "in words")
    .short_form(
        "answers of",
        "model",
        "speaker",
        "passages are",
        VERBATIM,
        ALTERED,
        NOT_LOCATABLE,
        "passages",
    )
)
NOTES = (
    (
        "Passages of at least three words in quotation marks, and numbers outside of them, are"
        " looked up in the case and in what others said in public before. Quotations are compared"
        " as words without case and punctuation, numbers by value. `altered`: a passage as long is"
        " at least three quarters the same."
    ),
    (
        "`not locatable` does not mean false: the words may paraphrase, quote common knowledge or"
        " a source that is not in the data. A number may be counted, calculated or an ordinal."
    ),
    "Intervals are by case.",
)
FIRST_PAGE_NOTES.register("record_check")(
    "Not locatable does not mean false. Brackets hold 95 % intervals by case."
)


@table(EVERY_STUDY_AND_COMPARISON, "record_check", "Does the record bear it out?")
def record_check(results: StudyResults) -> TableContent:
    """Return which shares of the quotations and figures in statements occur verbatim in the record,
    occur altered, or cannot be located, by speaker.
    """
    return COLUMNS.table(rows_of_runs(results, _rows_with_sentence), NOTES)


def _rows_with_sentence(run: Run) -> list[Row]:
    first, *others = _rows(run)
    return [{**first, "in words": _sentence(run, [first, *others])}, *others]


def check_statements(run: Run) -> tuple[pd.DataFrame, bool]:
    """Look up every passage of a run's public statements.

    Returns:
        A row a passage (debate_id, case_id, turn, round, speaker, kind, text, start, end, result),
        and whether the transcripts hold any words.
    """
    rows: list[Row] = []
    has_words = False
    cases = run.results.case_by_id
    columns = ["round", "speaker", "kind", "text", "visibility", "source", "parsed"]
    for part in run.results.transcript_parts(columns, run.model):
        is_said = (part["visibility"] == PUBLIC) & (part["kind"] != CONCLUSION)
        statements = part[is_said & (part["source"] != COMPUTED) & (part["text"] != "")]
        has_words = has_words or len(statements) > 0
        for _, debate in statements.groupby("debate_id", sort=False):
            rows += _check_debate(debate, cases[debate["case_id"].iloc[0]].text)
    return pd.DataFrame(rows), has_words


def _check_debate(debate: pd.DataFrame, case_text: str) -> Iterator[Row]:
    utterances = list(debate.itertuples(index=False))
    for number, utterance in enumerate(utterances):
        passages = list(find_passages(str(utterance.text)))
        if not passages:
            continue
        speaker = str(utterance.speaker)
        earlier_texts = [
            str(row.text) for row in utterances[:number] if str(row.speaker) != speaker
        ]
        record = Record([case_text, *earlier_texts])
        for passage in passages:
            is_from_source = passage.kind == QUOTATION and PLATFORM_MARK in str(utterance.parsed)
            yield {
                "debate_id": utterance.debate_id,
                "case_id": utterance.case_id,
                "turn": utterance.turn,
                "round": utterance.round,
                "speaker": utterance.speaker,
                "kind": passage.kind,
                "text": passage.text,
                "start": passage.start,
                "end": passage.end,
                "result": NO_SOURCE if is_from_source else record.check(passage),
            }


def _rows(run: Run) -> Iterator[Row]:
    keys: Row = {"data": (run.data, run.experiment, run.model_name), "in words": ""}
    counts: Row = {"cases": run.predictions["case_id"].nunique()}
    if not any(case.text for case in run.results.case_by_id.values()):
        yield keys | counts | {"what is missing": NO_CASE_TEXT}
        return
    passages, has_words = check_statements(run)
    if passages.empty:
        reason = NO_PASSAGE if has_words else NO_WORDS
        yield keys | counts | {"what is missing": reason}
        return
    speakers = passages["speaker"].value_counts().index
    for kind in sorted(passages["kind"].unique(), reverse=True):
        is_kind = passages["kind"] == kind
        if (is_kind & (passages["result"] == NO_SOURCE)).any():
            yield keys | counts | {"passages are": f"{kind}s", "what is missing": NO_SOURCE}
        rows = passages[is_kind & passages["result"].ne(NO_SOURCE)]
        if rows.empty:
            continue
        yield keys | {"speaker": ALL_SPEAKERS, "passages are": f"{kind}s"} | _cells(run, rows)
        for speaker in speakers if 1 < len(speakers) <= MAX_SPEAKERS else ():
            speaker_rows = rows[rows["speaker"] == speaker]
            if len(speaker_rows):
                yield (
                    keys
                    | {"speaker": speaker, "passages are": f"{kind}s"}
                    | _cells(run, speaker_rows)
                )


def _cells(run: Run, passages: pd.DataFrame) -> Row:
    clusters = [run.results.clusters[case] for case in passages["case_id"]]
    sample = ClusterBootstrap(clusters, run.results.seed)
    cells: Row = {}
    for result in (VERBATIM, ALTERED, NOT_LOCATABLE):
        is_result = np.asarray(passages["result"] == result)
        cells[result] = sample.estimate(share_statistic(is_result))
    statements = passages[["debate_id", "turn"]].drop_duplicates()
    return cells | {
        "passages": len(passages),
        "statements with passages": len(statements),
        "debates": passages["debate_id"].nunique(),
        "cases": passages["case_id"].nunique(),
    }


def _sentence(run: Run, rows: list[Row]) -> str:
    """How many quotations the record holds; "" without enough of them for an interval."""
    for row in rows:
        if row.get("passages are") == f"{QUOTATION}s" and VERBATIM in row:
            share, low, high = row[VERBATIM]
            if np.isnan(low):
                return ""
            return (
                f"{run.experiment}, {run.model_name}: of {row['passages']:,} quotations"
                f" {share:.0%} [{low:.0%}, {high:.0%}] are verbatim, {row[ALTERED][0]:.0%} altered"
                " and"
                f" {row[NOT_LOCATABLE][0]:.0%} not locatable in the record."
            )
    return ""
