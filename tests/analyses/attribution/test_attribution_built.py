"""Test attribution through Snakemake with the embedded model.

Slow: unchanged debates must not be judged again.
"""

from pathlib import Path

import pandas as pd
import pytest

from project_copy import Workflow

pytestmark = pytest.mark.slow

TABLE = "results/tables/courtroom/what_moved.csv"
READER = "results/reader/courtroom.html"
TRIAL = {
    "protocol": "courtroom", "dataset": "people", "models": "smollm2-135m", "cases": 1,
    "params": {"strategy": "none", "beliefs": "none", "answer": "likelihood", "max_tokens": 8},
}  # fmt: skip


def test_a_debate_of_the_embedded_model_is_judged_again(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, "http://localhost:9", analyses=["attribution"])
    workflow.configure(
        {
            "run": ["trial"],
            "experiments/trial": {**TRIAL, "attribution": {}},
        }
    )
    built = workflow.run(TABLE, READER)
    assert built.returncode == 0, built.stdout[-4000:]
    moved = pd.read_csv(workflow.work / TABLE).set_index("group")
    assert moved.loc["all", ["changes", "debates", "cases"]].tolist() == [6, 1, 1]
    assert 0 < moved.loc["all", "before"] < 1
    calls = pd.read_parquet(
        workflow.work / "results/calls/trial-arm=attribution/smollm2-135m.parquet"
    )
    assert len(calls) == 2 + 6
    debates = workflow.work / "results/transcripts/trial/smollm2-135m/0.parquet"
    modified_at = debates.stat().st_mtime_ns
    changed = {"min_effect": 0.2}
    workflow.configure({"run": ["trial"], "experiments/trial": {**TRIAL, "attribution": changed}})
    rerun = workflow.run(TABLE)
    assert rerun.returncode == 0, rerun.stdout[-4000:] + rerun.stderr[-4000:]
    assert debates.stat().st_mtime_ns == modified_at
    calls = pd.read_parquet(
        workflow.work / "results/calls/trial-arm=attribution/smollm2-135m.parquet"
    )
    assert len(calls) == 2 + 6
