"""A run on damaged artifacts gets one message with the file and the remedy, from the job and at the
end, and can continue.

Slow: only this test detects runs that ignore a damaged file.
"""

import os
from pathlib import Path

import pytest

from fault_server import FaultServer
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

PREDICTIONS, OUTCOME = "results/predictions/single/served.parquet", "results/outcome/courtroom.csv"


def test_a_run_on_a_damaged_artifact_ends_with_one_message(tmp_path: Path) -> None:
    with FaultServer() as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        workflow.configure({"run": ["single"]})
        assert workflow.run(OUTCOME).returncode == 0
        request_count, file = server.count(), workflow.work / PREDICTIONS
        original_stat = file.stat()
        file.write_bytes(file.read_bytes()[: original_stat.st_size // 2])
        for time in (
            original_stat.st_mtime,
            None,
        ):  # no job reads it, only the end of the run; then one does
            os.utime(file, time and (time, time))
            process = workflow.run(OUTCOME)
            assert process.returncode == 1
            assert f"moot: {PREDICTIONS}: damaged, or not written by moot (" in process.stdout
            assert "Delete it and run the same command again" in process.stdout
            assert "Traceback" not in process.stdout and "pyarrow" not in process.stdout
        file.unlink()
        assert workflow.run(OUTCOME).returncode == 0
        assert server.count() == request_count, "what is in the ledger was asked for again"
