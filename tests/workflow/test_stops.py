"""A run that a signal ends leaves complete files, and the same command continues it.

Slow: only this test detects processes and replies that a signal to Snakemake loses.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import forks
from fault_server import FaultServer
from moot.llm.ledger.ledger import Ledger
from patience import PATIENCE
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

CASES, CALLS = 8, 2 * 8 * 16
SHARDS = ("results/transcripts/alone/apart/0.parquet", "results/transcripts/mixed/fast/0.parquet")


class Run:
    """Two jobs under way: one model at a slow server, and debates before a slow judge.

    The debaters of the latter are a fast model.
    """

    def __init__(self, folder: Path, fast: FaultServer, slow: FaultServer) -> None:
        self.servers = fast, slow
        self.workflow = Workflow(folder, fast.url, project=unedited_copy())
        self.output = folder / "output"
        entry = {"endpoint": "openai", "model": "test", "max_tokens": 50, "concurrency": 4}
        trial = {"protocol": "courtroom", "dataset": "people", "cases": CASES}
        self.workflow.configure(
            {
                "run": ["alone", "mixed"],
                "models/fast": {**entry, "base_url": fast.url},
                "models/slow": {**entry, "base_url": slow.url},
                "models/apart": {**entry, "base_url": slow.url, "model": "another"},
                "datasets/people/rows": 300,
                "experiments/alone": {**trial, "models": "apart"},
                "experiments/mixed": {
                    **trial,
                    "models": "fast",
                    "params": {"seats": {"judge": "slow"}},
                },
            }
        )
        self.workflow.run("results/cases/people.parquet")

    def counts(self) -> list[int]:
        return [server.count() for server in self.servers]

    def start(
        self, *, as_fork: bool = False
    ) -> tuple[subprocess.Popen[bytes], list[psutil.Process]]:
        """Start Snakemake as a user does; give it with its jobs when both ask.

        A fork spares imports, and shows no jobs.
        """
        earlier_counts = self.counts()
        python, address = sys.executable, dict[str, str]()
        if as_fork:
            python, address = forks.python_of(self.workflow.project)
        command = [
            python,
            "-m",
            "snakemake",
            "--snakefile",
            str(self.workflow.project / "Snakefile"),
            *SHARDS,
        ]
        command += ["--configfile", "my.yaml", "--cores", "2", "--nolock"]
        environment = {**os.environ, **address, "PYTHONDONTWRITEBYTECODE": ""}
        with self.output.open("wb") as output:
            snakemake = subprocess.Popen(
                command,
                cwd=self.workflow.work,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        for server, count in zip(self.servers, earlier_counts, strict=True):
            server.wait_for(count + 6)
        children = psutil.Process(snakemake.pid).children(recursive=True)
        return snakemake, [
            process for process in children if ".snakemake/scripts" in process.cmdline()[1]
        ]

    def stop(
        self,
        snakemake: subprocess.Popen[bytes],
        jobs: list[psutil.Process],
        number: signal.Signals,
    ) -> None:
        """Send a signal and check that calls in flight are stored and all processes end."""
        earlier_counts = self.counts()
        assert len(jobs) == 2
        os.kill(snakemake.pid, number)
        assert snakemake.wait(PATIENCE) == 1
        assert not psutil.wait_procs(jobs, PATIENCE)[1], "jobs go on"
        stats = [server.stats() for server in self.servers]
        requests = [counts["requests"] for counts in stats]
        replies = [counts["replies"] for counts in stats]
        assert sum(requests) - sum(earlier_counts) < CALLS // 2, "calls were made after the signal"
        assert requests == replies
        ledger = Ledger(str(self.workflow.work / "data" / "ledger"))
        assert ledger.read_totals().calls == sum(replies), "all that were under way are kept"
        ledger.close()
        assert not list((self.workflow.work / "results" / "transcripts").rglob("*.parquet"))
        assert (
            self.output.read_text().splitlines()[-1]
            == f"moot: stopped by {number.name}. Every reply received is in the ledger: run the"
            " same command again to go on."
        )


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with FaultServer(latency=0.5) as fast, FaultServer(latency=1.0) as slow:
        yield Run(tmp_path, fast, slow)


def test_a_stopped_run_keeps_pending_replies_and_continues(run: Run) -> None:
    run.stop(*run.start(), signal.SIGHUP)
    output = run.output.read_text()
    assert not re.search("Traceback|Error in rule|did not complete|failed", output)

    snakemake, jobs = run.start()
    mixed_job = next(job for job in jobs if "mixed" in str(job.open_files()))
    mixed_job.send_signal(signal.SIGTERM)
    psutil.wait_procs([mixed_job], PATIENCE)
    (log,) = (run.workflow.work / "results" / "logs" / "debates" / "mixed").rglob("*.log")
    assert "stopped by SIGTERM" in log.read_text().splitlines()[-1]
    run.servers[1].wait_for(
        run.counts()[1] + 6
    )  # the other job goes on, until Snakemake is told to end
    run.stop(snakemake, jobs, signal.SIGINT)

    for server in run.servers:
        server.reset(latency=0.0, keep=True)
    snakemake, _ = run.start(as_fork=True)
    assert snakemake.wait(PATIENCE) == 0, run.output.read_text()
    assert [server.stats()["distinct"] for server in run.servers] == run.counts(), (
        "nothing is asked twice"
    )
    assert sum(run.counts()) == CALLS
    assert not list((run.workflow.work / "results").glob(".run*"))
