"""Test attribution through Snakemake.

Slow: unchanged debates must not be judged again.
"""

from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from project_copy import Workflow

pytestmark = pytest.mark.slow

TABLE = "results/tables/courtroom/what_moved.csv"
TRIAL = {
    "protocol": "courtroom", "dataset": "people", "models": "served", "cases": 1,
    "params": {"strategy": "none", "beliefs": "none"},
}  # fmt: skip


def test_a_debate_is_judged_again_and_only_once(tmp_path: Path, server: FaultServer) -> None:
    workflow = Workflow(tmp_path, server.url, analyses=["attribution"])
    trial = {**TRIAL, "attribution": {"repeats": 2}}
    workflow.configure({"run": ["trial"], "experiments/trial": trial})
    built = workflow.run(TABLE)
    assert built.returncode == 0, built.stdout[-4000:]
    moved = pd.read_csv(workflow.work / TABLE).set_index("group")
    assert moved.loc["all", ["changes", "debates", "cases"]].tolist() == [6, 1, 1]
    calls = workflow.work / "results/calls/trial-arm=attribution/served.parquet"
    assert len(pd.read_parquet(calls)) == 2 * 2 + 6 * 2
    trial = {**TRIAL, "attribution": {"repeats": 2, "min_effect": 0.2}}
    workflow.configure({"run": ["trial"], "experiments/trial": trial})
    jobs = workflow.jobs(TABLE)
    assert jobs and "debates" not in jobs
