"""The workflow can train an assistant with each of its features."""

import json
from pathlib import Path
from typing import get_args

from moot.studies.feedback.reliability import Features
from project_copy import Workflow, unedited_copy

TRAINING = "feedback-training-caselaw"
OPTIONS = ("--workflow-profile", "none", "--cores", "2", "--dry-run")


def test_a_rule_trains_the_assistant_with_all_features(tmp_path: Path) -> None:
    all_features = get_args(Features)
    experiment = {
        "protocol": "feedback",
        "dataset": "caselaw",
        "models": "smollm2-135m",
        "cases": 1,
        "params": {"assistant": TRAINING},
        "grid": {"assistant_features": all_features},
    }
    path = tmp_path / "features.yaml"
    path.write_text(json.dumps({"run": ["mine*", TRAINING], "experiments": {"mine": experiment}}))
    workflow = Workflow(tmp_path, "", project=unedited_copy())

    process = workflow.snakemake("debates", *OPTIONS, "--configfile", path)

    assert process.returncode == 0, process.stdout[-3000:]
    for features in all_features:
        assistant = f"results/assistants/{TRAINING}/smollm2-135m/{features}.skops"
        assert f"output: {assistant}" in process.stdout
