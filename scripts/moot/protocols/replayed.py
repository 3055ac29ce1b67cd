"""Debates that were held, or came in by records, played to a judge with one thing changed; the
judge alone is asked, unless the debate goes on from the change.

Where the judge's own protocol is known it runs as it did, so that the judge reads the prompts that
it read then: what every other seat said is taken from the transcript, and what the judge itself
says is asked for again.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moot.core.artifacts import rows_by_debate
from moot.core.cases import stable_fraction
from moot.core.errors import UserError
from moot.core.kinds import BELIEF, CONCLUSION, PUBLIC, UNUSABLE
from moot.core.types import Fields
from moot.protocols.debate import Debate, Intervention, Turn
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import Utterance, empty_utterance

UNCHANGED, REMOVED, REPLACED, REORDERED, SENTENCE = (
    "whole",
    "removed",
    "replaced",
    "reordered",
    "sentence",
)
CONTINUED, CONTINUED_UNCHANGED = "continued", "kept"
"""The debate goes on from a turn that is taken out, and from the same turn as it was."""
WAYS_OF_ONE_TURN = (REMOVED, REPLACED, CONTINUED)
"""The ways to change one turn."""
MAX_CALLS_PER_PROMPT = 20
"""Calls of one prompt that a replay may make. Replays have ranges of replicates of their own."""
MAX_LENGTH_DIFFERENCE = 0.5
"""By what share of a turn's length another may differ that replaces it."""
_SENTENCE = re.compile(r"[^.!?。！？…]*(?:[.!?。！？…]+[\"'”’»」』)\]）]*\s*|$)")


@dataclass(frozen=True, slots=True)
class Change:
    """What is changed of a debate.

    Attributes:
        way: WHOLE where nothing is.
        turn: of the held debate; 0 where it is no single turn's.
        number: of the sentence within its turn.
        texts: what stands in place of the turn's text, for each replay the next one.
        quote: the sentence that is taken out.
    """

    way: str = UNCHANGED
    turn: int = 0
    number: int = 0
    texts: tuple[str, ...] = ()
    quote: str = ""


@dataclass(frozen=True, slots=True)
class RecordedDebate:
    """A debate as its transcript has it.

    Attributes:
        rows: all of it but its conclusion.
        turns: the public statements of those who argue, in their order.
        verdict: the label that it came to; "" for none.
    """

    rows: Sequence[Fields]
    turns: Sequence[Fields]
    verdict: str


@cache
def read_debates(
    paths: tuple[Path, ...], speakers: frozenset[str], judge: str
) -> Mapping[tuple[str, int], RecordedDebate]:
    """The ended debates of some transcripts by case and repeat;
    `speakers` argue, or everybody but `judge` if none.
    """
    debates: dict[tuple[str, int], RecordedDebate] = {}
    for key, rows in rows_by_debate(paths).items():
        end = json.loads(rows[-1]["parsed"] or "{}") if rows[-1]["kind"] == CONCLUSION else {}
        if end.get("status") != "waiting":
            debate_rows = [row for row in rows if row["kind"] != CONCLUSION]
            turns = [row for row in debate_rows if _is_argument(row, speakers, judge)]
            verdict = str(rows[-1]["prediction"] or "") if end.get("status") == "valid" else ""
            debates[key] = RecordedDebate(debate_rows, turns, verdict)
    return debates


def missing_text_error(experiment: str, beside: str, do: str) -> UserError:
    """The error for debates of `beside` of which no words are known."""
    return UserError(
        f"experiment '{experiment}': the debates of '{beside}' hold no words that {do}. Where they"
        " are recorded, set the source of their data set to 'download' or 'local'; the shipped"
        " numbers have no text."
    )


def _is_argument(row: Fields, speakers: frozenset[str], judge: str) -> bool:
    seat = row["speaker"] in speakers if speakers else row["speaker"] != judge
    spoken = (
        row["visibility"] == PUBLIC
        and row["parse_status"] not in UNUSABLE
        and bool(row["text"].strip())
    )
    return seat and spoken and row["source"] != "computed"


def is_verdict_unstable(
    debates: Mapping[tuple[str, int], RecordedDebate], key: tuple[str, int], judge: str
) -> bool:
    """Whether a debate's judge changed its belief, or another repeat of its case came to another
    verdict.
    """
    own = [
        row["prediction"]
        for row in debates[key].rows
        if row["speaker"] == judge and row["kind"] == BELIEF
    ]
    beliefs = {belief for belief in (*own, debates[key].verdict) if belief}
    verdicts = {
        held.verdict for (case, _), held in debates.items() if case == key[0] and held.verdict
    }
    return len(beliefs) > 1 or len(verdicts) > 1


