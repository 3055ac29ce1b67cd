"""Test error rates by group against fairlearn, and the studies that have the table."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from courtroom_runs import PROJECT, configuration
from moot.analyses.group_rates.tables import group_rates_table
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.scores.results import ExperimentResults
from moot.stats.paired import holm
from results_on_disk import REARREST, case, experiment_view, prediction, study_of, write_results

PEOPLE = [
    case(f"p{n:02}", "yes" if n % 2 else "no", sex="man" if n < 50 else "woman")
    if n < 85
    else case(f"p{n:02}", "no", sex="other" if n < 99 else "woman")
    for n in range(100)
]


def debates(folder: Path, experiment: str) -> ExperimentResults:
    """Results of two models, one of which answers yes to a third, the other to a fifth."""
    rows: dict[str, list[dict[str, Any]]] = {"a": [], "b": []}
    for number, person in enumerate(PEOPLE):
        for model, modulus in (("a", 3), ("b", 5)):
            answer = "yes" if number % modulus else "no"
            rows[model].append(prediction(person.case_id, person.target, answer))
    task = replace(REARREST, groups=("sex",))
    config = experiment_view(models=("a", "b"))
    return write_results(folder, PEOPLE, rows, task=task, experiment=experiment, config=config)


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, ExperimentResults]:
    return {name: debates(tmp_path / name, name) for name in ("debate", "vote")}


@pytest.fixture
def frame(runs: dict[str, ExperimentResults]) -> pd.DataFrame:
    return group_rates_table(study_of(*runs.values())).frame


def test_rates_by_group_equal_those_of_fairlearn(
    frame: pd.DataFrame, runs: dict[str, ExperimentResults]
) -> None:
    metrics = pytest.importorskip(
        "fairlearn.metrics", reason="fairlearn is in the extra `test` (make env EXTRAS=test)"
    )
    predictions = runs["debate"].predictions.query("model == 'a'")
    metric_functions = {
        "true positive rate": metrics.true_positive_rate,
        "false positive rate": metrics.false_positive_rate,
        "predicted positive": metrics.selection_rate,
    }
    oracle = metrics.MetricFrame(
        metrics=metric_functions,
        y_true=(predictions["target"] == "yes").astype(int),
        y_pred=(predictions["prediction"] == "yes").astype(int),
        sensitive_features=[person.attributes["sex"] for person in PEOPLE],
    )
    rows = frame[(frame["experiment"] == "debate") & (frame["model"] == "a")]
    assert len(rows) == 3 * 3
    for row in rows.to_dict("records"):
        if (row["group"], row["rate"]) == ("other", "true positive rate"):
            assert np.isnan(row["ours"]), "nobody of the group defines the rate"
            continue
        assert row["ours"] == pytest.approx(oracle.by_group.loc[row["group"], row["rate"]])
        assert row["95 % low"] <= row["ours"] <= row["95 % high"]
        if row["group"] != "man":
            largest = oracle.by_group.loc["man", row["rate"]]
            assert row["compared with"] == "man"
            assert row["difference"] == pytest.approx(row["ours"] - largest)
            assert row["difference low"] <= row["difference"] <= row["difference high"]


def test_rates_of_all_runs_are_one_family(frame: pd.DataFrame) -> None:
    """Two runs of two models, three rates and two comparisons each but for one rate."""
    assert set(frame["tests in family"].dropna()) == {4 * 5}
    assert frame["p (Holm)"].tolist() == pytest.approx(holm(frame["p"].tolist()), nan_ok=True)


def test_any_study_that_argues_about_people_compares_their_groups(tmp_path: Path) -> None:
    raw = configuration("http://nowhere.invalid", tmp_path)
    raw["datasets"] = {
        "people": {"loader": "nlsy97", "source": "synthetic"},
        "mine": {
            "loader": "table",
            "path": "x.csv",
            "text": "a",
            "target": "y",
            "attributes": ["ward"],
        },
        "caselaw": {"source": "sample"},
    }
    for dataset, has_groups in (("people", True), ("mine", True), ("caselaw", False)):
        raw["experiments"] = {
            "mine": {"protocol": "feedback", "dataset": dataset, "models": ["test"], "cases": 20}
        }
        plan = Plan.from_yaml(raw, PROJECT)
        assert plan.can_fill(TABLES["feedback/group_rates"]) == has_groups
        assert not plan.can_fill(TABLES["courtroom/group_rates"])
