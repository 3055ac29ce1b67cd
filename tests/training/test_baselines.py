"""Baselines: what is fitted on what, what the figures mean, and what a failing model does to the
others.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sklearn_metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from made_up_cases import TASK, leaderboard_row, make_examples, without_times
from moot.core.cases import BASE_RATE_COIN, MAJORITY_CLASS, Case, Task
from moot.core.errors import UserError
from moot.core.optional import import_optional
from moot.datasets import LOADERS, LoadContext
from moot.plan.plan import Plan
from moot.stats.classification import METRICS, ClassificationOutcome, measure
from moot.training.baselines import BASELINES, Baseline, select
from moot.training.evaluation import LEADERBOARD_COLUMNS, evaluate
from moot.training.examples import Examples, examples
from moot.training.preprocessing import encoded

PROJECT = Path(__file__).parents[2]


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers every matrix that it was fitted on."""

    seen: "list[np.ndarray[Any, Any]]" = []  # noqa: RUF012

    def fit(self, inputs: Any, targets: Any) -> "Recorder":
        Recorder.seen.append(np.asarray(inputs))
        self.classes_ = np.unique(targets)
        return self

    def predict(self, inputs: Any) -> Any:
        return np.zeros(len(inputs), dtype=int)


@pytest.fixture
def recorder() -> Iterator[Baseline]:
    Recorder.seen.clear()
    yield Baseline("recorder", "Recorder", (), "tabular", lambda seed, threads: encoded(Recorder()))
    Recorder.seen.clear()


def test_preprocessing_is_fitted_on_the_training_fold_alone(recorder: Baseline) -> None:
    """Every row has a number and a category of its own, so a fitted matrix tells which rows its
    pipeline has seen.
    """
    data = make_examples()
    numbers = np.arange(100.0)
    gaps = np.where(numbers % 4 == 0, np.nan, 1000 + numbers**2)
    own = [f"only {i}" for i in range(100)]
    data = Examples(
        "d",
        TASK,
        data.cases,
        data.texts,
        pd.DataFrame({"row": numbers, "gaps": gaps, "own": own}).astype({"own": "object"}),
    )
    evaluate(data, [recorder], seed=1, folds=5)
    assert len(Recorder.seen) == 6, "five folds and the whole training split"
    training = set(range(60))
    for matrix in Recorder.seen:
        rows = matrix[:, 0].astype(int)
        assert set(rows) <= training, "a validation or test row was fitted"
        filled = matrix[np.isnan(gaps[rows]), 1]
        assert np.allclose(filled, np.nanmean(gaps[rows])), (
            "the imputed mean is not that of the fitted rows"
        )
        assert matrix.shape[1] == 2 + len(rows), (
            "the encoder knows categories of rows that it was not fitted on"
        )
    assert [len(matrix) for matrix in Recorder.seen] == [48] * 5 + [60]
    held_out = [training - set(matrix[:, 0].astype(int)) for matrix in Recorder.seen[:5]]
    assert set().union(*held_out) == training, "every training row is held out once"