def replacement_texts(
    debates: Mapping[tuple[str, int], RecordedDebate],
    key: tuple[str, int],
    turn: Fields,
    roles: Mapping[str, str],
    most: int,
) -> tuple[str, ...]:
    """The texts of the turns nearest in length, of the same role and kind, in debates of other
    cases with the same verdict; none that differs by more than `NEAR` of the length.
    """

    def of(row: Fields) -> tuple[str, str]:
        return roles.get(row["speaker"], row["speaker"]), row["kind"]

    length = len(turn["text"])
    near = (
        (
            abs(len(row["text"]) - length),
            stable_fraction("donor", *key, turn["turn"], other),
            row["text"],
        )
        for other, held in debates.items()
        if other[0] != key[0] and held.verdict == debates[key].verdict
        for row in held.turns
        if of(row) == of(turn) and row["text"] != turn["text"]
    )
    return tuple(
        text for apart, _, text in sorted(near)[:most] if apart <= MAX_LENGTH_DIFFERENCE * length
    )


def split_sentences(text: str) -> list[tuple[str, str]]:
    """The sentences of a text, each with the text without it.

    >>> split_sentences("He paid. She did not!")
    [('He paid.', 'She did not!'), ('She did not!', 'He paid.')]
    """
    found = [match for match in _SENTENCE.finditer(text) if match.group().strip()]
    return [
        (match.group().strip(), (text[: match.start()] + text[match.end() :]).strip())
        for match in found
    ]


class Replay(Intervention):
    """A debate of a transcript is played once more, with a change.

    Args:
        recorded: The debate of the transcript.
        change: What is changed of it.
        again: Which replay of this change it is, from 0.
        judge: The seat that is asked.
    """

    def __init__(self, recorded: RecordedDebate, change: Change, again: int, judge: str) -> None:
        self._judge, self._change, self._again = judge, change, again
        self._debaters = {row["speaker"] for row in recorded.turns}
        self._rows: defaultdict[tuple[str, str], list[Fields]] = defaultdict(list)
        for row in recorded.rows:
            self._rows[row["speaker"], row["kind"]].append(row)

    def speaking_order(self, seats: Sequence[str]) -> list[str]:
        """Reverse the order, if that is the change."""
        return list(reversed(seats)) if self._change.way == REORDERED else list(seats)

    def replace_asking(self, turn: Turn) -> Utterance | None:
        """Play the seat's next row, if there is no need to ask."""
        return self._play_next(turn) if self._is_played(turn) else None

    def replace_recording(self, turn: Turn) -> Utterance | None:
        """Play a debater's next row. The protocol's computations are computed again."""
        is_debater = turn.seat in self._debaters
        return self._play_next(turn) if is_debater and self._is_played(turn) else None

    def _is_played(self, turn: Turn) -> bool:
        """Whether a seat's next utterance is the transcript's.

        The judge is asked. Where the debate continues from a turn, so are all seats after it.
        """
        if turn.seat == self._judge or self._change.way not in (CONTINUED, CONTINUED_UNCHANGED):
            return turn.seat != self._judge
        rows = self._rows[turn.seat, turn.kind]
        return bool(rows) and rows[0]["turn"] <= self._change.turn

    def _play_next(self, turn: Turn) -> Utterance:
        rows = self._rows[turn.seat, turn.kind]
        return self.play(rows.pop(0)) if rows else empty_utterance(turn.seat, turn.kind)

    def play(self, row: Fields) -> Utterance:
        """Record a row of the transcript, unless the change removes it."""
        text = row["text"]
        parsed = json.loads(row["parsed"]) if row["parsed"] else None
        if self._is_changed(row):
            if not self._change.texts:
                return empty_utterance(row["speaker"], row["kind"])
            text = self._change.texts[self._again % len(self._change.texts)]
            if parsed and "statement" in parsed:
                parsed["statement"] = text
        return self.debate.add(
            row["speaker"],
            row["kind"],
            text,
            source=row["source"],
            private=row["visibility"] != PUBLIC,
            round=row["round"],
            parsed=parsed,
            parse_status=row["parse_status"],
            prediction=row["prediction"],
            confidence=row["confidence"],
            probability=row["probability"],
        )

    def _is_changed(self, row: Fields) -> bool:
        """Whether the change removes a row or replaces its text."""
        return (
            bool(self._change.turn)
            and row["turn"] == self._change.turn
            and self._change.way != CONTINUED_UNCHANGED
        )


def replay_debate(
    original: Debate,
    setup: JobSetup,
    recorded: RecordedDebate,
    change: Change,
    again: int,
    judge: str,
) -> tuple[Debate, Replay]:
    """Return a debate that plays a recorded one, and its intervention.

    Args:
        original: The debate in which the replays are recorded.
        setup: What the judge's protocol reads of a job.
        recorded, change, again, judge: As of `Replay`. The calls of each replay are samples of
            their own.
    """
    replay = Replay(recorded, change, again, judge)
    first_replicate = (again + 1) * MAX_CALLS_PER_PROMPT
    case, task, repeat = original.case, original.task, original.repeat
    return Debate(case, task, repeat, setup, replay, first_replicate), replay
