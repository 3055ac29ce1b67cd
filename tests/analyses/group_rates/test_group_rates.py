"""Test error rates by group against fairlearn, and the studies that have the table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from courtroom_runs import PROJECT, configuration
from moot.analyses.group_rates.tables import group_rates_table
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.scores.group_rates import MIN_CASES
from results_about_people import predictions_by_sex, results_about_people, row


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Return the table, and the predictions about people with their sex."""
    folder = tmp_path_factory.mktemp("people")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        study = results_about_people(folder, {})
        frame = group_rates_table(study).frame
        return {"group_rates": frame, "predictions": predictions_by_sex(study)}


def test_rates_by_group_equal_those_of_fairlearn(tables: dict[str, pd.DataFrame]) -> None:
    metrics = pytest.importorskip(
        "fairlearn.metrics", reason="fairlearn is in the extra `test` (make env EXTRAS=test)"
    )
    frame = tables["group_rates"]
    predictions = tables["predictions"][
        lambda rows: (rows["model"] == "partial") & (rows["status"] == "valid")
    ]
    metric_functions = {
        "true positive rate": metrics.true_positive_rate,
        "false positive rate": metrics.false_positive_rate,
        "predicted positive": metrics.selection_rate,
    }
    oracle = metrics.MetricFrame(
        metrics=metric_functions,
        y_true=(predictions["target"] == "yes").astype(int),
        y_pred=(predictions["prediction"] == "yes").astype(int),
        sensitive_features=predictions["sex"],
    )
    comparison_count = 0
    for rate in metric_functions:
        for sex in ("male", "female"):
            rates = row(
                frame, experiment="asked", model="partial", attribute="sex", rate=rate, group=sex
            )
            if rates["cases"] < MIN_CASES:
                assert np.isnan(rates["ours"]), "a rate with a small denominator is not shown"
                continue
            assert rates["ours"] == pytest.approx(oracle.by_group.loc[sex, rate])
            assert rates["95 % low"] <= rates["ours"] <= rates["95 % high"]
        female = row(
            frame, experiment="asked", model="partial", attribute="sex", rate=rate, group="female"
        )
        if not isinstance(female["compared with"], str):
            continue
        comparison_count += 1
        assert female["compared with"] == "male"
        assert abs(female["difference"]) == pytest.approx(oracle.difference()[rate])
        assert female["difference low"] <= female["difference"] <= female["difference high"]
    assert comparison_count


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
