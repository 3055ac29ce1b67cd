"""Test the reports of `doctor` on data before anything is paid for."""

from pathlib import Path
from typing import Any

import pandas as pd

from in_process import default_configuration
from moot.commands.doctor import _check_data
from moot.commands.doctor_cases import describe_row_faults
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


def test_the_labels_of_a_table_are_counted(tmp_path: Path) -> None:
    table = write_table(tmp_path / "cases.csv", ["won", "lost"] * 2)
    [finding] = _check_data(make_plan(table, {"protocol": "zero_shot"}))
    assert finding.state == "ok" and "labels: lost 2, won 2; positive: won" in finding.details


def test_the_faults_of_transcripts_are_listed(tmp_path: Path) -> None:
    rows = [
        {"debate": f"d{number}", "speaker": "Ann", "text": "So.", "said": "yes" if number else "?"}
        for number in range(9)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "talks.csv", index=False)
    dataset = {
        "loader": "transcripts", "path": str(tmp_path / "talks.csv"), "faulty": 0.2,
        "columns": {"answer": "said"}, "labels": ["no", "yes"],
    }  # fmt: skip
    experiment = {
        "dataset": "own", "models": "recorded", "source": "recorded",
        "params": {"method": "debate"},
    }  # fmt: skip
    config = {
        "run": ["mine"],
        "models": {"recorded": {"endpoint": "recorded", "model": "recorded"}},
        "datasets": {"own": dataset},
        "experiments": {"mine": experiment},
    }
    plan = Plan.from_yaml(default_configuration(config), PROJECT)
    counts, fault, explanation = _check_data(plan)
    assert "1 debates left out because of faults" in counts.details
    assert "row 1, column 'said': found '?', expected one of no, yes" in fault.details
    assert explanation.details.startswith("Row 1 is the first row below the heading")
    assert fault.details in describe_row_faults(plan)
