"""profiles/slurm as it ships, on a real Slurm and a real PostgreSQL.

There are two models at two speeds, and jobs that are killed.

Slow: only this test detects replies that jobs of a real cluster lose when they are cancelled or
killed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fault_server import FaultServer
from moot.llm.ledger.ledger import Ledger
from patience import PATIENCE
from postgres_server import postgres_server
from project_copy import Workflow, unedited_copy
from slurm_cluster import slurm, slurm_cluster

pytestmark = pytest.mark.slow

DEBATES, CALLS = 6, 16
SHARDS = tuple(f"results/transcripts/trial/{name}/0.parquet" for name in ("fast", "slow"))
SOON = ["--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    with slurm_cluster() as folder:
        yield folder


@pytest.fixture(scope="module")
def ledger(cluster: Path) -> Iterator[str]:
    with postgres_server() as url:
        yield url


def submit(workflow: Workflow, log: Path) -> "subprocess.Popen[bytes]":
    """Start Snakemake as docs/cluster.md says, and let it be."""
    profile = str(workflow.project / "profiles" / "slurm")
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(workflow.project / "Snakefile"),
        *SHARDS,
    ]
    options = ["--configfile", "my.yaml", "--profile", profile, *SOON]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with log.open("wb") as output:
        return subprocess.Popen(
            [*command, *options],
            cwd=workflow.work,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def job_of(model: str, seconds: float = PATIENCE) -> str:
    """The Slurm job that holds debates with a model now."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for line in slurm(
            "squeue", "--noheader", "--states=RUNNING", "--format=%i|%k"
        ).splitlines():
            number, _, comment = line.partition("|")
            if "run_debates" in comment and model in comment:
                return number
        time.sleep(0.2)
    raise TimeoutError(f"no job of {model}")


def test_cancelled_and_killed_jobs_continue_without_repeated_calls(
    cluster: Path, ledger: str, tmp_path: Path
) -> None:
    with FaultServer(latency=0.1) as fast, FaultServer(latency=0.5) as slow:
        workflow = Workflow(tmp_path, fast.url, project=unedited_copy())
        model = {
            "endpoint": "openai",
            "model": "test",
            "max_tokens": 50,
            "concurrency": 3,
        }
        workflow.configure(
            {
                "run": ["trial"],
                "shards": 1,
                "ledger": ledger,
                "experiments/trial/cases": DEBATES,
                "experiments/trial/models": ["fast", "slow"],
                "models": {
                    "fast": {**model, "base_url": fast.url},
                    "slow": {**model, "base_url": slow.url},
                },
            }
        )
        first = submit(workflow, tmp_path / "first.log")
        fast.wait_for(8)
        slurm("scancel", "--full", "--signal=KILL", job_of("fast"))
        slow.wait_for(8)
        slurm("scancel", job_of("slow"))
        assert first.wait(PATIENCE) == 1, (tmp_path / "first.log").read_text()[-3000:]
        assert fast.stats()["replies"] + slow.stats()["replies"] < 2 * DEBATES * CALLS

        second = submit(workflow, tmp_path / "second.log")
        assert second.wait(PATIENCE) == 0, (tmp_path / "second.log").read_text()[-3000:]
        for server, repeated in (
            (fast, 3),
            (slow, 0),
        ):  # a killed job leaves at most what was under way
            stats = server.stats()
            assert stats["distinct"] == DEBATES * CALLS
            assert stats["requests"] <= DEBATES * CALLS + repeated
            assert stats["peak"] <= 3
    shared_ledger = Ledger(ledger)
    assert shared_ledger.read_totals().calls == 2 * DEBATES * CALLS
    shared_ledger.close()
    for shard in SHARDS:
        kinds = pq.read_table(workflow.work / shard)["kind"].to_pylist()
        assert kinds.count("conclusion") == DEBATES
