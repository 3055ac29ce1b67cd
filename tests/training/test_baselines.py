"""Baselines: the data of each fit, the scores, and failing models."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sklearn_metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from made_up_cases import TASK, leaderboard_row, make_examples, without_times
from messages import refusal
from moot.core.cases import BASE_RATE_COIN, MAJORITY_CLASS, Case, Task
from moot.core.optional import import_optional
from moot.stats.classification import METRICS, ClassificationOutcome, measure
from moot.training.baselines import BASELINES, Baseline, select
from moot.training.evaluation import LEADERBOARD_COLUMNS, evaluate
from moot.training.examples import Examples, examples
from moot.training.preprocessing import encoded
from published_findings import published_rows


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers every matrix that it was fitted on."""

    inputs_of_fits: "list[np.ndarray[Any, Any]]" = []  # noqa: RUF012

    def fit(self, inputs: Any, targets: Any) -> "Recorder":
        Recorder.inputs_of_fits.append(np.asarray(inputs))
        self.classes_ = np.unique(targets)
        return self

    def predict(self, inputs: Any) -> Any:
        return np.zeros(len(inputs), dtype=int)


@pytest.fixture
def recorder() -> Iterator[Baseline]:
    Recorder.inputs_of_fits.clear()
    yield Baseline("recorder", "Recorder", (), "tabular", lambda seed, threads: encoded(Recorder()))
    Recorder.inputs_of_fits.clear()


def test_preprocessing_is_fitted_only_on_the_training_fold(recorder: Baseline) -> None:
    """Each row has a unique number and category, so a fitted matrix shows its rows."""
    data = make_examples()
    numbers = np.arange(100.0)
    gaps = np.where(numbers % 4 == 0, np.nan, 1000 + numbers**2)
    categories = [f"only {i}" for i in range(100)]
    data = Examples(
        "d",
        TASK,
        data.cases,
        data.texts,
        pd.DataFrame({"row": numbers, "gaps": gaps, "own": categories}).astype({"own": "object"}),
    )
    evaluate(data, [recorder], seed=1, folds=5)
    assert len(Recorder.inputs_of_fits) == 6, "five folds and the whole training split"
    training = set(range(60))
    for matrix in Recorder.inputs_of_fits:
        rows = matrix[:, 0].astype(int)
        assert set(rows) <= training, "a validation or test row was fitted"
        imputed = matrix[np.isnan(gaps[rows]), 1]
        assert np.allclose(imputed, np.nanmean(gaps[rows])), (
            "the imputed mean is not the mean of the fitted rows"
        )
        assert matrix.shape[1] == 2 + len(rows), (
            "the encoder knows categories of rows that it was not fitted on"
        )
    assert [len(matrix) for matrix in Recorder.inputs_of_fits] == [48] * 5 + [60]
    held_out = [training - set(matrix[:, 0].astype(int)) for matrix in Recorder.inputs_of_fits[:5]]
    assert set().union(*held_out) == training, "every training row is held out once"


