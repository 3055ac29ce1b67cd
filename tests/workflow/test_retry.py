"""Failed debates are named with the command that asks them again, which asks nothing else."""

from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

CASES = 12
OUTCOME = "results/outcome/comparison.csv"


def test_retry_asks_failed_debates_again_and_fills_the_results(
    server: FaultServer, tmp_path: Path
) -> None:
    workflow = Workflow(tmp_path, server.url, project=unedited_copy())
    workflow.configure({"run": ["single"], "experiments/single/cases": CASES})

    def run(*targets: str) -> tuple[str, int, int]:
        """Return the output, the calls, and the failed debates of a run."""
        earlier = server.stats()["requests"]
        process = workflow.run(*targets)
        assert process.returncode == 0, process.stdout
        table = pd.read_csv(workflow.work / OUTCOME)
        return process.stdout, server.stats()["requests"] - earlier, int(table["failed"].sum())

    server.reset(faults=["context_length"], rate=0.25, seed=1, max_faulty_attempts=0)
    command = "failed debates again, run `snakemake retry`"
    first, calls, failed = run(OUTCOME)
    assert 0 < failed < CASES and calls == CASES
    assert f"the calls of the {failed} {command}" in first
    server.reset(faults=[])
    second, calls, still_failed = run(OUTCOME)
    assert (calls, still_failed) == (0, failed) and f"the calls of the {failed} {command}" in second
    third, calls, still_failed = run("retry")
    assert (calls, still_failed) == (failed, 0) and command not in third
