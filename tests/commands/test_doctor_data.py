"""Test the reports of `doctor` and `preview` on data and protocols before anything is paid for."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from in_process import default_configuration
from moot.commands.doctor import Finding, _check_data, _check_requirements
from moot.plan.plan import Plan
from project_copy import PROJECT

SERVER = {"model": "test", "base_url": "http://localhost:9"}


def make_plan(table: Path, experiment: dict[str, Any], **options: Any) -> Plan:
    dataset = {
        "loader": "table",
        "path": str(table),
        "text": "facts",
        "target": "outcome",
        "question": "Who wins?",
        **options,
    }
    config = {
        "run": ["mine"],
        "models": {"served": SERVER},
        "datasets": {"own": dataset},
        "experiments": {"mine": {"dataset": "own", "models": ["served"], **experiment}},
    }
    return Plan.from_yaml(default_configuration(config), PROJECT)


def write_table(path: Path, outcomes: list[str]) -> Path:
    rows = [{"facts": f"Case {row} is long.", "outcome": word} for row, word in enumerate(outcomes)]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def data_findings(plan: Plan) -> list[Finding]:
    return [*_check_data(plan), *_check_requirements(plan)]


def test_the_labels_of_a_table_are_counted(tmp_path: Path) -> None:
    table = write_table(tmp_path / "cases.csv", ["won", "lost"] * 2)
    [finding] = data_findings(make_plan(table, {"protocol": "zero_shot"}))
    assert finding.state == "ok" and "labels: lost 2, won 2; positive: won" in finding.details


@pytest.mark.parametrize(
    ("experiment", "outcomes", "state", "text"),
    [
        ({"protocol": "zero_shot", "params": {"answer": "likelihood"}}, "ab", "?", "log-prob"),
        ({"protocol": "panel", "params": {"votes": "none"}}, "ab", "missing", "Leave `votes` out"),
        ({"protocol": "human_panel"}, "ab", "missing", "Set `human: ask`"),
    ],
)
def test_protocols_list_their_requirements(
    experiment: dict[str, Any], outcomes: str, state: str, text: str, tmp_path: Path
) -> None:
    plan = make_plan(write_table(tmp_path / "cases.csv", list(outcomes) * 2), experiment)
    [finding] = _check_requirements(plan)
    assert finding.state == state and text in finding.details


def test_an_f1_without_a_positive_of_two_labels_is_reported(tmp_path: Path) -> None:
    table = write_table(tmp_path / "cases.csv", ["a", "b", "c"])
    plan = make_plan(table, {"protocol": "courtroom", "arms": ["alone"]})
    assert list(_check_requirements(plan)) == []
    contrast = {"first": "mine", "second": "mine-arm=alone", "metric": "f1", "question": "Why?"}
    experiment = {
        "protocol": "courtroom",
        "dataset": "own",
        "models": ["served"],
        "arms": ["alone"],
    }
    raw = default_configuration(
        {
            "run": ["mine"],
            "models": {"served": SERVER},
            "datasets": {"own": plan.config.datasets["own"]},
            "experiments": {"mine": {**experiment, "arms": ["alone"]}},
            "contrasts": {"f1": contrast},
        }
    )
    findings = list(_check_requirements(Plan.from_yaml(raw, PROJECT)))
    assert {finding.state for finding in findings} == {"?"}
    assert "the metric f1 needs two labels" in findings[0].details


@pytest.mark.parametrize(
    ("source", "word"),
    [("synthetic", "SYNTHETIC DATA: made-up"), ("sample", "SAMPLE: a few cases")],
)
def test_made_up_data_are_noted(source: str, word: str) -> None:
    dataset = {"synthetic": "nlsy97", "sample": "opinions"}[source]
    experiment = {"protocol": "zero_shot", "dataset": dataset, "models": ["served"], "cases": 1}
    config = {
        "run": ["mine"],
        "models": {"served": SERVER},
        "datasets": {dataset: {"source": source}},
        "experiments": {"mine": experiment},
    }
    plan = Plan.from_yaml(default_configuration(config), PROJECT)
    [finding] = _check_data(plan)
    assert finding.state == "note" and finding.details.startswith(word)