def test_the_seed_determines_the_scores() -> None:
    data, entries = make_examples(), select(["rf", "svm", BASE_RATE_COIN])
    first, repeated, other_seed = (
        evaluate(data, entries, seed=seed, folds=2) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(
        without_times(first.leaderboard), without_times(repeated.leaderboard)
    )
    pd.testing.assert_frame_equal(first.predictions, repeated.predictions)
    assert not without_times(first.leaderboard).equals(without_times(other_seed.leaderboard))


def test_a_failing_baseline_states_its_reason_and_stops_no_other() -> None:
    class Explodes(DummyClassifier):
        def fit(self, inputs: Any, targets: Any) -> Any:
            raise ValueError("first line\nsecond | line")

    def absent(seed: int, threads: int) -> Any:
        return import_optional("no_such_library", "tabular")

    entries = [
        Baseline("explodes", "Explodes", (), "tabular", lambda seed, threads: Explodes()),
        Baseline("absent", "Absent", (), "tabular", absent),
        BASELINES["nb"],
    ]
    evaluation = evaluate(make_examples(), entries, seed=1, folds=3)
    assert list(evaluation.leaderboard.columns) == list(LEADERBOARD_COLUMNS)
    status = evaluation.leaderboard.groupby("baseline")["status"].unique().map(list)
    assert status["explodes"] == ["failed: ValueError: first line second | line"]
    assert status["absent"] == ["not installed: no_such_library (the extra 'tabular' installs it)"]
    assert status["nb"] == ["ok"]
    assert (
        evaluation.leaderboard.set_index("baseline")
        .loc["explodes", list(METRICS)]
        .isna()
        .all(axis=None)
    )
    assert set(evaluation.predictions["baseline"]) == set(evaluation.models) == {"nb"}


def test_a_label_with_one_training_case_has_no_folds() -> None:
    targets = ["yes"] + ["no"] * 79 + ["yes", "no"] * 10
    board = evaluate(make_examples(targets), select(["nb"]), seed=1).leaderboard
    row = leaderboard_row(board, "nb", "cross_validation")
    assert (
        row.status == "failed: a label has a single training case, and cross-validation needs two"
    )
    assert np.isnan(row.accuracy)
    assert leaderboard_row(board, "nb", "test").status == "ok"


def test_a_rare_label_reduces_the_number_of_folds() -> None:
    targets = ["yes"] * 4 + ["no"] * 76 + ["yes", "no"] * 10
    assert (
        leaderboard_row(
            evaluate(make_examples(targets), select(["nb"]), seed=1).leaderboard,
            "nb",
            "cross_validation",
        ).folds
        == 4
    )


def test_reference_scores_equal_values_computed_by_hand() -> None:
    """15 of 60 training cases and 8 of 20 test cases are yes.

    The coin says yes with a probability of 1/4 for each case.
    """
    targets = ["yes"] * 15 + ["no"] * 45 + ["no"] * 20 + ["yes"] * 8 + ["no"] * 12
    board = evaluate(make_examples(targets), select(["reference"]), seed=1, folds=5).leaderboard
    expected = {
        MAJORITY_CLASS: {
            "accuracy": 12 / 20,
            "auc": 0.5,
            "recall_binary": 0,
            "precision_binary": 0,
            "f1_binary": 0,
            "brier": (
                0.4 * 0.75**2 + 0.6 * 0.25**2
            ),  # it predicts no with a probability of 1/4 for yes
            "tn": 12,
            "fp": 0,
            "fn": 8,
            "tp": 0,
        },
        BASE_RATE_COIN: {
            "accuracy": 0.6 * 0.75 + 0.4 * 0.25,
            "auc": 0.5,
            "recall_binary": 0.25,
            "precision_binary": 0.4,
            "f1_binary": 4 / 13,  # two of eight found, five named
            "brier": 0.4 * 0.75**2 + 0.6 * 0.25**2,
            "tn": 9,
            "fp": 3,
            "fn": 6,
            "tp": 2,
        },
    }
    for name, values in expected.items():
        row = leaderboard_row(board, name, "test")
        for metric, value in values.items():
            assert row[metric] == pytest.approx(value, abs=1e-12), (name, metric)
        assert json.loads(row.confusion) == [[row.tn, row.fp], [row.fn, row.tp]]
        validated = leaderboard_row(board, name, "cross_validation")
        assert validated.accuracy == pytest.approx(
            45 / 60 if name == MAJORITY_CLASS else 0.75**2 + 0.25**2
        )


def test_the_coin_depends_only_on_the_case() -> None:
    predictions = evaluate(make_examples(), select([BASE_RATE_COIN]), seed=1, folds=3).predictions
    with_tree = evaluate(
        make_examples(), [BASELINES[BASE_RATE_COIN], BASELINES["dt"]], seed=1, folds=3
    ).predictions
    pd.testing.assert_frame_equal(predictions, with_tree[with_tree.baseline == BASE_RATE_COIN])
    assert set(predictions.prediction) == {"yes", "no"}


def test_several_labels_are_predicted_at_once() -> None:
    task = Task("the case", "Which articles?", ("a", "b", "c", "d"), multilabel=True)
    targets = [("a", "b", "c", "a;b", "c", "d", "a")[i % 7] for i in range(100)]
    data = make_examples(targets, task)
    entries = [*select(["lr", "reference"])]
    evaluation = evaluate(data, entries, seed=1, folds=3)
    assert set(evaluation.leaderboard["status"]) == {"ok"}
    predictions = evaluation.predictions[evaluation.predictions.baseline == "lr"]
    truth, answers = (
        predictions[column].str.get_dummies(";").reindex(columns=task.labels, fill_value=0)
        for column in ("target", "prediction")
    )
    truth, answers = truth.to_numpy(dtype=bool), answers.to_numpy(dtype=bool)
    row = leaderboard_row(evaluation.leaderboard, "lr", "test")
    assert row.accuracy == pytest.approx(np.mean((truth == answers).all(axis=1)))
    assert answers.any(axis=1).all(), "every case has a label, so no predicted set is empty"
    majority = evaluation.predictions[evaluation.predictions.baseline == MAJORITY_CLASS]
    most_frequent = pd.Series(";".join(targets[:60]).split(";")).value_counts().idxmax()
    assert set(majority.prediction) == {most_frequent}
    for average in ("micro", "macro", "weighted"):
        score = sklearn_metrics.f1_score(truth, answers, average=average, zero_division=0)
        assert row[f"f1_{average}"] == pytest.approx(score), average


def test_intervals_contain_the_test_score() -> None:
    board = evaluate(make_examples(), select(["lr", "knn"]), seed=1, folds=3).leaderboard
    for name in ("lr", "knn"):
        row = leaderboard_row(board, name, "test")
        for metric in ("accuracy", "f1_macro", "auc"):
            assert row[f"{metric}_low"] <= row[metric] <= row[f"{metric}_high"]
            assert row[f"{metric}_high"] - row[f"{metric}_low"] > 0.05


def test_baselines_are_selected_by_name_or_family() -> None:
    paper = {entry.name for entry in select(["courtroom_paper"])}
    fourteen = set(published_rows("courtroom", "table2_tabular_leaderboard"))
    assert len(fourteen) == 14
    assert fourteen <= paper
    assert [entry.name for entry in select(["rf", "et", "rf"])] == ["rf", "et"]
    assert {entry.kind for entry in select(["text"])} <= {"text", "any"}
    with refusal():
        select(["tabulr"])


def test_invalid_input_is_an_error() -> None:
    cases = [
        Case("a", "d", "train", "t", "no", TASK.labels),
        Case("b", "d", "test", "t", "yes", TASK.labels),
    ]
    with refusal():
        examples(cases[:1], TASK)
    with refusal():
        examples([cases[0], Case("b", "d", "test", "t", "maybe", TASK.labels)], TASK)
    with refusal():
        examples(
            cases,
            TASK,
            pd.DataFrame({"case_id": ["a"], "split": ["train"], "label": ["no"], "x": [1]}),
        )
    with refusal():
        evaluate(examples(cases, TASK), select(["lr"]), seed=1)


@pytest.mark.parametrize("positive", [3, 13, 26, 79])
def test_kappa_of_a_coin_is_exactly_zero(positive: int) -> None:
    share = positive / 283
    truth = np.zeros((283, 2))
    truth[:positive, 1], truth[positive:, 0] = 1, 1
    coin = np.tile([1 - share, share], (283, 1))
    values = measure(ClassificationOutcome(truth, coin, coin, "probability", 1))
    assert (values["kappa"], values["mcc"]) == (0, 0)
