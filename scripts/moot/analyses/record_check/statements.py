"""The checked passages of a run's public statements, for the table and for readers."""

import re
from collections.abc import Iterator, Mapping

import pandas as pd

from moot.analyses.record_check.record import Match, Record
from moot.core.checked_passages import QUOTATION, find_passages, split_words, statement_text
from moot.core.types import JsonObject
from moot.protocols import PROTOCOLS
from moot.report.transcript_pages import records
from moot.scores.results import ExperimentResults

NO_SOURCE = "no record: quotations come from a source that is not in the data"
PLATFORM_MARK = '"quoted_words"'
"""In `parsed` of a statement whose platform inserted its quotations from their source."""
IN_CASE = 0
"""The turn of a match in the case, with its evidence."""
_PLACE = ("debate_id", "case_id", "turn", "round", "speaker")
_SEAT_NUMBER = re.compile(r"[ _]?\d+$")


def check_statements(results: ExperimentResults, model: str) -> tuple[pd.DataFrame, bool]:
    """Look up every passage of a model's public statements.

    Returns:
        A row for each passage, and whether the transcripts hold any words. Columns: debate_id,
        case_id, turn, round, speaker; role and side (of the speaker; "" without a side); kind,
        text, start (in the statement); result (one of `record.RESULTS`, or `NO_SOURCE`);
        found_turn (which holds it: `IN_CASE`, -1 for none), found_words.
    """
    sides = _sides_by_seat(results)
    rows: list[JsonObject] = []
    has_words = False
    for statements in results.public_statements(["round", "speaker", "parsed"], model):
        has_words = has_words or len(statements) > 0
        for _, debate in statements.groupby("debate_id", sort=False):
            case = results.case_by_id[debate["case_id"].iloc[0]]
            rows += _check_debate(debate, case.text, sides)
    return pd.DataFrame(rows), has_words


def _sides_by_seat(results: ExperimentResults) -> Mapping[str, str]:
    """The label that each seat is told to argue for."""
    entry = PROTOCOLS[results.config.protocol]
    if entry.debaters is None:
        return {}
    params = entry.params.model_validate(results.config.params)
    has_sides = entry.debaters.assigns_sides(params)
    return entry.debaters.sides(params, results.task) if has_sides else {}


def _check_debate(
    debate: pd.DataFrame, case_text: str, sides: Mapping[str, str]
) -> Iterator[JsonObject]:
    """The rows of a debate. The record of a statement is the case and what others said before."""
    texts, turns, speakers = [case_text], [IN_CASE], [""]
    for row in records(debate):
        speaker = row["speaker"]
        text = statement_text(row["text"], row["parsed"])
        numbers = [number for number, name in enumerate(speakers) if name != speaker]
        record = Record([texts[number] for number in numbers])
        has_source = PLATFORM_MARK not in (row["parsed"] or "")
        words = split_words(text)
        for passage in find_passages(text):
            is_checked = has_source or passage.kind != QUOTATION
            match = record.check(passage, words) if is_checked else Match(NO_SOURCE)
            yield {
                **{name: row[name] for name in _PLACE},
                "role": _SEAT_NUMBER.sub("", speaker),
                "side": sides.get(speaker, ""),
                "kind": passage.kind,
                "text": text[passage.start : passage.end],
                "start": passage.start,
                "result": match.result,
                "found_turn": turns[numbers[match.text_number]] if match.words else -1,
                "found_words": match.words,
            }
        texts.append(text)
        turns.append(row["turn"])
        speakers.append(speaker)
