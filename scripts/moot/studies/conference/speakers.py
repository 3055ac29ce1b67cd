"""Who speaks next in a decision conference: Algorithm 1 of the paper, for any number of
participants.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

USER, MODERATOR, JUDGE, EVALUATOR = "user", "moderator", "judge", "evaluator"
AGREEMENT_WORD = "AGREEMENT"


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as Algorithm 1 sees it: who sent it, and what it says (for the judge: the decision
    as understood).
    """

    speaker: str
    content: str = ""


def participant_seat(number: int) -> str:
    """The seat of a participant, from 1."""
    return f"participant_{number}"


def next_speaker(messages: Sequence[Turn], participants: int) -> str:
    """Who speaks after these messages, the first of which is the user's, who sets the issue.

    Two gaps of the paper are filled here. A judge's message with neither word would leave the next
    speaker unset; it goes to the moderator, as more debate does. For a last speaker that the
    algorithm does not know, the paper lets AutoGen choose by a model's call; here it is the
    moderator, so that the order is a function of the messages.
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


def list_transitions(participants: int) -> Iterator[tuple[str, str, str]]:
    """Every step that `next_speaker` can take: last speaker, what was said where it matters, next
    speaker.
    """
    first_turn = Turn(USER)
    yield USER, "", next_speaker([first_turn], participants)
    turns = [
        Turn(MODERATOR),
        *(Turn(participant_seat(number)) for number in range(1, participants + 1)),
    ]
    turns += [Turn(JUDGE, "AGREEMENT"), Turn(JUDGE, "MORE DEBATE"), Turn(EVALUATOR)]
    for turn in turns:
        yield turn.speaker, turn.content, next_speaker([first_turn, turn], participants)
