"""The control arm in which the judge commits itself before the debate."""

from collections.abc import Sequence

from moot.analyses.arms.interventions import ArmIntervention
from moot.llm.request import Message
from moot.protocols import Debaters
from moot.protocols.debate import Turn
from moot.protocols.reply_schemas import prediction_schema
from moot.protocols.utterances import Utterance

COMMIT_TEMPLATE = "arms/commit_first"
COMMITMENT = "commitment"
"""The kind of a judge's answer before it hears a debate."""


class CommitFirst(ArmIntervention):
    """The judge commits itself before the debate. That exchange precedes its later prompts as
    messages.
    """

    def __init__(self, debaters: Debaters) -> None:
        super().__init__(debaters)
        self.has_begun = False
        self.commitment_messages: tuple[Message, ...] = ()
        self.exchange: tuple[Message, ...] = ()

    async def before_asking(self, _turn: Turn) -> None:
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
        if not debate.is_human_seat(judge):
            question = _without_system(self.commitment_messages)
            self.exchange = (*question, Message("assistant", commitment.text))

    def hear(self, seat: str, utterances: Sequence[Utterance]) -> Sequence[Utterance]:
        """Leave the commitment out of a model's notes: it has it as messages."""
        if self.debate.is_human_seat(seat):
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
