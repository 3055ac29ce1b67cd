"""Read debates from transcripts, to be judged again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moot.core.artifacts import rows_by_debate
from moot.core.errors import UserError
from moot.core.types import Fields
from moot.core.utterance_kinds import COMPUTED, CONCLUSION, PUBLIC, UNUSABLE


@dataclass(frozen=True, slots=True)
class RecordedDebate:
    """A debate of a transcript.

    Attributes:
        rows: All of its rows but the conclusion.
        turns: The public statements of the seats that argue, in their order.
        verdict: The label of its verdict; "" for none.
    """

    rows: Sequence[Fields]
    turns: Sequence[Fields]
    verdict: str


@cache
def read_debates(
    paths: tuple[Path, ...], speakers: frozenset[str], judge: str
) -> Mapping[tuple[str, int], RecordedDebate]:
    """Return the finished debates of some transcripts by case and repeat.

    `speakers` are the seats that argue. If it is empty, these are all seats but `judge`.
    """
    debates: dict[tuple[str, int], RecordedDebate] = {}
    for key, rows in rows_by_debate(paths).items():
        last = rows[-1]
        status = ""
        if last["kind"] == CONCLUSION:
            status = json.loads(last["parsed"] or "{}").get("status", "")
        if status == "waiting":
            continue
        debate_rows = [row for row in rows if row["kind"] != CONCLUSION]
        turns = [row for row in debate_rows if _is_argument(row, speakers, judge)]
        verdict = str(last["prediction"] or "") if status == "valid" else ""
        debates[key] = RecordedDebate(debate_rows, turns, verdict)
    return debates


def missing_text_error(experiment: str, source: str, use: str) -> UserError:
    """Return the error for debates of the experiment `source` whose texts are not known.

    `use` completes "no words that ...".
    """
    return UserError(
        f"experiment '{experiment}': the debates of '{source}' hold no words that {use}. Where they"
        " are recorded, set the source of their data set to 'download' or 'local'; the shipped"
        " numbers have no text."
    )


def _is_argument(row: Fields, speakers: frozenset[str], judge: str) -> bool:
    is_debater = row["speaker"] in speakers if speakers else row["speaker"] != judge
    is_statement = row["visibility"] == PUBLIC and row["source"] != COMPUTED
    if not is_debater or not is_statement or row["parse_status"] in UNUSABLE:
        return False
    return bool(row["text"].strip())
