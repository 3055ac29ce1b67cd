"""Debates that wait for a batch: a run ends with them, later runs of the same command continue
them, and then nothing runs.

Slow: only this test detects runs that fail, instead of ending, while a batch is under way.
"""

from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

OUTCOME = "results/outcome/courtroom.csv"


def test_a_run_ends_while_a_batch_is_open_and_the_next_runs_continue(tmp_path: Path) -> None:
    with FaultServer() as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        workflow.configure({"run": ["single"], "models/served/batch": {"wait": False}})
        server.reset(batch_ends=0)
        process = workflow.run(OUTCOME)
        assert process.returncode == 0, process.stdout
        assert "3 waiting" in process.stdout
        assert "batch_0 of model 'served' (in_progress): 3 debates" in process.stdout.replace(
            "\n", " "
        )
        assert "Traceback" not in process.stdout

        server.reset(keep=True, batch_ends=None)
        process = workflow.run(OUTCOME)
        assert process.returncode == 0, process.stdout
        assert pd.read_csv(workflow.work / OUTCOME)["valid"].tolist() == [3]
        assert server.stats()["batches"]["sizes"] == [3]
        assert "run_debates" not in workflow.jobs(OUTCOME)
