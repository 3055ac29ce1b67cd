"""Interventions of control arms that change who speaks.

Rows of kind `arm` in the transcript record the actions of an arm: the side
or case that it drew.
"""

from collections.abc import Sequence

from moot.core.cases import stable_fraction
from moot.core.utterance_kinds import COMPUTED
from moot.llm.request import Message
from moot.protocols import Debaters
from moot.protocols.debate import Debate, Intervention, Turn
from moot.protocols.reply_schemas import prediction_schema
from moot.protocols.utterances import MOOT, Utterance, empty_utterance

ARM = "arm"
"""The kind of an addition of a control arm to a debate."""
COMMIT_TEMPLATE = "arms/commit_first"
COMMITMENT = "commitment"
"""The kind of a judge's answer before it hears a debate."""


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


class CommitFirst(ArmIntervention):
    """The judge commits itself to an answer before the debate.

    That exchange precedes its later prompts as messages.
    """

    def __init__(self, debaters: Debaters) -> None:
        super().__init__(debaters)
        self.has_begun = False
        self.commitment_messages: tuple[Message, ...] = ()
        self.exchange: tuple[Message, ...] = ()

    async def before_asking(self) -> None:
        """Ask for the commitment before the first seat is asked anything."""
        if self.has_begun:
            return
        self.has_begun = True
        debate, judge = self.debate, self.debaters.decider
        schema = prediction_schema(debate.task, name="Commitment", reasoning=True)
        commitment = await debate.say(
            judge, COMMITMENT, COMMIT_TEMPLATE, schema=schema, private=True
        )
        if not commitment.usable or not commitment.prediction:
            return
        side = commitment.prediction
        self.note(arm="commit_first", turn=commitment.turn, speaker=judge, side=side)
        if not debate.voices.is_human(judge):
            question = _without_system(self.commitment_messages)
            self.exchange = (*question, Message("assistant", commitment.text))

    def hear(self, seat: str, utterances: Sequence[Utterance]) -> Sequence[Utterance]:
        """Leave the commitment out of a model's notes: it has it as messages."""
        if self.debate.voices.is_human(seat):
            return utterances
        return [utterance for utterance in utterances if utterance.kind != COMMITMENT]

    def frame(self, utterance: Utterance, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Put the commitment between the judge's system message and its question."""
        if utterance.kind == COMMITMENT:
            self.commitment_messages = messages
        if utterance.speaker != self.debaters.decider or not self.exchange:
            return messages
        system = [message for message in messages if message.role == "system"]
        return (*system, *self.exchange, *_without_system(messages))


def _without_system(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.role != "system"]
