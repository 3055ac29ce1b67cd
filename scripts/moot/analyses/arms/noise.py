"""The control arm `noise`: the judge reads statements of another case's debate."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow.compute as pc

from moot.analyses.arms.interventions import ArmIntervention
from moot.core.artifacts import rows_by_debate
from moot.core.cases import stable_fraction
from moot.core.errors import UserError
from moot.core.types import Fields
from moot.core.utterance_kinds import PUBLIC, UNUSABLE
from moot.protocols import Debaters
from moot.protocols.debate import Debate, Turn
from moot.protocols.utterances import Utterance, empty_utterance

SOURCE_DEBATES = "held"
"""The key of the full experiment's transcripts; its further shards have the keys `held_1`, ..."""
BORROWED = "borrowed"
"""The `source` of a statement of another case's debate."""
_COLUMNS = [
    *("case_id", "repeat", "turn", "speaker", "kind", "text", "parsed", "prediction"),
    *("confidence", "parse_status"),
]
Statements = Mapping[tuple[str, str], Sequence[Fields]]
"""Speaker and kind to the transcript's rows, in their order."""


class Noise(ArmIntervention):
    """Debaters' statements are borrowed from another case's debate.

    The other debate is of the same experiment and model. Debaters are not asked. If debaters also
    decide (a panel), each is asked and reads borrowed statements of the others.
    """

    def __init__(self, debaters: Debaters) -> None:
        super().__init__(debaters)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.noted_turns: set[int] = set()

    def start(self, debate: Debate) -> None:
        """Choose the other case."""
        super().start(debate)
        self.statements = source_statements(debate, self.seats)

    def replace_asking(self, turn: Turn) -> Utterance | None:
        """Borrow a debater's statement; a debater's private notes are left out."""
        if self.debaters.are_judges or turn.seat not in self.seats:
            return None
        if turn.private:
            return empty_utterance(turn.seat, turn.kind, "strict")
        return self._borrow(turn)

    def replace_recording(self, turn: Turn) -> Utterance | None:
        """Borrow a debater's statement."""
        if self.debaters.are_judges or turn.seat not in self.seats:
            return None
        return self._borrow(turn)

    def hear(self, seat: str, utterances: Sequence[Utterance]) -> Sequence[Utterance]:
        """Replace the statements that a debater reads of the others, if debaters also decide."""
        if not self.debaters.are_judges:
            return utterances
        colleagues = set(self.seats) - {seat}
        return [
            self._replacement(utterance) if utterance.speaker in colleagues else utterance
            for utterance in utterances
        ]

    def _borrow(self, turn: Turn) -> Utterance:
        row = self._nth(turn.seat, turn.kind, self.counts[turn.seat, turn.kind])
        self.counts[turn.seat, turn.kind] += 1
        if row is None:
            return empty_utterance(turn.seat, turn.kind)
        if not self.noted_turns:
            self.note(arm="noise", case=row["case_id"])
        utterance = self.debate.add(
            turn.seat,
            turn.kind,
            row["text"],
            source=BORROWED,
            round=turn.round,
            parsed=json.loads(row["parsed"]) if row["parsed"] else None,
            prediction=row["prediction"],
            confidence=row["confidence"],
        )
        self.noted_turns.add(utterance.turn)
        return utterance

    def _replacement(self, utterance: Utterance) -> Utterance:
        """Return an utterance with the text of the other debate's utterance in the same place."""
        row = self._nth(utterance.speaker, utterance.kind, self._place(utterance))
        text = str(row["text"]) if row else ""
        if utterance.turn not in self.noted_turns:
            self.noted_turns.add(utterance.turn)
            self.note(text, arm="noise", turn=utterance.turn, case=row["case_id"] if row else "")
        return replace(utterance, text=text)

    def _place(self, utterance: Utterance) -> int:
        """Return how many utterances of the same speaker and kind precede this one."""
        speaker_and_kind = (utterance.speaker, utterance.kind)
        turns = [
            candidate.turn
            for candidate in self.debate.utterances
            if (candidate.speaker, candidate.kind) == speaker_and_kind
        ]
        return turns.index(utterance.turn)

    def _nth(self, seat: str, kind: str, place: int) -> Fields | None:
        """Return the seat's nth statement of a kind in the other debate.

        It starts again with the first one if the other debate was shorter.
        """
        rows = self.statements.get((seat, kind), ())
        return rows[place % len(rows)] if rows else None


def source_statements(debate: Debate, seats: tuple[str, ...]) -> Statements:
    """Return the debaters' statements about another case, of the same repeat if it exists.

    Raises:
        UserError: All of the experiment's debates are about this case.
    """
    paths = tuple(
        path
        for name, path in sorted(debate.artifacts.items())
        if name.partition("_")[0] == SOURCE_DEBATES
    )
    statements = _statements_by_debate(paths, seats)
    cases = sorted(
        {case for case, _ in statements},
        key=lambda case: (stable_fraction("noise", debate.seed, case), case),
    )
    source_case = _source_case(debate, cases)
    repeats = sorted(repeat for case, repeat in statements if case == source_case)
    return statements[source_case, debate.repeat if debate.repeat in repeats else repeats[0]]


def _source_case(debate: Debate, cases: Sequence[str]) -> str:
    """Return the case after the debate's own in a fixed order, so that each case is used once."""
    case_id = debate.case.case_id
    candidates = [case for case in cases if case != case_id]
    if not candidates:
        raise UserError(
            f"experiment '{debate.experiment}': the arm `noise` borrows statements about another "
            "case, but all source debates are about this case. Raise `cases`."
        )
    if case_id in cases:
        return cases[(cases.index(case_id) + 1) % len(cases)]
    return candidates[debate.repeat % len(candidates)]


@cache
def _statements_by_debate(
    paths: tuple[Path, ...], seats: tuple[str, ...]
) -> Mapping[tuple[str, int], Mapping[tuple[str, str], Sequence[Fields]]]:
    """Return the usable public statements of some seats, by debate, then by speaker and kind."""
    is_public_statement = pc.field("speaker").isin(seats) & (pc.field("visibility") == PUBLIC)
    statements: dict[tuple[str, int], dict[tuple[str, str], list[Fields]]] = {}
    for debate_key, rows in rows_by_debate(paths, _COLUMNS, is_public_statement).items():
        usable = [
            row for row in rows if row["text"].strip() and row["parse_status"] not in UNUSABLE
        ]
        if usable:
            by_speaker: defaultdict[tuple[str, str], list[Fields]] = defaultdict(list)
            for row in usable:
                by_speaker[row["speaker"], row["kind"]].append(row)
            statements[debate_key] = by_speaker
    return statements
