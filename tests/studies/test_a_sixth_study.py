"""A study is one folder, which works in moot as it does as an extension (docs/extending.md).

It gives data, debates, scores, a table and a figure. Slow: only this test detects a study that
needs more than its folder.
"""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fault_server import FaultServer
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

SIXTH = PROJECT / "docs/examples/coinage"


def test_a_folder_is_a_study(server: FaultServer, tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, server.url, analyses=("deferral",))
    ignore = shutil.ignore_patterns("__pycache__", "prompts", "study.yaml")
    studies = workflow.project / "scripts" / "moot" / "studies"
    shutil.copytree(SIXTH, studies / "coinage", ignore=ignore)
    prompts = workflow.project / "config" / "prompts"
    shutil.copytree(SIXTH / "prompts", prompts, dirs_exist_ok=True)
    entries = yaml.safe_load((SIXTH / "study.yaml").read_text())
    study = {kind: entries[kind] for kind in ("datasets", "experiments")}
    file = workflow.project / "config" / "studies" / "coinage.yaml"
    file.write_text(yaml.safe_dump(study))
    model = {"endpoint": "openai", "model": "another", "base_url": server.url, "max_tokens": 50}
    workflow.configure(
        {
            "run": ["tosses"],
            "models/other": model,
            "experiments/tosses/models": ["served", "other"],
        }
    )
    process = workflow.run("coinage")
    assert process.returncode == 0, process.stdout[-6000:]
    assert server.count() == 2 * 6, "one call for each of two models' six cases"
    results = workflow.work / "results"
    heads = pd.read_csv(results / "tables" / "coinage" / "heads.csv")
    predictions = pd.concat(
        pd.read_parquet(path)
        for path in sorted((results / "predictions" / "tosses").glob("*.parquet"))
    )
    assert heads["value"].tolist() == pytest.approx(
        [
            (rows["prediction"] == "heads").mean()
            for _, rows in predictions.groupby("model", sort=True)
        ],
        nan_ok=True,
    )
    assert (results / "figures" / "coinage" / "heads.svg").exists()
    assert (results / "tables" / "coinage" / "deferral.csv").exists(), "an analysis' tables"
    assert workflow.jobs("coinage") == set(), "with nothing changed nothing runs"
