"""A study is one folder: the same files work in moot and as an extension.

They give data, debates, scores, a table and a figure. Slow: only this test detects a study that
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


@pytest.mark.parametrize("is_within", [True, False], ids=["a folder of studies", "an extension"])
def test_a_folder_is_a_study(is_within: bool, server: FaultServer, tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, server.url, analyses=("deferral",))
    request_count = server.count()
    ignore = shutil.ignore_patterns(
        "__pycache__", *(["prompts", "study.yaml"] if is_within else [])
    )
    studies = workflow.project / "scripts" / "moot" / "studies"
    shutil.copytree(SIXTH, (studies if is_within else workflow.work) / "coinage", ignore=ignore)
    study = {
        kind: yaml.safe_load((SIXTH / "study.yaml").read_text())[kind]
        for kind in ("datasets", "experiments")
    }
    other_model = {
        "endpoint": "openai",
        "model": "another",
        "base_url": server.url,
        "max_tokens": 50,
    }
    change = {
        "run": ["tosses"],
        "models/other": other_model,
        "experiments/tosses/models": ["served", "other"],
    }
    if is_within:
        shutil.copytree(
            SIXTH / "prompts", workflow.project / "config" / "prompts", dirs_exist_ok=True
        )
        (workflow.project / "config" / "studies" / "coinage.yaml").write_text(yaml.safe_dump(study))
        workflow.configure(change)
    else:
        entries_by_path = {}
        for kind, entries in study.items():
            entries_by_path |= {f"{kind}/{name}": entry for name, entry in entries.items()}
        workflow.configure({**entries_by_path, **change, "extensions": "coinage"})
    process = workflow.run("coinage")
    assert process.returncode == 0, process.stdout[-6000:]
    assert server.count() - request_count == 2 * 6, "one call for each of two models' six cases"
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
