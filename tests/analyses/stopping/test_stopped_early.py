"""Test early stopping through Snakemake: later stages are skipped, even after a kill.

Slow: only this test detects stages that do not wait, or a killed run that decides differently.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fault_server import FaultServer
from patience import PATIENCE
from project_copy import Workflow

pytestmark = pytest.mark.slow

CASES_PER_STAGE, STAGES, DEBATED_STAGES = 4, 5, 3
TABLE = "results/tables/courtroom/stopping.csv"


class Run:
    """Two experiments by models with different shares of valid answers: one answers, one never
    does.
    """

    def __init__(
        self, folder: Path, steady_server: FaultServer, faulty_server: FaultServer, **stop: Any
    ) -> None:
        self.workflow = Workflow(folder, steady_server.url, analyses=["stopping"])
        self.output = folder / "output"
        self.calls: list[int] = []
        entry = {
            "endpoint": "openai",
            "model": "test",
            "max_tokens": 50,
            "concurrency": 2,
            "price": {"input": 0, "output": 1000},
        }
        trial = {
            "protocol": "zero_shot",
            "dataset": "people",
            "cases": CASES_PER_STAGE * STAGES,
            "study": "courtroom",
        }
        self.workflow.configure(
            {
                "run": ["one", "two"],
                "models/good": {**entry, "base_url": steady_server.url},
                "models/bad": {**entry, "base_url": faulty_server.url},
                "datasets/people/rows": 400,
                "experiments/one": {**trial, "models": "good"},
                "experiments/two": {**trial, "models": "bad"},
                "contrasts": {
                    "main": {
                        "first": "one/good",
                        "second": "two/bad",
                        "metric": "valid",
                        "stop": {"cases_per_stage": CASES_PER_STAGE, "difference": 0.1, **stop},
                    }
                },
            }
        )

    def finish(self, target: str = TABLE) -> pd.Series:
        process = self.workflow.run(target)
        assert process.returncode == 0, process.stdout
        return self.decision()

    def decision(self) -> pd.Series:
        """Return the row of the table that a finished run left."""
        return pd.read_csv(self.workflow.work / TABLE).iloc[0]

    def resume(self) -> subprocess.CompletedProcess[str]:
        """Run what an earlier run left."""
        return self.workflow.run(TABLE, "--nolock", "--rerun-incomplete")

    def start(self) -> subprocess.Popen[bytes]:
        """Start a run as a user does, in a process group that can be killed."""
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(self.workflow.project / "Snakefile"),
            TABLE,
        ]
        command += ["--configfile", "my.yaml", "--cores", "2", "--nolock", "--rerun-incomplete"]
        with self.output.open("wb") as output:
            return subprocess.Popen(
                command,
                cwd=self.workflow.work,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def debated_cases(self) -> dict[str, list[int]]:
        """Return the number of debates in each stage of either side."""
        folder = self.workflow.work / "results" / "transcripts"
        counts: dict[str, list[int]] = {"one/good": [], "two/bad": []}
        for run, run_counts in counts.items():
            for stage in range(STAGES):
                transcripts = pd.read_parquet(folder / run / f"{stage}.parquet")
                run_counts.append(transcripts["debate_id"].nunique())
        return counts


REFUSAL = "I would rather not say."


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[FaultServer, FaultServer]]:
    with FaultServer() as steady_server, FaultServer() as faulty_server:
        yield steady_server, faulty_server


@pytest.fixture(scope="module")
def undisturbed(
    servers: tuple[FaultServer, FaultServer], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    servers[1].reset(content=REFUSAL)
    run = Run(tmp_path_factory.mktemp("undisturbed") / "run", *servers)
    run.finish()
    run.calls = [server.stats()["distinct"] for server in servers]
    return run


def test_stages_after_the_decision_are_empty(undisturbed: Run) -> None:
    row = undisturbed.decision()
    assert (row["stopped because"], row["stages"], row["planned stages"]) == (
        "difference shown",
        DEBATED_STAGES,
        STAGES,
    )
    assert undisturbed.debated_cases() == dict.fromkeys(
        ("one/good", "two/bad"),
        [CASES_PER_STAGE] * DEBATED_STAGES + [0] * (STAGES - DEBATED_STAGES),
    )
    calls = sum(undisturbed.calls)
    assert calls == row["calls"] and row["calls not made"] * DEBATED_STAGES == row["calls"] * (
        STAGES - DEBATED_STAGES
    )
    assert undisturbed.workflow.jobs(TABLE) == set(), "an unchanged run has no jobs"
    page = (undisturbed.workflow.work / TABLE).with_suffix(".html").read_text()
    assert re.search("difference shown", page)


def test_a_killed_run_makes_the_same_decision_with_slow_and_failing_models(
    undisturbed: Run, servers: tuple[FaultServer, FaultServer], tmp_path: Path
) -> None:
    """One model is refused at first, and later answers only after faults."""
    slow, fast = servers
    slow.reset(latency=0.5)
    fast.reset(faults=["insufficient_quota"], rate=1.0)
    killed = Run(tmp_path / "killed", *servers)
    assert killed.resume().returncode == 1, "no stage is decided without the refused calls"
    assert (
        fast.stats()["faults"]["insufficient_quota"] and not (killed.workflow.work / TABLE).exists()
    )
    fast.reset(latency=0.02, content=REFUSAL, faults=["server_error", "dropped_midway"], rate=0.3)
    process = killed.start()
    slow.wait_for(CASES_PER_STAGE + 2)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert not (killed.workflow.work / TABLE).exists()
    resumed = killed.resume()
    assert resumed.returncode == 0, resumed.stdout
    assert fast.stats()["faults"]
    assert [server.stats()["distinct"] for server in servers] == undisturbed.calls
    assert killed.debated_cases() == undisturbed.debated_cases()
    tables = [(run.workflow.work / TABLE).read_bytes() for run in (undisturbed, killed)]
    assert tables[0] == tables[1]


def test_debates_end_before_a_stage_that_exceeds_the_budget(
    undisturbed: Run, servers: tuple[FaultServer, FaultServer], tmp_path: Path
) -> None:
    servers[0].reset()
    servers[1].reset(content=REFUSAL)
    free = undisturbed.decision()
    per_stage = free["US dollars"] / free["stages"]
    assert per_stage > 0
    row = Run(tmp_path / "poor", *servers, usd=float(1.5 * per_stage)).finish()
    assert (row["stopped because"], row["stages"]) == ("budget", 1) and row[
        "US dollars"
    ] <= 1.5 * per_stage
