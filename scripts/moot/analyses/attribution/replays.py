"""Transcripts played to a judge without one turn. Only the judge is asked.

If the judge's protocol is known, it runs again, so that the judge reads the same prompts as in the
debate. The utterances of all other seats come from the transcript.
"""

import json
from collections import defaultdict

from moot.core.types import Fields
from moot.core.utterance_kinds import PUBLIC
from moot.protocols.debate import Debate, Intervention, Turn
from moot.protocols.replayed import RecordedDebate
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import Utterance, empty_utterance

NO_TURN = 0
"""The number of the removed turn of an unchanged debate; turns are numbered from 1."""
MAX_CALLS_PER_PROMPT = 20
"""Maximum calls of one prompt in a replay. Each replay has its own range of replicates."""


class Replay(Intervention):
    """A debate of a transcript is played once more, without one turn.

    Args:
        recorded: The debate of the transcript.
        removed_turn: The number of the turn that is left out; `NO_TURN` for none.
        judge: The seat that is asked.
    """

    def __init__(self, recorded: RecordedDebate, removed_turn: int, judge: str) -> None:
        self._judge, self._removed_turn = judge, removed_turn
        self._debaters = {row["speaker"] for row in recorded.turns}
        self._rows: defaultdict[tuple[str, str], list[Fields]] = defaultdict(list)
        for row in recorded.rows:
            self._rows[row["speaker"], row["kind"]].append(row)

    def replace_asking(self, turn: Turn) -> Utterance | None:
        """Play the next row of any seat but the judge."""
        return None if turn.seat == self._judge else self._play_next(turn)

    def replace_recording(self, turn: Turn) -> Utterance | None:
        """Play a debater's next row. The protocol's computations are computed again."""
        return self._play_next(turn) if turn.seat in self._debaters else None

    def _play_next(self, turn: Turn) -> Utterance:
        rows = self._rows[turn.seat, turn.kind]
        return self.play(rows.pop(0)) if rows else empty_utterance(turn.seat, turn.kind)

    def play(self, row: Fields) -> Utterance:
        """Record a row of the transcript, unless its turn is left out."""
        if row["turn"] == self._removed_turn:
            return empty_utterance(row["speaker"], row["kind"])
        return self.debate.add(
            row["speaker"],
            row["kind"],
            row["text"],
            source=row["source"],
            private=row["visibility"] != PUBLIC,
            round=row["round"],
            parsed=json.loads(row["parsed"]) if row["parsed"] else None,
            parse_status=row["parse_status"],
            prediction=row["prediction"],
            confidence=row["confidence"],
            probability=row["probability"],
        )


def replay_debate(
    original: Debate,
    setup: JobSetup,
    recorded: RecordedDebate,
    removed_turn: int,
    replay_number: int,
    judge: str,
) -> tuple[Debate, Replay]:
    """Return a debate that plays a recorded one, and its intervention.

    Args:
        original: The debate in which the replays are recorded.
        setup: The part of a job that the judge's protocol reads.
        recorded, removed_turn, judge: As of `Replay`.
        replay_number: The number of the replay, from 0; the calls of each replay are separate
            samples.
    """
    replay = Replay(recorded, removed_turn, judge)
    first_replicate = (replay_number + 1) * MAX_CALLS_PER_PROMPT
    case, task, repeat = original.case, original.task, original.repeat
    return Debate(case, task, repeat, setup, replay, first_replicate), replay
