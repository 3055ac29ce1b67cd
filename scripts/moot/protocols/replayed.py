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
from moot.core.types import Fields, Json
from moot.protocols.arm_debates import unsaid
from moot.protocols.debate import Debate, Setting
from moot.protocols.utterances import Utterance

WHOLE, REMOVED, REPLACED, REORDERED, SENTENCE = (
    "whole",
    "removed",
    "replaced",
    "reordered",
    "sentence",
)
CONTINUED, KEPT = "continued", "kept"
"""The debate goes on from a turn that is taken out, and from the same turn as it was."""
OF_TURNS = (REMOVED, REPLACED, CONTINUED)
"""The ways to change one turn."""
ASKS = 20
"""Replicates of one prompt that one replay may take, so that no two replays share a reply but where
they are alike.
"""
NEAR = 0.5
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

    way: str = WHOLE
    turn: int = 0
    number: int = 0
    texts: tuple[str, ...] = ()
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Held:
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
def held_debates(
    paths: tuple[Path, ...], speakers: frozenset[str], judge: str
) -> Mapping[tuple[str, int], Held]:
    """The ended debates of some transcripts by case and repeat;
    `speakers` argue, or everybody but `judge` if none.
    """
    found: dict[tuple[str, int], Held] = {}
    for key, rows in rows_by_debate(paths).items():
        end = json.loads(rows[-1]["parsed"] or "{}") if rows[-1]["kind"] == CONCLUSION else {}
        if end.get("status") != "waiting":
            said = [row for row in rows if row["kind"] != CONCLUSION]
            turns = [row for row in said if _argues(row, speakers, judge)]
            verdict = str(rows[-1]["prediction"] or "") if end.get("status") == "valid" else ""
            found[key] = Held(said, turns, verdict)
    return found


def no_words(experiment: str, beside: str, do: str) -> UserError:
    """The error for debates of `beside` of which no words are known."""
    return UserError(
        f"experiment '{experiment}': the debates of '{beside}' hold no words that {do}. Where they"
        " are recorded, set the source of their data set to 'download' or 'local'; the shipped"
        " numbers have no text."
    )


def _argues(row: Fields, speakers: frozenset[str], judge: str) -> bool:
    seat = row["speaker"] in speakers if speakers else row["speaker"] != judge
    spoken = (
        row["visibility"] == PUBLIC
        and row["parse_status"] not in UNUSABLE
        and bool(row["text"].strip())
    )
    return seat and spoken and row["source"] != "computed"


def wavers(debates: Mapping[tuple[str, int], Held], key: tuple[str, int], judge: str) -> bool:
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


def donors(
    debates: Mapping[tuple[str, int], Held],
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
    return tuple(text for apart, _, text in sorted(near)[:most] if apart <= NEAR * length)


def sentences(text: str) -> list[tuple[str, str]]:
    """The sentences of a text, each with the text without it.

    >>> sentences("He paid. She did not!")
    [('He paid.', 'She did not!'), ('She did not!', 'He paid.')]
    """
    found = [match for match in _SENTENCE.finditer(text) if match.group().strip()]
    return [
        (match.group().strip(), (text[: match.start()] + text[match.end() :]).strip())
        for match in found
    ]


class Replay(Debate):
    """A held debate played once more.

    Args:
        whole: the debate that is asked about.
        setting: what the judge's protocol reads of a job.
        held: what was said.
        change: what is changed of it.
        again: which replay of this change it is, from 0; its calls are samples of their own.
        judge: the seat that is asked.
    """

    def __init__(
        self, whole: Debate, setting: Setting, held: Held, change: Change, again: int, judge: str
    ) -> None:
        super().__init__(whole.case, whole.task, whole.repeat, setting)
        self._asked = defaultdict(lambda: (again + 1) * ASKS)
        self._judge, self._change, self._again = judge, change, again
        self._said: defaultdict[tuple[str, str], list[Fields]] = defaultdict(list)
        for row in held.rows:
            self._said[row["speaker"], row["kind"]].append(row)
        self._debaters = {row["speaker"] for row in held.turns}

    def in_order(self, seats: Sequence[str]) -> list[str]:
        """Reversed, if that is the change."""
        return list(reversed(seats)) if self._change.way == REORDERED else list(seats)

    async def unasked(self, seat: str, kind: str, _private: bool, _number: int) -> Utterance | None:
        """What the transcript says."""
        return self._play_next(seat, kind) if self._knows(seat, kind) else None

    def record(self, seat: str, kind: str, text: str, **how: Json) -> Utterance:
        """What a debater said is played; what the protocol works out is worked out again."""
        plays = seat in self._debaters and self._knows(seat, kind)
        return self._play_next(seat, kind) if plays else super().record(seat, kind, text, **how)

    def _knows(self, seat: str, kind: str) -> bool:
        """Whether a seat's next words are the transcript's: never the judge's, nor any after a turn
        to go on from.
        """
        if seat == self._judge or self._change.way not in (CONTINUED, KEPT):
            return seat != self._judge
        waiting = self._said[seat, kind]
        return bool(waiting) and waiting[0]["turn"] <= self._change.turn

    def _play_next(self, seat: str, kind: str) -> Utterance:
        waiting = self._said[seat, kind]
        return self.play(waiting.pop(0)) if waiting else unsaid(seat, kind)

    def play(self, row: Fields) -> Utterance:
        """Say again what a row of the transcript says, unless the change takes it out."""
        text, parsed = row["text"], json.loads(row["parsed"]) if row["parsed"] else None
        if self._change.turn and row["turn"] == self._change.turn and self._change.way != KEPT:
            if not self._change.texts:
                return unsaid(row["speaker"], row["kind"])
            text = self._change.texts[self._again % len(self._change.texts)]
            if parsed and "statement" in parsed:
                parsed["statement"] = text
        names = ("source", "round", "parse_status", "prediction", "confidence", "probability")
        fields = {name: row[name] for name in names}
        private = row["visibility"] != PUBLIC
        return Debate.record(
            self, row["speaker"], row["kind"], text, private=private, parsed=parsed, **fields
        )
