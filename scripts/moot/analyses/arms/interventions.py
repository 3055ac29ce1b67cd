"""Interventions of control arms that change who speaks.

Rows of kind `arm` in the transcript record the actions of an arm: the side
or case that it drew.
"""

from collections.abc import Sequence

from moot.core.cases import stable_fraction
from moot.core.utterance_kinds import COMPUTED
from moot.protocols import Debaters
from moot.protocols.debate import Debate, Intervention, Turn
from moot.protocols.utterances import MOOT, Utterance, empty_utterance

ARM = "arm"
"""The kind of an addition of a control arm to a debate."""


class ArmIntervention(Intervention):
    """What every control arm's intervention needs.

    Args:
        debaters: Who argues in the protocol.

    Attributes:
        seats: The seats that argue.
        sides: Seat to the label that it argues for; empty if debaters are told no side.
    """

    def __init__(self, debaters: Debaters) -> None:
        self.debaters = debaters

    def start(self, debate: Debate) -> None:
        """Look up seats and sides."""
        super().start(debate)
        self.seats = tuple(self.debaters.seats(debate.params))
        self.sides = self.debaters.assigned_sides(debate.params, debate.task)

    def note(self, text: str = "", **parsed: object) -> None:
        """Record an action of the arm for readers of the transcript. No seat reads it."""
        self.debate.add(MOOT, ARM, text, source=COMPUTED, private=True, parsed=parsed)

    def draw(self, purpose: str, count: int) -> int:
        """Return a number below `count`.

        The first repeat's number is drawn for the case; the following repeats take the next ones in
        turn.
        """
        fraction = stable_fraction(purpose, self.debate.seed, self.debate.case.case_id)
        return (int(fraction * count) + self.debate.repeat) % count


class Swap(ArmIntervention):
    """Debaters speak in reversed order.

    The experiment's parameter `seats` says which model has which seat.
    """

    is_noted = False

    def speaking_order(self, seats: Sequence[str]) -> list[str]:
        """Reverse the order, and note whose side speaks last."""
        if self.sides and not self.is_noted:
            self.is_noted = True
            self.note(arm="swap", side=self.sides.get(seats[0], ""))
        return list(reversed(seats))


class Consultancy(ArmIntervention):
    """Only debaters of one side are asked.

    The side is drawn for each case; the judge is not told.
    """

    def start(self, debate: Debate) -> None:
        """Draw the side."""
        super().start(debate)
        labels = sorted(set(self.sides.values()))
        self.side = labels[self.draw("consultancy", len(labels))]
        self.note(arm="consultancy", side=self.side)

    def replace_asking(self, turn: Turn) -> Utterance | None:
        """Silence the seats that argue another side."""
        if self.sides.get(turn.seat, self.side) == self.side:
            return None
        return empty_utterance(turn.seat, turn.kind)

    replace_recording = replace_asking
