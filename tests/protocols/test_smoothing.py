"""The smoothed probabilities of Debate-Feedback against hand-worked numbers.

Smoothing, threshold, fallback and decisions are tested.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.cases import Task
from moot.core.confidence import stated_probabilities
from moot.protocols.smoothing import (
    Outlook,
    decide,
    is_threshold_met,
    likeliest_answer,
    replay,
    smooth,
)
from scripted_model import ARTICLES, STANCE, WINNER

SHARES = st.floats(0, 1, allow_nan=False)


def probabilities(share: float) -> dict[str, float]:
    return {"defendant": 1 - share, "plaintiff": share}


def outlook(share: float) -> Outlook:
    """Return the judge's token probabilities, and the answer that they give."""
    return Outlook(probabilities(share), (likeliest_answer(probabilities(share), WINNER),))


def stated_outlook(task: Task, answer: str, confidence: float | None) -> Outlook:
    """Return the outlook of an answer with a stated confidence."""
    return Outlook(stated_probabilities(task, answer.split(";"), confidence), (answer,))


def test_smoothing_by_hand() -> None:
    # O_0 = 0.2; LM says 0.8, then 0.6; T = 0.5: O_1 = 0.5, O_2 = 0.55. T = 0.25: 0.35, 0.4125.
    rounds = [(outlook(0.8), True), (outlook(0.6), True)]
    assert replay(outlook(0.2), rounds, 0.5).probabilities["plaintiff"] == pytest.approx(0.55)
    assert replay(outlook(0.2), rounds, 0.25).probabilities["plaintiff"] == pytest.approx(0.4125)


def test_fallback_by_hand() -> None:
    # The first round is not met: O_1 = O_0 = 0.2. The second is: O_2 = 0.5 * 0.2 + 0.5 * 0.6 = 0.4.
    half_met = replay(outlook(0.2), [(outlook(0.8), False), (outlook(0.6), True)], 0.5)
    assert half_met.probabilities["plaintiff"] == pytest.approx(0.4)
    # Met, then not met: back to O_0, whatever the first round said.
    assert replay(outlook(0.2), [(outlook(0.8), True), (outlook(0.6), False)], 0.5) == outlook(0.2)


@given(SHARES, st.lists(st.tuples(SHARES, st.booleans()), max_size=5), SHARES)
def test_weights_0_and_1_are_the_first_and_the_last_outlook(
    first: float, rounds: Sequence[tuple[float, bool]], weight: float
) -> None:
    outlooks = [(outlook(share), met) for share, met in rounds]
    assert replay(outlook(first), outlooks, 0.0).probabilities == pytest.approx(
        probabilities(first)
    )
    last = outlooks[-1][0] if outlooks and outlooks[-1][1] else outlook(first)
    assert replay(outlook(first), outlooks, 1.0).probabilities == pytest.approx(last.probabilities)
    mixed = replay(outlook(first), outlooks, weight).probabilities
    assert sum(mixed.values()) == pytest.approx(1)
    shares = [first, *(share for share, _ in rounds)]
    assert min(shares) - 1e-9 <= mixed["plaintiff"] <= max(shares) + 1e-9


def test_several_labels_are_smoothed_separately() -> None:
    assert smooth({"234": 0.4, "264": 0.8}, {"234": 1.0, "264": 0.0}, 0.5) == {
        "234": 0.7,
        "264": 0.4,
    }


@pytest.mark.parametrize(
    ("reliabilities", "met"),
    [
        ([0.75, 0.8, 0.45], True),  # the paper's example; the mean is 0.667
        ([0.3, 0.69], False),
        ([0.5, 0.5], True),  # reaching it is enough
        ([], True),  # no assistant
    ],
)
def test_threshold(reliabilities: list[float], met: bool) -> None:
    assert is_threshold_met(reliabilities, 0.5) is met


def test_stated_answers_become_outlooks() -> None:
    assert stated_probabilities(WINNER, ["plaintiff"], 60)["plaintiff"] == pytest.approx(0.8)
    assert stated_probabilities(WINNER, ["defendant"], 0) == {"defendant": 0.5, "plaintiff": 0.5}
    assert stated_probabilities(STANCE, ["pro"], 40) == pytest.approx(
        {"pro": 0.6, "con": 0.2, "neutral": 0.2}
    )
    assert stated_probabilities(ARTICLES, ["264", "347"], 50) == {
        "234": 0.25,
        "264": 0.75,
        "347": 0.75,
    }
    assert stated_probabilities(WINNER, ["plaintiff"], None)["plaintiff"] == 1.0


@pytest.mark.parametrize("confidence", [0, 0.4, 50, 100, None])
@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (WINNER, "defendant"),
        (WINNER, "plaintiff"),
        (STANCE, "con"),
        (STANCE, "neutral"),
        (STANCE, "pro"),
    ]
    + [(ARTICLES, answer) for answer in ("234", "264", "234;347", "234;264;347")],
)
def test_an_answer_never_counts_for_another_label(
    task: Task, answer: str, confidence: float | None
) -> None:
    assert decide(stated_outlook(task, answer, confidence), task) == answer


@pytest.mark.parametrize("confidence", [0, 30, 70, 100])
@pytest.mark.parametrize(
    ("answers", "weight", "decision"),
    [
        ("ddp", 0.5, "plaintiff"),  # D and D weigh as much as P: the latest stands
        ("ppd", 0.5, "defendant"),
        ("dp", 0.5, "plaintiff"),
        ("pd", 0.5, "defendant"),
        ("dp", 0.0, "defendant"),  # what does not enter O_n breaks no tie
        ("pd", 1.0, "defendant"),
    ],
)
def test_the_latest_answer_breaks_a_tie(
    answers: str, weight: float, decision: str, confidence: float
) -> None:
    words = {"d": "defendant", "p": "plaintiff"}
    first, *rounds = (stated_outlook(WINNER, words[letter], confidence) for letter in answers)
    assert decide(replay(first, [(latest, True) for latest in rounds], weight), WINNER) == decision


def test_ties_among_three_labels_and_after_a_fallback() -> None:
    pro, con, neutral = (stated_outlook(STANCE, label, 60) for label in ("pro", "con", "neutral"))
    assert decide(replay(pro, [(con, True)], 0.5), STANCE) == "con"
    assert decide(replay(con, [(pro, True)], 0.5), STANCE) == "pro"
    tied = Outlook({"con": 0.4, "neutral": 0.2, "pro": 0.4}, ("neutral", "con", "pro"))
    assert decide(tied, STANCE) == "con", "the latest answer that names one of those that are equal"
    assert decide(replay(pro, [(neutral, True), (con, False)], 0.5), STANCE) == "pro"


def test_decisions_of_token_probabilities() -> None:
    assert decide(outlook(0.51), WINNER) == "plaintiff"
    assert decide(outlook(0.49), WINNER) == "defendant"
    for shares, answer in [
        ({"234": 0.6, "264": 0.1, "347": 0.5}, "234"),
        ({"234": 0.3, "264": 0.4, "347": 0.1}, "264"),
    ]:
        assert likeliest_answer(shares, ARTICLES) == answer
        assert decide(Outlook(shares, (answer,)), ARTICLES) == answer
