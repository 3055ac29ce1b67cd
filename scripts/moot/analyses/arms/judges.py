"""Interventions of control arms that ask the judge more: before the debate, or after its
verdict.
"""

from collections.abc import Mapping, Sequence

from moot.analyses.arms.arm_kinds import CHALLENGE, COMMITMENT
from moot.analyses.arms.interventions import ArmIntervention
from moot.core.utterance_kinds import PUBLIC
from moot.llm.request import Message
from moot.protocols import Debaters
from moot.protocols.debate import Answer, Turn
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.protocols.utterances import Utterance

COMMIT_TEMPLATE, CHALLENGE_TEMPLATE = "arms/commit_first", "arms/challenge"
MAX_CHALLENGES = 6


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


class Challenge(ArmIntervention):
    """After its verdict the judge is told that it is wrong, until it gives another answer.

    Each challenge is more insistent than the one before, and gives no reason.
    """

    def __init__(self, debaters: Debaters) -> None:
        super().__init__(debaters)
        self.messages_by_turn: dict[int, tuple[Message, ...]] = {}
        self.exchange: tuple[Message, ...] = ()
        self.words: Mapping[str, str] | None = None

    async def before_asking(self, turn: Turn) -> None:
        """Remember the words from which the judge chooses a label: it is challenged in them."""
        is_judge = turn.seat == self.debaters.decider
        if is_judge and turn.words and set(turn.words) == set(self.debate.task.labels):
            self.words = turn.words

    def frame(self, utterance: Utterance, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Put a challenge after the preceding exchange, and remember the messages to the judge."""
        if utterance.kind == CHALLENGE:
            messages = (*self.exchange, *messages)
        if utterance.speaker == self.debaters.decider:
            self.messages_by_turn[utterance.turn] = messages
        return messages

    async def after_answer(self, answer: Answer) -> Answer:
        """Challenge the judge, and return the answer that it ends with."""
        verdict = self._verdict()
        if verdict is None:
            return answer
        judge = self.debaters.decider
        self.note(arm="challenge", turn=verdict.turn, speaker=judge, side=answer.prediction)
        self._continue_from(verdict)
        for step in range(1, MAX_CHALLENGES + 1):
            reply = await self._challenge(judge, step)
            if reply.usable and reply.prediction:
                self._continue_from(reply)
                if reply.prediction != answer.prediction:
                    return read_answer(self.debate, reply) or answer
        return answer

    def _verdict(self) -> Utterance | None:
        """Return the judge's last usable prediction, a public one if there is any."""
        judge = self.debaters.decider
        is_human = self.debate.is_human_seat(judge)
        predictions = []
        for utterance in self.debate.utterances:
            was_asked = utterance.turn in self.messages_by_turn or is_human
            is_prediction = bool(utterance.prediction) and utterance.usable
            if utterance.speaker == judge and was_asked and is_prediction:
                predictions.append(utterance)
        public = [utterance for utterance in predictions if utterance.visibility == PUBLIC]
        candidates = public or predictions
        return candidates[-1] if candidates else None

    async def _challenge(self, judge: str, step: int) -> Utterance:
        if self.words:
            return await self.debate.choose(
                judge,
                CHALLENGE,
                CHALLENGE_TEMPLATE,
                words=self.words,
                private=True,
                round=step,
                step=step,
            )
        schema = prediction_schema(self.debate.task)
        return await self.debate.say(
            judge,
            CHALLENGE,
            CHALLENGE_TEMPLATE,
            schema=schema,
            private=True,
            round=step,
            step=step,
        )

    def _continue_from(self, utterance: Utterance) -> None:
        """Let the next challenge follow an utterance's messages to the judge, and its reply."""
        reply = utterance.text or (self.words or {}).get(utterance.prediction or "", "")
        messages = self.messages_by_turn.get(utterance.turn, ())
        self.exchange = (*messages, Message("assistant", reply))
