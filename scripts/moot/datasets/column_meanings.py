"""The content and the benefit of the columns of recorded debates, for the page of all options."""

from collections.abc import Mapping
from typing import NamedTuple


class ColumnMeaning(NamedTuple):
    """The cells of a column, and the results that the column enables."""

    cells: str
    enables: str


_TEXT, _WHOLE_NUMBER = "text", "whole number"
COLUMN_MEANINGS: Mapping[str, ColumnMeaning] = {
    "debate": ColumnMeaning("text, never blank", "transcripts, the reader, `rejudge`"),
    "case": ColumnMeaning("text, never blank", "several debates or answers per case"),
    "repeat": ColumnMeaning(
        _WHOLE_NUMBER, "`agreement` between repeats (only if `debate` is blank)"
    ),
    "method": ColumnMeaning(_TEXT, "one experiment per condition, contrasts between them"),
    "turn": ColumnMeaning("whole number, never blank", "the order of turns; gaps are counted"),
    "time": ColumnMeaning("number, or date and time", "the order of turns without numbers"),
    "round": ColumnMeaning("whole number or blank", "`beliefs_by_round`, flips by round"),
    "speaker": ColumnMeaning("text, blank in rows of a judge", "`discussions`"),
    "text": ColumnMeaning(_TEXT, "search in the reader, labels, exports, `rejudge`"),
    "kind": ColumnMeaning("text other than conclusion", "the kind of a turn in the reader"),
    "role": ColumnMeaning(_TEXT, "tells judges from debaters"),
    "side": ColumnMeaning(
        "a label, or blank", "`beliefs_by_round` by side; tells debaters from judges"
    ),
    "model": ColumnMeaning("text, blank for a person", "one result per model"),
    "visibility": ColumnMeaning("blank, public, all, or any other text", "private turns"),
    "answer": ColumnMeaning("a word of `labels` or `no_answer`", "predictions, accuracy"),
    "answers": ColumnMeaning(
        "JSON object from name to answer, or blank", "`discussions` of groups"
    ),
    "belief": ColumnMeaning(
        "number from 0 to 1, or blank",
        "Brier scores, calibration, `beliefs_by_round`",
    ),
    "confidence": ColumnMeaning(
        "number from 0 to 100, or blank",
        "calibration; with `side` `beliefs_by_round`",
    ),
    "judge": ColumnMeaning(
        "text, blank in rows of debaters",
        "several answers to one debate",
    ),
    "persona": ColumnMeaning("text or blank", "several answers to one debate"),
    "judge_repeat": ColumnMeaning(
        "whole number, blank in rows without a judge",
        "several answers of one judge to one debate",
    ),
    "truth": ColumnMeaning(
        "a word of `labels`, the same in all rows of a case",
        "accuracy, and who changes to right and to wrong",
    ),
    "facts": ColumnMeaning(
        "text, the same in all rows of a case", "the case in the reader, `rejudge`"
    ),
    "attributes": ColumnMeaning(
        "text, the same in all rows of a case", "scores and error rates by group, clusters"
    ),
}
"""By the name of the option in `columns`."""

COLUMN_NAMES: Mapping[str, str] = {
    "name": "A column of the file.",
    "meta.side": "A part of a nested object.",
    "messages.content": "A field of each object in a list, with `turns: messages`.",
    "(file)": "The name of the file, without its ending.",
}
"""Forms of the name of a column, with their meanings."""
