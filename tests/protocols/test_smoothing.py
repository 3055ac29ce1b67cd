"""The smoothed probabilities of Debate-Feedback: smoothing, threshold, fallback and decisions against hand-worked numbers."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.confidence import stated_probabilities
from moot.protocols.smoothing import decided, replay, smoothed, threshold_met
from scripted_model import ARTICLES, STANCE, WINNER

SHARES = st.floats(0, 1, allow_nan=False)


def probabilities(share: float) -> dict[str, float]:
    return {"defendant": 1 - share, "plaintiff": share}


def test_smoothing_by_hand() -> None:
    # O_0 = 0.2; LM says 0.8, then 0.6; T = 0.5: O_1 = 0.5, O_2 = 0.55. T = 0.25: 0.35, 0.4125.
    rounds = [(probabilities(0.8), True), (probabilities(0.6), True)]
    assert replay(probabilities(0.2), rounds, 0.5)["plaintiff"] == pytest.approx(0.55)
    assert replay(probabilities(0.2), rounds, 0.25)["plaintiff"] == pytest.approx(0.4125)


def test_fallback_by_hand() -> None:
    # The first round is not met: O_1 = O_0 = 0.2. The second is: O_2 = 0.5 * 0.2 + 0.5 * 0.6 = 0.4.
    assert replay(probabilities(0.2), [(probabilities(0.8), False), (probabilities(0.6), True)], 0.5)[
        "plaintiff"
    ] == pytest.approx(0.4)
    # Met, then not met: back to O_0, whatever the first round said.
    assert replay(probabilities(0.2), [(probabilities(0.8), True), (probabilities(0.6), False)], 0.5) == probabilities(
        0.2
    )


@given(SHARES, st.lists(st.tuples(SHARES, st.booleans()), max_size=5), SHARES)
def test_no_weight_changes_nothing_and_full_weight_smooths_nothing(
    first: float, rounds: Sequence[tuple[float, bool]], weight: float
) -> None:
    heard = [(probabilities(share), met) for share, met in rounds]
    assert replay(probabilities(first), heard, 0.0) == pytest.approx(probabilities(first))
    last = heard[-1][0] if heard and heard[-1][1] else probabilities(first)
    assert replay(probabilities(first), heard, 1.0) == pytest.approx(last)
    mixed = replay(probabilities(first), heard, weight)
    assert sum(mixed.values()) == pytest.approx(1)
    shares = [first, *(share for share, _ in rounds)]
    assert min(shares) - 1e-9 <= mixed["plaintiff"] <= max(shares) + 1e-9


def test_each_of_several_labels_is_smoothed_by_itself() -> None:
    assert smoothed({"234": 0.4, "264": 0.8}, {"234": 1.0, "264": 0.0}, 0.5) == {"234": 0.7, "264": 0.4}


@pytest.mark.parametrize(
    ("reliabilities", "rule", "met"),
    [
        ([0.75, 0.8, 0.45], "mean", True),  # the paper's example; the mean is 0.667
        ([0.75, 0.8, 0.45], "all", False),
        ([0.3, 0.69], "mean", False),
        ([0.3, 0.69], "any", True),
        ([0.5, 0.5], "mean", True),  # reaching it is enough
        ([], "all", True),  # no assistant
    ],
)
def test_threshold(reliabilities: list[float], rule: Any, met: bool) -> None:
    assert threshold_met(reliabilities, 0.5, rule) is met


def test_stated_answers_as_outlooks() -> None:
    assert stated_probabilities(WINNER, ["plaintiff"], 60)["plaintiff"] == pytest.approx(0.8)
    assert stated_probabilities(WINNER, ["defendant"], 0) == {"defendant": 0.5, "plaintiff": 0.5}
    assert stated_probabilities(STANCE, ["pro"], 40) == pytest.approx({"pro": 0.6, "con": 0.2, "neutral": 0.2})
    assert stated_probabilities(ARTICLES, ["264", "347"], 50) == {"234": 0.25, "264": 0.75, "347": 0.75}
    assert stated_probabilities(WINNER, ["plaintiff"], None)["plaintiff"] == 1.0


@given(st.sampled_from(["con", "neutral", "pro"]), st.floats(0.01, 100))
def test_a_stated_answer_never_counts_against_itself(label: str, confidence: float) -> None:
    assert decided(stated_probabilities(STANCE, [label], confidence), STANCE) == label


def test_decisions() -> None:
    assert decided(probabilities(0.5), WINNER) == "plaintiff"
    assert decided(probabilities(0.49), WINNER) == "defendant"
    assert decided({"con": 0.4, "neutral": 0.2, "pro": 0.4}, STANCE) == "pro"
    assert decided({"234": 0.6, "264": 0.1, "347": 0.5}, ARTICLES) == "234;347"
    assert decided({"234": 0.3, "264": 0.4, "347": 0.1}, ARTICLES) == "264"  # none reaches a half: the likeliest
