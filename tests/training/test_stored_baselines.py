"""Baselines on disk: stored models without pickle, the weights of TabPFN, and files of the job."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from made_up_cases import TASK, leaderboard_row, make_examples, without_times
from moot.core.artifacts import read_frame
from moot.core.errors import UnavailableError, UserError
from moot.jobs.baselines import train_baselines
from moot.jobs.load import load_dataset
from moot.plan.plan import Plan
from moot.training.baselines import BASELINES, select
from moot.training.baselines.tabpfn import FOLDER_VARIABLE, WEIGHTS
from moot.training.evaluation import evaluate
from moot.training.stored_baselines import load, store

PROJECT = Path(__file__).parents[2]


def test_every_stored_model_is_made_of_trusted_types_and_gives_the_same_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does the example of the page on baselines."""
    monkeypatch.setattr(BASELINES, "_entries", {name: BASELINES[name] for name in BASELINES})
    page = (PROJECT / "docs" / "baselines.md").read_text(encoding="utf-8")
    exec(page.rpartition("```python\n")[2].partition("```")[0], {})
    entries = [entry for entry in select(["tabular", "own"]) if entry.stored]
    data = make_examples()
    assert data.features is not None
    test = data.features[(data.cases["split"] == "test").to_numpy()]
    evaluation = evaluate(data, entries, seed=1, folds=2)
    assert "bagged" in evaluation.models
    assert len(evaluation.models) >= 15
    for name, model in evaluation.models.items():
        store(tmp_path / f"{name}.skops", model, TASK.labels)
        loaded = load(tmp_path / f"{name}.skops")
        assert loaded.labels == TASK.labels
        expected = evaluation.predictions[evaluation.predictions["baseline"] == name]
        assert list(loaded.predict(test)) == list(expected["prediction"])
        if hasattr(loaded.estimator, "predict_proba"):
            shares = loaded.estimator.predict_proba(test)[:, 1]
            assert np.array_equal(shares, expected["score"])


def test_a_foreign_or_broken_model_is_not_loaded(tmp_path: Path) -> None:
    store(tmp_path / "foreign.skops", FunctionTransformer(os.system), ["no", "yes"])
    with pytest.raises(
        UserError, match=r"foreign.skops: holds the type posix.system, which no model of moot uses"
    ):
        load(tmp_path / "foreign.skops")
    (tmp_path / "broken.skops").write_text("no zip")
    with pytest.raises(UserError, match=r"broken.skops: not a model that moot stored"):
        load(tmp_path / "broken.skops")
    with pytest.raises(UserError, match="no such file"):
        load(tmp_path / "none.skops")


def test_missing_weights_of_tabpfn_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tabpfn", None)
    for folder, expected in ((str(tmp_path), f"in {tmp_path}"), ("", "names no folder")):
        monkeypatch.setenv(FOLDER_VARIABLE, folder)
        row = leaderboard_row(
            evaluate(make_examples(), select(["tabpfn"]), seed=1).leaderboard, "tabpfn", "test"
        )
        assert row.status.startswith("weights not found: ")
        assert expected in row.status
    (tmp_path / WEIGHTS[0]).write_text("weights")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(UnavailableError, match="not installed: tabpfn"):
        BASELINES["tabpfn"].build(1, 1)


def test_tabpfn_runs_with_weights_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library loads a small checkpoint of random weights in the format of version 2."""
    torch = pytest.importorskip("torch", reason="torch comes with the extra 'tabular'")
    pytest.importorskip("tabpfn", reason="tabpfn comes with the extra 'tabular'")
    from tabpfn.architectures import tabpfn_v2

    torch.manual_seed(0)
    config = tabpfn_v2.TabPFNV2Config(max_num_classes=10, emsize=24, nlayers=2, nhead=2)
    model = tabpfn_v2.get_architecture(config)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    torch.save({"state_dict": model.state_dict(), "config": asdict(config)}, tmp_path / WEIGHTS[0])
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    first, second = (
        evaluate(make_examples(), select(["tabpfn"]), seed=1, folds=2) for _ in range(2)
    )
    row = leaderboard_row(first.leaderboard, "tabpfn", "test")
    assert (row.status, row.n) == ("ok", 20)
    assert first.predictions["score"].between(0, 1).all()
    assert first.predictions["score"].nunique() > 10, "random weights still read the cases"
    pd.testing.assert_frame_equal(first.predictions, second.predictions)
    pd.testing.assert_frame_equal(
        without_times(first.leaderboard), without_times(second.leaderboard)
    )


def test_the_job_writes_leaderboard_predictions_and_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "")  # monkeypatch then restores the variable afterwards
    monkeypatch.delenv(FOLDER_VARIABLE)
    raw = {
        "seed": 3,
        "data_root": str(tmp_path),
        "models": {"m": {"model": "any"}},
        "datasets": {"nlsy97": {"rows": 200, "baselines": ["nb", "knn", "reference", "tabpfn"]}},
        "experiments": {"e": {"protocol": "courtroom", "dataset": "nlsy97", "models": "m"}},
    }
    plan = Plan.from_yaml(raw, PROJECT)
    inputs = (tmp_path / "cases.parquet", tmp_path / "features.parquet")
    load_dataset(
        plan.datasets["nlsy97"],
        plan.load_context("nlsy97"),
        *inputs,
        tmp_path / "cleaning.csv",
    )
    boards = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        outputs = (
            folder / "leaderboard.parquet",
            folder / "predictions.parquet",
            folder / "models",
        )
        train_baselines(plan, "nlsy97", inputs, outputs, 1)
        boards.append(read_frame(outputs[0]))
        assert sorted(path.name for path in outputs[2].iterdir()) == ["knn.skops", "nb.skops"]
        assert len(read_frame(outputs[1])) == 4 * 40
    pd.testing.assert_frame_equal(without_times(boards[0]), without_times(boards[1]))
    assert (tmp_path / "first/predictions.parquet").read_bytes() == (
        tmp_path / "second/predictions.parquet"
    ).read_bytes()
    assert str(tmp_path / "tabpfn") in leaderboard_row(boards[0], "tabpfn", "test").status
    assert set(boards[0][boards[0].baseline != "tabpfn"].status) == {"ok"}


def test_a_vocabulary_is_stored_in_one_piece(tmp_path: Path) -> None:
    """The archive of a vectorizer has no file for each of its terms."""
    texts = [f"word{number % 60} word{number % 7} rare{number}" for number in range(300)]
    targets = [number % 2 for number in range(300)]
    model = make_pipeline(TfidfVectorizer(max_features=60), LogisticRegression()).fit(
        texts, targets
    )
    assert isinstance(next(iter(model[0].vocabulary_.values())), np.integer), (
        "as scikit-learn leaves it"
    )
    expected = model.predict_proba(texts)
    store(tmp_path / "model.skops", model, ["no", "yes"])
    assert len(ZipFile(tmp_path / "model.skops").namelist()) < 20
    assert load(tmp_path / "model.skops").estimator.predict_proba(texts) == pytest.approx(expected)
