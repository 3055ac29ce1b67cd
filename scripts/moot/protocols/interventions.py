"""Interventions: a protocol runs unchanged, and its debate is changed from outside.

A debate calls its intervention at seven points: before a seat is asked, in place of asking, in
place of recording, when a prompt quotes the debate, when a prompt is sent, when an utterance is
recorded, and when the protocol has its answer. `Intervention` changes nothing at any of them;
control arms and replays override the points at which they change something.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moot.llm.request import Message
from moot.protocols.utterances import Utterance

if TYPE_CHECKING:
    from moot.protocols.debate import Answer, Debate


@dataclass(frozen=True, slots=True)
class Turn:
    """A seat's turn to speak.

    Attributes:
        seat, kind, round: Columns of the utterance that the turn becomes.
        private: Whether only this seat may read the utterance later.
        words: Label to its word in the prompt, where the labels' likelihood is the answer.
    """

    seat: str
    kind: str
    private: bool = False
    round: int = 0
    words: Mapping[str, str] | None = None


class Intervention:
    """Changes nothing. The base class of control arms and replays; one object serves one debate.

    Attributes:
        debate: The debate, from `start` on.
    """

    debate: "Debate"

    def start(self, debate: "Debate") -> None:
        """Called once, before any seat speaks."""
        self.debate = debate

    def speaking_order(self, seats: Sequence[str]) -> list[str]:
        """Return the debaters in the order in which they speak."""
        return list(seats)

    async def before_asking(self, _turn: Turn, /) -> None:
        """Called before a model or person is asked."""

    def replace_asking(self, _turn: Turn, /) -> Utterance | None:
        """Return the utterance of a seat that is not to be asked; None to ask it."""
        return None

    def replace_recording(self, _turn: Turn, /) -> Utterance | None:
        """Return the utterance that replaces one which the protocol itself records; None for none."""
        return None

    def hear(self, _seat: str, utterances: Sequence[Utterance], /) -> Sequence[Utterance]:
        """Return the utterances that a prompt for a seat may quote."""
        return utterances

    def frame(self, _utterance: Utterance, messages: tuple[Message, ...], /) -> tuple[Message, ...]:
        """Return the messages that are sent to a model for an utterance."""
        return messages

    def after_utterance(self, _utterance: Utterance, /) -> None:
        """Called when an utterance is recorded; may edit it in place."""

    async def after_answer(self, answer: "Answer") -> "Answer":
        """Return the debate's answer, given the one that the protocol came to."""
        return answer