def test_same_seed_same_figures_and_another_seed_others() -> None:
    data, entries = make_examples(), select(["rf", "svm", BASE_RATE_COIN])
    first, again, other = (evaluate(data, entries, seed=seed, folds=3) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(
        without_times(first.leaderboard), without_times(again.leaderboard)
    )
    pd.testing.assert_frame_equal(first.predictions, again.predictions)
    assert not without_times(first.leaderboard).equals(without_times(other.leaderboard))


def test_threads_change_nothing() -> None:
    data, entries = make_examples(), select(["rf", "xgboost"])
    one, two = (evaluate(data, entries, seed=1, threads=threads, folds=2) for threads in (1, 2))
    pd.testing.assert_frame_equal(without_times(one.leaderboard), without_times(two.leaderboard))
    pd.testing.assert_frame_equal(one.predictions, two.predictions)


def test_a_failing_baseline_says_why_and_spares_the_others() -> None:
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
    found = evaluate(make_examples(), entries, seed=1, folds=3)
    assert list(found.leaderboard.columns) == list(LEADERBOARD_COLUMNS)
    status = found.leaderboard.groupby("baseline")["status"].unique().map(list)
    assert status["explodes"] == ["failed: ValueError: first line second | line"]
    assert status["absent"] == ["not installed: no_such_library (the extra 'tabular' brings it)"]
    assert status["nb"] == ["ok"]
    assert (
        found.leaderboard.set_index("baseline").loc["explodes", list(METRICS)].isna().all(axis=None)
    )
    assert set(found.predictions["baseline"]) == set(found.models) == {"nb"}


def test_a_label_with_one_training_case_has_no_folds() -> None:
    targets = ["yes"] + ["no"] * 79 + ["yes", "no"] * 10
    board = evaluate(make_examples(targets), select(["nb"]), seed=1).leaderboard
    row = leaderboard_row(board, "nb", "cross_validation")
    assert (
        row.status == "failed: a label has a single training case, and cross-validation needs two"
    )
    assert np.isnan(row.accuracy)
    assert leaderboard_row(board, "nb", "test").status == "ok"


def test_fewer_folds_where_a_label_is_rare() -> None:
    targets = ["yes"] * 4 + ["no"] * 76 + ["yes", "no"] * 10
    assert (
        leaderboard_row(
            evaluate(make_examples(targets), select(["nb"]), seed=1).leaderboard,
            "nb",
            "cross_validation",
        ).folds
        == 4
    )


def test_reference_scores_by_hand() -> None:
    """Training: 15 of 60 are yes.

    Test: 8 of 20. The coin says yes with probability 1/4, whatever the case.
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
            "recall_macro": 0.5,
            "precision_macro": 0.3,
            "f1_macro": 0.375,  # no: 2 * 12 / (20 + 12) = 0.75
            "precision_weighted": 0.6 * 0.6,
            "f1_weighted": 0.6 * 0.75,
            "kappa": 0,
            "mcc": 0,
            "brier": (
                0.4 * 0.75**2 + 0.6 * 0.25**2
            ),  # it predicts no, and says that yes has a chance of 1/4
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
            "f1_macro": (4 / 13 + 18 / 27) / 2,
            "kappa": 0,
            "mcc": 0,
            "brier": 0.4 * 0.75**2 + 0.6 * 0.25**2,
            "tn": 9,
            "fp": 3,
            "fn": 6,
            "tp": 2,
        },
    }
    for name, values in expected.items():
        found = leaderboard_row(board, name, "test")
        for metric, value in values.items():
            assert found[metric] == pytest.approx(value, abs=1e-12), (name, metric)
        assert json.loads(found.confusion) == [[found.tn, found.fp], [found.fn, found.tp]]
        validated = leaderboard_row(board, name, "cross_validation")
        assert validated.accuracy == pytest.approx(
            45 / 60 if name == MAJORITY_CLASS else 0.75**2 + 0.25**2
        )


def test_the_coin_draws_by_case_alone() -> None:
    found = evaluate(make_examples(), select([BASE_RATE_COIN]), seed=1, folds=3).predictions
    again = evaluate(
        make_examples(), [BASELINES[BASE_RATE_COIN], BASELINES["dt"]], seed=1, folds=3
    ).predictions
    pd.testing.assert_frame_equal(found, again[again.baseline == BASE_RATE_COIN])
    assert set(found.prediction) == {"yes", "no"}


@pytest.mark.parametrize("labels", [2, 3])
def test_metrics_agree_with_scikit_learn(labels: int) -> None:
    random = np.random.default_rng(labels)
    for _ in range(20):
        actual, predicted = random.integers(labels, size=(2, 40))
        scores = random.dirichlet(np.ones(labels), 40).round(1)
        found = measure(
            ClassificationOutcome(
                np.eye(labels)[actual],
                np.eye(labels)[predicted],
                scores,
                "probability",
                1 if labels == 2 else None,
            )
        )
        assert found["accuracy"] == pytest.approx(sklearn_metrics.accuracy_score(actual, predicted))
        assert found["kappa"] == pytest.approx(sklearn_metrics.cohen_kappa_score(actual, predicted))
        assert found["mcc"] == pytest.approx(sklearn_metrics.matthews_corrcoef(actual, predicted))
        for average in (
            ("binary", "macro", "weighted", "micro")
            if labels == 2
            else ("macro", "weighted", "micro")
        ):
            for metric in ("precision", "recall", "f1"):
                score = getattr(sklearn_metrics, f"{metric}_score")(
                    actual, predicted, average=average, zero_division=0
                )
                assert found[f"{metric}_{average}"] == pytest.approx(score), (metric, average)
        if labels == 2:
            assert found["auc"] == pytest.approx(
                sklearn_metrics.roc_auc_score(actual, scores[:, 1])
            )
            assert found["brier"] == pytest.approx(np.mean((scores[:, 1] - actual) ** 2))
        else:
            truth = np.eye(labels)[actual]
            assert found["auc"] == pytest.approx(
                sklearn_metrics.roc_auc_score(truth, scores, average="weighted")
            )
            assert np.isnan(found["f1_binary"])


def test_several_labels_at_once() -> None:
    task = Task("the case", "Which articles?", ("a", "b", "c", "d"), multilabel=True)
    targets = [("a", "b", "c", "a;b", "c", "d", "a")[i % 7] for i in range(100)]
    data = make_examples(targets, task)
    entries = [*select(["lr", "reference"])]
    found = evaluate(data, entries, seed=1, folds=3)
    assert set(found.leaderboard["status"]) == {"ok"}
    predictions = found.predictions[found.predictions.baseline == "lr"]
    truth, answers = (
        np.array(
            [[label in text.split(";") for label in task.labels] for text in predictions[column]]
        )
        for column in ("target", "prediction")
    )
    row = leaderboard_row(found.leaderboard, "lr", "test")
    assert row.accuracy == pytest.approx(np.mean((truth == answers).all(axis=1)))
    assert answers.any(axis=1).all(), "every case has a label, so no predicted set is empty"
    majority = found.predictions[found.predictions.baseline == MAJORITY_CLASS]
    most_frequent = pd.Series(";".join(targets[:60]).split(";")).value_counts().idxmax()
    assert set(majority.prediction) == {most_frequent}
    for average in ("micro", "macro", "weighted"):
        score = sklearn_metrics.f1_score(truth, answers, average=average, zero_division=0)
        assert row[f"f1_{average}"] == pytest.approx(score), average


def test_intervals_hold_the_test_score() -> None:
    board = evaluate(make_examples(), select(["lr", "knn"]), seed=1, folds=3).leaderboard
    for name in ("lr", "knn"):
        row = leaderboard_row(board, name, "test")
        for metric in ("accuracy", "f1_macro", "auc"):
            assert row[f"{metric}_low"] <= row[metric] <= row[f"{metric}_high"]
            assert row[f"{metric}_high"] - row[f"{metric}_low"] > 0.05


def test_selection_by_name_and_family() -> None:
    paper = {entry.name for entry in select(["courtroom_paper"])}
    fourteen = {
        "et",
        "catboost",
        "rf",
        "gbc",
        "ridge",
        "lda",
        "lr",
        "xgboost",
        "ada",
        "nb",
        "dt",
        "svm",
        "qda",
        "knn",
    }
    assert fourteen <= paper
    assert [entry.name for entry in select(["rf", "et", "rf"])] == ["rf", "et"]
    assert {entry.kind for entry in select(["text"])} <= {"text", "any"}
    with pytest.raises(
        UserError, match="unknown baseline or family of baselines 'tabulr'; did you mean 'tabular'"
    ):
        select(["tabulr"])


def test_bad_input_is_named() -> None:
    cases = [
        Case("a", "d", "train", "t", "no", TASK.labels),
        Case("b", "d", "test", "t", "yes", TASK.labels),
    ]
    with pytest.raises(UserError, match="data set 'd': the test split has no case"):
        examples(cases[:1], TASK)
    with pytest.raises(UserError, match="case b: target 'maybe', expected one of no, yes"):
        examples([cases[0], Case("b", "d", "test", "t", "maybe", TASK.labels)], TASK)
    with pytest.raises(UserError, match="case b has no row in its features"):
        examples(
            cases,
            TASK,
            pd.DataFrame({"case_id": ["a"], "split": ["train"], "label": ["no"], "x": [1]}),
        )
    with pytest.raises(UserError, match="baseline 'lr' needs typed features"):
        evaluate(examples(cases, TASK), select(["lr"]), seed=1)


def test_an_unknown_baseline_is_named_with_its_place() -> None:
    raw = {
        "seed": 3,
        "models": {"m": {"model": "any"}},
        "datasets": {"nlsy97": {"baselines": ["rff"]}},
        "experiments": {"e": {"protocol": "courtroom", "dataset": "nlsy97", "models": "m"}},
    }
    with pytest.raises(
        UserError,
        match=r"datasets.nlsy97.baselines: unknown baseline or family of baselines 'rff'; did",
    ):
        Plan.from_yaml(raw, PROJECT)


def test_reading_the_registry_imports_no_library() -> None:
    """Snakemake reads it at every start."""
    code = (
        "import sys, moot.training.baselines as b; b.select(['tabular', 'text']); print('sklearn'"
        " in sys.modules)"
    )
    path = {"PYTHONPATH": str(PROJECT / "scripts"), "PATH": os.environ["PATH"]}
    found = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


@pytest.mark.slow  # only it trains on real cases
def test_the_released_table(shared_data: Path) -> None:
    """On the real cases linear models rank better than chance, and no naive model beats always
    saying no.
    """
    options = LOADERS["nlsy97"].options.model_validate({"source": "local"})
    loaded = LOADERS["nlsy97"].load(options, LoadContext("nlsy97", shared_data, PROJECT, 20261121))
    data = examples(loaded.cases, loaded.task, loaded.features)
    board = evaluate(data, select(["lr", "nb", "dt", "reference"]), seed=20261121).leaderboard
    assert set(board.status) == {"ok"}
    assert set(board.n) == {847, 283}
    assert leaderboard_row(board, MAJORITY_CLASS, "test").accuracy == pytest.approx(204 / 283)
    assert leaderboard_row(board, "lr", "cross_validation").auc > 0.58
    assert leaderboard_row(board, "lr", "test").auc_low > 0.5
    assert (
        leaderboard_row(board, "dt", "cross_validation").accuracy
        < leaderboard_row(board, MAJORITY_CLASS, "cross_validation").accuracy
    )
    assert leaderboard_row(board, "nb", "cross_validation").accuracy < 0.4, (
        "one column a category makes it say yes to everyone"
    )


@pytest.mark.parametrize("positive", [3, 13, 26, 79])
def test_a_coin_agrees_by_chance_alone_and_rounding_leaves_nothing_of_it(positive: int) -> None:
    share = positive / 283
    truth = np.zeros((283, 2))
    truth[:positive, 1], truth[positive:, 0] = 1, 1
    coin = np.tile([1 - share, share], (283, 1))
    found = measure(ClassificationOutcome(truth, coin, coin, "probability", 1))
    assert (found["kappa"], found["mcc"]) == (0, 0)
