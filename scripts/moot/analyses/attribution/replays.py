"""Transcripts played to a judge with one change.

Only the judge is asked, unless the debate continues from the change.

If the judge's protocol is known, it runs again, so that the judge reads the same prompts as in the
debate. The utterances of all other seats come from the transcript.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.core.cases import stable_fraction
from moot.core.types import Fields
from moot.core.utterance_kinds import BELIEF, PUBLIC
from moot.protocols.debate import Debate, Intervention, Turn
from moot.protocols.replayed import RecordedDebate
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import Utterance, empty_utterance

UNCHANGED = "whole"
REMOVED = "removed"
REPLACED = "replaced"
REORDERED = "reordered"
SENTENCE = "sentence"
CONTINUED, CONTINUED_UNCHANGED = "continued", "kept"
"""The debate continues from a turn that is removed, and from the same turn unchanged."""
WAYS_OF_ONE_TURN = (REMOVED, REPLACED, CONTINUED)
"""The ways to change one turn."""
MAX_CALLS_PER_PROMPT = 20
"""Maximum calls of one prompt in a replay. Each replay has its own range of replicates."""
MAX_LENGTH_DIFFERENCE = 0.5
"""By what share of a turn's length its replacement may differ."""
_SENTENCE = re.compile(r"[^.!?。！？…]*(?:[.!?。！？…]+[\"'”’»」』)\]）]*\s*|$)")

DebateKey = tuple[str, int]
"""The case and the repeat of a debate."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a debate.

    Attributes:
        way: The kind of change; `UNCHANGED` for none.
        turn: The number of the turn in the recorded debate; 0 if the change does not concern a
            single turn.
        number: The number of the sentence within its turn.
        texts: The replacements of the turn's text; each replay takes the next one.
        quote: The sentence that is removed.
    """

    way: str = UNCHANGED
    turn: int = 0
    number: int = 0
    texts: tuple[str, ...] = ()
    quote: str = ""


def is_verdict_unstable(
    debates: Mapping[DebateKey, RecordedDebate], key: DebateKey, judge: str
) -> bool:
    """Return whether a debate's judge changed its belief, or another repeat of its case came to
    another verdict.
    """
    debate = debates[key]
    beliefs = {debate.verdict}
    for row in debate.rows:
        if row["speaker"] == judge and row["kind"] == BELIEF:
            beliefs.add(row["prediction"])
    verdicts = {repeat.verdict for (case, _), repeat in debates.items() if case == key[0]}
    return _count_labels(beliefs) > 1 or _count_labels(verdicts) > 1


def _count_labels(labels: set[str]) -> int:
    return sum(bool(label) for label in labels)


def replacement_texts(
    debates: Mapping[DebateKey, RecordedDebate],
    key: DebateKey,
    turn: Fields,
    roles: Mapping[str, str],
    limit: int,
) -> tuple[str, ...]:
    """Return the texts that may replace a turn, nearest in length first.

    They come from debates of other cases with the same verdict, and have the turn's role and kind.

    Args:
        debates: The recorded debates.
        key: The turn's debate.
        turn: The row of the turn.
        roles: The role of each seat.
        limit: The maximum number of texts.
    """

    def role_and_kind(row: Fields) -> tuple[str, str]:
        return roles.get(row["speaker"], row["speaker"]), row["kind"]

    length = len(turn["text"])
    candidates: list[tuple[int, float, str]] = []
    for donor_key, donor in debates.items():
        if donor_key[0] == key[0] or donor.verdict != debates[key].verdict:
            continue
        draw = stable_fraction("donor", *key, turn["turn"], donor_key)
        texts = [row["text"] for row in donor.turns if role_and_kind(row) == role_and_kind(turn)]
        candidates += [(abs(len(text) - length), draw, text) for text in texts]
    candidates = [candidate for candidate in candidates if candidate[2] != turn["text"]]
    nearest = sorted(candidates)[:limit]
    max_difference = MAX_LENGTH_DIFFERENCE * length
    return tuple(text for difference, _, text in nearest if difference <= max_difference)


def split_sentences(text: str) -> list[tuple[str, str]]:
    """Return the sentences of a text, each with the text without it.

    >>> split_sentences("He paid. She did not!")
    [('He paid.', 'She did not!'), ('She did not!', 'He paid.')]
    """
    sentences = []
    for match in _SENTENCE.finditer(text):
        if match.group().strip():
            rest = text[: match.start()] + text[match.end() :]
            sentences.append((match.group().strip(), rest.strip()))
    return sentences


class Replay(Intervention):
    """A debate of a transcript is played once more, with a change.

    Args:
        recorded: The debate of the transcript.
        change: The change.
        replay_number: The number of the replay of this change, from 0.
        judge: The seat that is asked.
    """

    def __init__(
        self, recorded: RecordedDebate, change: Change, replay_number: int, judge: str
    ) -> None:
        self._judge, self._change, self._replay_number = judge, change, replay_number
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
        """Return whether a seat's next utterance comes from the transcript.

        The judge is asked. If the debate continues from a turn, all seats after it are asked as
        well.
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
            text = self._change.texts[self._replay_number % len(self._change.texts)]
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
        """Return whether the change removes a row or replaces its text."""
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
    replay_number: int,
    judge: str,
) -> tuple[Debate, Replay]:
    """Return a debate that plays a recorded one, and its intervention.

    Args:
        original: The debate in which the replays are recorded.
        setup: The part of a job that the judge's protocol reads.
        recorded, change, replay_number, judge: As of `Replay`. The calls of each replay are
            separate samples.
    """
    replay = Replay(recorded, change, replay_number, judge)
    first_replicate = (replay_number + 1) * MAX_CALLS_PER_PROMPT
    case, task, repeat = original.case, original.task, original.repeat
    return Debate(case, task, repeat, setup, replay, first_replicate), replay
