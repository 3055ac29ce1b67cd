"""The order of speakers in a decision conference: Algorithm 1 for any number of participants."""

from collections.abc import Sequence
from dataclasses import dataclass

USER, MODERATOR, JUDGE, EVALUATOR = "user", "moderator", "judge", "evaluator"
AGREEMENT_WORD = "AGREEMENT"


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as Algorithm 1 sees it: its sender and its text (for the judge, the decision)."""

    speaker: str
    content: str = ""


def participant_seat(number: int) -> str:
    """Return the seat of a participant, from 1."""
    return f"participant_{number}"


def next_speaker(messages: Sequence[Turn], participants: int) -> str:
    """Return the seat that speaks after these messages. The first message is the user's issue.

    This fills two gaps of the paper. After a judge's message without a decision, the paper leaves
    the next speaker unset; here the moderator follows, as after more debate. After an unknown
    speaker, the paper lets AutoGen choose by a call to a model; here the moderator follows, so that
    the order depends only on the messages.
    """
    if len(messages) <= 1:
        return MODERATOR
    last = messages[-1]
    if last.speaker == JUDGE:
        return EVALUATOR if AGREEMENT_WORD in last.content else MODERATOR
    if last.speaker == MODERATOR:
        return participant_seat(1)
    for number in range(1, participants):
        if last.speaker == participant_seat(number):
            return participant_seat(number + 1)
    if last.speaker == participant_seat(participants):
        return JUDGE
    return MODERATOR
