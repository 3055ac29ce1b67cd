"""Test that a stated confidence has the same meaning in all scores."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.cases import Task
from moot.core.confidence import (
    number_of_choices,
    probability_of_stated_confidence,
    stated_probabilities,
)
from moot.protocols.smoothing import Outlook, decide
from moot.scores import score_experiment
from moot.scores.groups import probability_of_positive, probability_of_prediction
from results_on_disk import REARREST, case, prediction, utterance, write_results
from scripted_model import ARTICLES, STANCE, WINNER

CONFIDENCES = st.floats(0, 100, allow_nan=False)


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
