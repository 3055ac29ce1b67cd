"""The same command after failed debates, an open batch and a damaged file.

It says what is left, and asks for nothing that is in the ledger.

Slow: only this test detects a later run that asks again, or that ignores what is missing.
"""

import os
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

CASES = 12
OUTCOME = "results/outcome/courtroom.csv"
PREDICTIONS = "results/predictions/single/served.parquet"
RETRY = "debates with failed calls again, run `snakemake retry`"


class Runs:
    """A workflow of one experiment, by default of single prompts, and its server."""

    def __init__(
        self, folder: Path, server: FaultServer, experiment: str = "single", **model: object
    ) -> None:
        self.server = server
        self.workflow = Workflow(folder, server.url, project=unedited_copy())
        entries = {f"models/served/{key}": value for key, value in model.items()}
        cases = {f"experiments/{experiment}/cases": CASES}
        self.workflow.configure({"run": [experiment], **cases, **entries})

    def run(self, *targets: str, status: int = 0) -> tuple[str, int]:
        """Run the workflow; return its output and the number of calls."""
        earlier = self.server.stats()["requests"]
        process = self.workflow.run(*targets)
        assert process.returncode == status, process.stdout
        assert "Traceback" not in process.stdout
        return process.stdout, self.server.stats()["requests"] - earlier

    def count(self, status: str) -> int:
        """Return the number of debates with a status."""
        return int(pd.read_csv(self.workflow.work / OUTCOME)[status].sum())


def test_retry_asks_failed_debates_and_calls_again_and_fills_the_results(
    server: FaultServer, tmp_path: Path
) -> None:
    """A debate whose speech failed is valid, and lacks the speech."""
    runs = Runs(tmp_path, server, experiment="trial")
    server.reset(faults=["context_length"], rate=0.15, seed=1, max_faulty_attempts=0)
    output, _ = runs.run(OUTCOME)
    failed = runs.count("failed")
    lacking = int(output.partition(" valid debates lack statements")[0].split()[-1])
    assert failed > 0 and lacking > 0
    assert f"the calls of the {failed + lacking} {RETRY}" in output
    server.reset(faults=[])
    output, calls = runs.run(OUTCOME)
    assert (calls, runs.count("failed")) == (0, failed)
    assert f"the calls of the {failed + lacking} {RETRY}" in output
    output, calls = runs.run("retry", OUTCOME, "--until", "outcome")
    assert calls >= failed + lacking
    assert runs.count("valid") == CASES and RETRY not in output


def test_an_open_batch_and_a_damaged_file_are_continued(
    server: FaultServer, tmp_path: Path
) -> None:
    runs = Runs(tmp_path, server, batch={"wait": False})
    server.reset(batch_ends=0)
    output, _ = runs.run(OUTCOME)
    assert f"{CASES} waiting" in output
    waiting = f"batch_0 of model 'served' (in_progress): {CASES} debates"
    assert waiting in output.replace("\n", " ")
    server.reset(keep=True, batch_ends=None)
    runs.run(OUTCOME)
    assert runs.count("valid") == CASES
    assert server.stats()["batches"]["sizes"] == [CASES]

    file = runs.workflow.work / PREDICTIONS
    original_stat = file.stat()
    file.write_bytes(file.read_bytes()[: original_stat.st_size // 2])
    # no job reads it, only the end of the run; then one does
    for time in (original_stat.st_mtime, None):
        os.utime(file, time and (time, time))
        output, _ = runs.run(OUTCOME, status=1)
        assert f"moot: {PREDICTIONS}: damaged, or not written by moot (" in output
        assert "Delete it and run the same command again" in output
        assert "pyarrow" not in output
    file.unlink()
    _, calls = runs.run(OUTCOME)
    assert calls == 0, "what is in the ledger was asked for again"
    assert server.stats()["batches"]["sizes"] == [CASES]
