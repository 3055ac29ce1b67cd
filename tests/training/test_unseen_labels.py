"""Labels without training cases are removed by `min_cases` or counted by the leaderboard."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from files_of_cases import MakeContext, load, write_lines
from made_up_cases import leaderboard_row, make_examples
from moot.core.cases import Task
from moot.core.errors import UserError
from moot.training.baselines import BASELINES, select
from moot.training.evaluation import evaluate
from moot.training.several_labels import OneModelPerLabel

ARTICLES = Task("the case", "Which articles?", ("a", "b", "c", "d"), multilabel=True)


def test_the_leaderboard_counts_test_cases_with_unseen_labels() -> None:
    task = Task("the case", "Which charge?", ("a", "b", "c"))
    targets = ["b", "c"] * 30 + ["b", "c"] * 10 + ["a"] * 5 + ["b"] * 8 + ["c"] * 7
    board = evaluate(
        make_examples(targets, task), select(["nb", "character-svm"]), seed=1, folds=3
    ).leaderboard
    for name in ("nb", "character-svm"):
        row = leaderboard_row(board, name, "test")
        assert row.unseen == 5
        assert row.status == "5 of 20 test cases have a label that no training case has"
        assert 0 <= row.accuracy <= 15 / 20, "the figures stand beside the warning"
        assert leaderboard_row(board, name, "cross_validation").status == "ok"


@pytest.mark.parametrize(
    ("absent", "name"),
    [("a", "character-svm"), ("d", "character-logistic-regression"), ("a", "lr")],
)
def test_a_label_without_training_cases_is_never_predicted(absent: str, name: str) -> None:
    """The first or the last label has no training case."""
    seen_labels = [label for label in ARTICLES.labels if label != absent]
    targets = [seen_labels[i % 3] if i % 4 else ";".join(seen_labels[:2]) for i in range(96)] + [
        f"b;{absent}"
    ] * 4
    targets = [";".join(sorted(target.split(";"))) for target in targets]
    evaluation = evaluate(make_examples(targets, ARTICLES), [BASELINES[name]], seed=1, folds=2)
    row = leaderboard_row(evaluation.leaderboard, name, "test")
    assert (
        row.unseen == 4
        and row.status.startswith("4 of 20 test cases")
        and np.isfinite(row.accuracy)
    )
    assert leaderboard_row(evaluation.leaderboard, name, "cross_validation").status == "ok"
    assert not any(
        absent in prediction.split(";") for prediction in evaluation.predictions["prediction"]
    )


def test_a_label_that_every_training_case_has_is_always_predicted() -> None:
    inputs = np.arange(20.0).reshape(-1, 1)
    targets = np.stack([np.ones(20), inputs[:, 0] > 9, np.zeros(20)], axis=1)
    for name in ("lr", "svm"):
        fitted = OneModelPerLabel(BASELINES[name].build(1, 1)[-1]).fit(inputs, targets)
        assert fitted.classes_.tolist() == [0, 1]
        assert fitted.predict(inputs)[:, 0].all() and not fitted.predict(inputs)[:, 2].any()
        assert hasattr(fitted, "predict_proba") is (name == "lr")
        scores = fitted.predict_proba(inputs) if name == "lr" else fitted.decision_function(inputs)
        assert scores.shape == (20, 2)


def write(path: Path, articles: Sequence[Sequence[int]]) -> None:
    records = []
    for row, labels in enumerate(articles):
        characters = [chr(0x4E00 + (31 * row + 7 * place**2) % 5000) for place in range(60)]
        fact = "".join(characters) + path.stem
        records.append({"fact": fact, "meta": {"relevant_articles": list(labels)}})
    write_lines(path, records)


def test_min_cases_counts_only_training_cases(tmp_path: Path, load_context: MakeContext) -> None:
    write(tmp_path / "train.jsonl", [[264]] * 6 + [[266]] * 5 + [[264, 303]] * 2)
    write(tmp_path / "test.jsonl", [[264]] * 3 + [[303]] * 9 + [[347]] * 8)
    files = {"train": "train.jsonl", "test": "test.jsonl"}
    options = {"source": "local", "files": files, "similarity": 1.0}
    unlimited = load(load_context("cail18"), **options)
    assert unlimited.task.labels == ("264", "266", "303", "347")
    with_cases = load(load_context("cail18"), **options, min_cases=1)
    assert with_cases.task.labels == ("264", "266", "303")
    loaded = load(load_context("cail18"), **options, min_cases=3)
    assert loaded.task.labels == ("264", "266") and set(loaded.task.meaning) == {"264", "266"}
    assert Counter(case.split for case in loaded.cases) == {"train": 11, "test": 3}
    assert {case.labels for case in loaded.cases} == {loaded.task.labels}
    assert loaded.cleaning["labels with fewer than 3 training cases (left out)"] == 2
    assert loaded.cleaning["cases with such a label (left out)"] == 19
    with pytest.raises(UserError, match="no label has 99 training cases; lower min_cases"):
        load(load_context("cail18"), **options, min_cases=99)


def test_a_baseline_that_cannot_skip_a_label_says_which_cases_it_lacks() -> None:
    """XGBoost ended with the positions of the labels that it expected."""
    task = Task("the case", "Which charge?", ("a", "b", "c"))
    targets = ["b", "c"] * 30 + ["b", "c"] * 10 + ["a"] * 5 + ["b"] * 8 + ["c"] * 7
    rows = evaluate(make_examples(targets, task), [BASELINES["xgboost"]], seed=1, folds=3)
    assert set(rows.leaderboard["status"]) == {
        "failed: ValueError: 5 of 20 test cases have a label that no training case has"
    }
