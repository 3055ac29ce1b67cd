"""The speaker order of the conference is Algorithm 1."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from moot.studies.conference.forms import (
    EVALUATOR,
    JUDGE,
    MODERATOR,
    USER,
    Message,
    next_speaker,
    participant_seat,
)


def algorithm_1(messages: list[Message]) -> str:
    """The paper's listing for two participants, branch by branch.

    It is "" where the listing leaves the speaker unset or to AutoGen.
    """
    if len(messages) <= 1:
        return "moderator"
    last, content = messages[-1].speaker, messages[-1].content
    if last == "judge":
        if "AGREEMENT" in content:
            return "evaluator"
        return "moderator" if "DEBATE" in content else ""
    successors = {"evaluator": "moderator", "moderator": "participant_1"}
    return {**successors, "participant_1": "participant_2", "participant_2": "judge"}.get(last, "")


def test_speaker_order_is_algorithm_1_on_every_history_of_up_to_four_messages() -> None:
    speakers = [USER, MODERATOR, "participant_1", "participant_2", JUDGE, EVALUATOR]
    contents = ["", "AGREEMENT", "MORE DEBATE"]
    messages = list(itertools.starmap(Message, itertools.product(speakers, contents)))
    compared = 0
    for length in range(5):
        for history in itertools.product(messages, repeat=min(length, 2)):
            full_history = [Message(USER)] * (length - len(history)) + list(history)
            assert next_speaker(full_history, 2) == (algorithm_1(full_history) or MODERATOR)
            compared += 1
    assert compared == 1 + 18 + 3 * 18**2


@given(
    st.integers(2, 10),
    st.lists(st.sampled_from(["AGREEMENT", "MORE DEBATE", ""]), min_size=1, max_size=6),
)
def test_every_participant_speaks_once_a_round_in_order(
    participants: int, decisions: list[str]
) -> None:
    history = [Message(USER)]
    pending_decisions = iter(decisions)
    while (speaker := next_speaker(history, participants)) != JUDGE or (
        decision := next(pending_decisions, None)
    ) is not None:
        history.append(Message(speaker, decision if speaker == JUDGE else ""))
    speakers = [turn.speaker for turn in history if turn.speaker.startswith("participant")]
    assert speakers == [participant_seat(n) for n in range(1, participants + 1)] * (
        len(decisions) + 1
    )
