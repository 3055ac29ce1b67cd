"""Courtroom experiments of a given size against the fault server, for tests and benchmarks."""

import logging
import multiprocessing
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from debate_jobs import debate_job
from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case, Task
from moot.core.log import job_log
from moot.core.run_signals import interrupt_at_end_of_run
from moot.datasets import LOADERS
from moot.jobs.debates import write_transcripts
from moot.llm import chat
from moot.llm.endpoints import ENDPOINTS
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS

for registry in (PROTOCOLS, LOADERS, ENDPOINTS):
    list(registry)  # everything is imported once, so that child processes start at once

PROJECT = Path(__file__).resolve().parents[2]
EXPERIMENT, MODEL = "trial", "test"
CLIENTS = ("aiohttp", "httpx2", "httpcore2", "openai", "openai._vendor.httpx_aiohttp")
"""Modules that endpoints import when they are opened, which takes a second."""


def people(
    path: Path,
    count: int,
    text: str = "A person with {prior} prior arrests and {years} years of school.",
    validation: int = 0,
) -> Path:
    """Write a data set of short made-up cases, half of them positive.

    All but the first few (`validation`) are in the test split.
    """
    task = Task(
        noun="the person",
        question="Will this person be arrested again within three years?",
        labels=("no", "yes"),
        positive="yes",
        meaning={
            "yes": "the person will be arrested again",
            "no": "the person will not be arrested again",
        },
    )
    cases = (
        Case(
            case_id=f"person-{number:05d}",
            dataset="people",
            split="validation" if number < validation else "test",
            text=text.replace("{prior}", str(number % 7)).replace("{years}", str(8 + number % 9))
            + f" File {number}.",
            target="yes" if number % 2 else "no",
            labels=("no", "yes"),
        )
        for number in range(count)
    )
    write_cases(path, cases, task, describe())
    return path


def configuration(
    url: str, folder: Path, model: Mapping[str, Any] | None = None, **keys: Any
) -> dict[str, Any]:
    """Return a configuration of one courtroom experiment with one model at `url`.

    Its ledger is under `folder`.
    """
    entry = {
        "endpoint": "openai",
        "model": "test",
        "base_url": url,
        "concurrency": 16,
        "timeout": 3600,
    }
    experiment = {
        "protocol": "courtroom",
        "dataset": "people",
        "models": [MODEL],
        **keys.pop("experiment", {}),
    }
    return {
        "seed": 1,
        "ledger": str(folder / "ledger"),
        "models": {MODEL: {**entry, **(model or {})}},
        "datasets": {"people": {"loader": "nlsy97", "source": "synthetic"}},
        "experiments": {EXPERIMENT: experiment},
        **keys,
    }


def hold(config: Mapping[str, Any], cases: Path, output: Path, shard: int = 0) -> pd.DataFrame:
    """Hold one job's debates in this process and give its transcripts."""
    plan = Plan.from_yaml(config, PROJECT)
    write_transcripts(debate_job(plan, EXPERIMENT, MODEL, cases, shard=shard), [cases], output)
    return pq.read_table(output).to_pandas()


def hold_as_job(
    config: Mapping[str, Any],
    cases: Path,
    output: Path,
    grace_seconds: float = 10.0,
    shard: int = 0,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Hold one job's debates as a rule's script would, in a process group of its own.

    It is meant for a child process. What it prints goes to `{output}.err`, what it logs to
    `{output}.log`.
    """
    os.setsid()
    os.environ.update(environment or {})
    chat.GRACE_SECONDS = grace_seconds
    with Path(f"{output}.err").open("wb") as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
    if environment:
        logging.basicConfig(level=logging.DEBUG)  # what every library would say of itself
    with job_log(f"{output}.log"), interrupt_at_end_of_run():
        hold(config, cases, output, shard)


def start_job(*arguments: Any) -> multiprocessing.process.BaseProcess:
    """Start `hold_as_job` in a fresh process that has everything imported already."""
    os.environ["PYTHONPATH"] = os.pathsep.join(
        map(str, (PROJECT / "scripts", PROJECT / "tests" / "support"))
    )
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["courtroom_runs", *CLIENTS])
    process = context.Process(target=hold_as_job, args=arguments)
    process.start()
    return process
