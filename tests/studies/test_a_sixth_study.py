"""A study is one folder: the same files, within moot and outside of it, give data, debates, scores,
table and figure.

Slow; only it finds a study that needs more than its folder.
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


@pytest.mark.parametrize("within", [True, False], ids=["a folder of studies", "an extension"])
def test_a_folder_is_a_study(within: bool, server: FaultServer, tmp_path: Path) -> None:
    workflow, before = Workflow(tmp_path, server.url), server.count()
    ignore = shutil.ignore_patterns("__pycache__", *(["prompts", "study.yaml"] if within else []))
    studies = workflow.project / "scripts" / "moot" / "studies"
    shutil.copytree(SIXTH, (studies if within else workflow.work) / "coinage", ignore=ignore)
    study = {
        kind: yaml.safe_load((SIXTH / "study.yaml").read_text())[kind]
        for kind in ("datasets", "experiments")
    }
    other = {"endpoint": "openai", "model": "another", "base_url": server.url, "max_tokens": 50}
    change = {
        "run": ["tosses"],
        "models/other": other,
        "experiments/tosses/models": ["served", "other"],
    }
    if within:
        shutil.copytree(
            SIXTH / "prompts", workflow.project / "config" / "prompts", dirs_exist_ok=True
        )
        (workflow.project / "config" / "studies" / "coinage.yaml").write_text(yaml.safe_dump(study))
        workflow.configure(change)
    else:
        named = {
            f"{kind}/{name}": entry
            for kind, entries in study.items()
            for name, entry in entries.items()
        }
        workflow.configure({**named, **change, "extensions": "coinage"})
    done = workflow.run("coinage")
    assert done.returncode == 0, done.stdout[-6000:]
    assert server.count() - before == 2 * 6, "one call for each of two models' six cases"
    results = workflow.work / "results"
    heads = pd.read_csv(results / "tables" / "coinage" / "heads.csv")
    said = pd.concat(
        pd.read_parquet(path)
        for path in sorted((results / "predictions" / "tosses").glob("*.parquet"))
    )
    assert heads["value"].tolist() == pytest.approx(
        [(rows["prediction"] == "heads").mean() for _, rows in said.groupby("model", sort=True)],
        nan_ok=True,
    )
    assert (results / "figures" / "coinage" / "heads.svg").exists()
    assert (results / "tables" / "coinage" / "paired_tests.csv").exists(), (
        "tables of no paper are every study's"
    )
    assert workflow.jobs("coinage") == set(), "with nothing changed nothing runs"
