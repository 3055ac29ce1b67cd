"""Test that a stated confidence has the same meaning in all scores."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.cases import Task
from moot.core.confidence import (
    number_of_choices,
    probability_of_stated_confidence,
    stated_probabilities,
)
from moot.protocols.smoothing import Outlook, decide
from moot.scores import score_experiment
from moot.scores.dynamics import stated_predictions
from moot.scores.groups import probability_of_positive, probability_of_prediction
from results_on_disk import REARREST, case, prediction, utterance, write_results
from scripted_model import ARTICLES, STANCE, WINNER, hold

CONFIDENCES = st.floats(0, 100, allow_nan=False)
ANSWERS = st.lists(
    st.tuples(st.sampled_from(["yes", "no"]), st.integers(1, 100)), min_size=2, max_size=8
)


@given(CONFIDENCES, CONFIDENCES, st.integers(2, 9))
def test_the_probability_rises_from_chance_to_one_with_the_confidence(
    low: float, high: float, labels: int
) -> None:
    low, high = sorted((low, high))
    assert probability_of_stated_confidence(0.0, labels) == pytest.approx(1 / labels)
    assert probability_of_stated_confidence(100.0, labels) == pytest.approx(1)
    assert (
        probability_of_stated_confidence(low, labels)
        <= probability_of_stated_confidence(high, labels) + 1e-12
    )
    assert 1 / labels - 1e-12 <= probability_of_stated_confidence(low, labels) <= 1 + 1e-12


@given(st.sampled_from([WINNER, STANCE, ARTICLES]), st.data(), st.floats(0.01, 100))
def test_no_other_label_is_more_probable_than_the_answer(
    task: Task, data: st.DataObject, confidence: float
) -> None:
    label = data.draw(st.sampled_from(task.labels))
    shares = stated_probabilities(task, [label], confidence)
    assert max(shares, key=lambda label_name: shares[label_name]) == label
    assert decide(Outlook(shares, (label,)), task) == label, (
        "smoothing begins with the judge's own answer"
    )
    assert task.multilabel or sum(shares.values()) == pytest.approx(1)
    assert shares[label] == pytest.approx(
        probability_of_stated_confidence(confidence, number_of_choices(task))
    )


async def test_an_answer_no_with_40_percent_is_not_evidence_for_yes() -> None:
    answer, _, _ = await hold(
        "zero_shot", case("c", "no"), REARREST, lambda _: '{"prediction": "NO", "confidence": 40}'
    )
    assert answer is not None
    assert (answer.prediction, answer.confidence) == ("no", 40)
    assert answer.score == pytest.approx(0.3)
    assert answer.probability == pytest.approx(0.7)


def overall_scores(folder: Path, answers: list[tuple[str, int]], is_correct: bool) -> pd.Series:
    """Return the overall scores of answers that are all correct or all wrong."""
    other_label = {"yes": "no", "no": "yes"}
    cases = [
        case(f"c{n}", answer if is_correct else other_label[answer])
        for n, (answer, _) in enumerate(answers)
    ]
    rows = [
        prediction(c.case_id, c.target, answer, confidence=confidence)
        for c, (answer, confidence) in zip(cases, answers, strict=True)
    ]
    answer = [utterance(f"{c.case_id}#0", 1, "expert") for c in cases]
    frame = score_experiment(write_results(folder, cases, {"tiny": rows}, {"tiny": answer}))
    overall = frame[
        (frame["group"] == "overall") & (frame["model"] == "tiny") & (frame["average"] == "")
    ]
    return overall.set_index("metric")["value"]


@given(ANSWERS, st.booleans())
@settings(max_examples=15)
def test_brier_auc_and_calibration_never_contradict_the_predictions(
    tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[str, int]], is_correct: bool
) -> None:
    scores = overall_scores(tmp_path_factory.mktemp("scores"), answers, is_correct)
    guess = 0.25  # the Brier score of a constant probability of one half
    assert scores["brier"] <= guess if is_correct else scores["brier"] >= guess
    assert scores["brier"] == pytest.approx(scores["brier_of_prediction"])
    if len({answer for answer, _ in answers}) > 1:
        assert scores["auc"] == (1.0 if is_correct else 0.0)
    assert scores["overconfidence"] <= 0 if is_correct else scores["overconfidence"] >= 0.5
    assert scores["confidence_missing"] == 0


@given(
    st.lists(st.tuples(st.sampled_from(["yes", "no"]), st.integers(1, 100)), min_size=1, max_size=6)
)
@settings(max_examples=15)
def test_a_belief_lies_on_the_side_of_its_prediction(
    tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[str, int]]
) -> None:
    utterances = [
        utterance(
            "c#0", turn, "judge", kind="belief", prediction=label, confidence=float(confidence)
        )
        for turn, (label, confidence) in enumerate(answers, start=1)
    ]
    rows = {"tiny": [prediction("c", "yes", answers[-1][0])]}
    opinions = stated_predictions(
        write_results(
            tmp_path_factory.mktemp("beliefs"), [case("c", "yes")], rows, {"tiny": utterances}
        )
    )
    assert all(
        (belief > 0.5) == (label == "yes")
        for belief, (label, _) in zip(opinions["belief"], answers, strict=True)
    )


def test_a_missing_confidence_is_counted_and_not_replaced(tmp_path: Path) -> None:
    cases = [case("a", "yes"), case("b", "no"), case("c", "no")]
    rows = [
        prediction("a", "yes", "yes", confidence=80.0),
        prediction("b", "no", "no"),
        prediction("c", "no", "yes", confidence=20.0),
    ]
    utterances = [
        utterance("a#0", 1, "judge", kind="belief", prediction="no"),
        utterance("a#0", 2, "prosecutor", "He will."),
        utterance("a#0", 3, "judge", kind="verdict", prediction="yes", confidence=80.0),
    ]
    scores = score_experiment(write_results(tmp_path, cases, {"tiny": rows}, {"tiny": utterances}))
    by_metric = scores[scores["model"] == "tiny"].set_index(["group", "metric"])
    assert tuple(by_metric.loc[("overall", "confidence_missing"), ["value", "n"]]) == (1.0, 3)
    assert by_metric.loc[("overall", "brier"), "n"] == 2
    assert by_metric.loc[("overall", "brier"), "value"] == pytest.approx((0.1**2 + 0.6**2) / 2)
    assert by_metric.loc[("speaker=judge;opinion=last", "belief_in_positive"), "n"] == 1
    assert ("speaker=judge;opinion=first", "belief_in_positive") not in by_metric.index


def test_a_probability_overrides_a_score_and_a_score_a_confidence() -> None:
    rows = pd.DataFrame({
        "prediction": ["yes", "no", "no", "no"],
        "probability": [0.6, 0.9, np.nan, np.nan],
        "score": [0.1, np.nan, 0.3, np.nan],
        "confidence": [80.0, 80.0, 80.0, 80.0],
    })  # fmt: skip
    assert probability_of_prediction(rows, REARREST) == pytest.approx([0.6, 0.9, 0.7, 0.9])
    assert probability_of_positive(rows, REARREST) == pytest.approx([0.6, 0.1, 0.3, 0.1])
