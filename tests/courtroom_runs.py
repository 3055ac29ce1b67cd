"""Courtroom experiments of a given size against the fault server, for tests and benchmarks.

`python tests/courtroom_runs.py CONFIG.json CASES.parquet OUTPUT.parquet` holds one job's debates as a process of its own.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from moot.artifacts import describe, read_cases, write_cases
from moot.cases import Case, Task
from moot.debates import Job, write_transcripts
from moot.job import job_log
from moot.plan import Plan

PROJECT = Path(__file__).resolve().parents[1]
EXPERIMENT, MODEL = "trial", "test"


def people(
    path: Path, count: int, text: str = "A person with {prior} prior arrests and {years} years of school."
) -> Path:
    """Write a data set of short made-up cases, half of them positive, all in the test split."""
    task = Task(
        noun="the person",
        question="Will this person be arrested again within three years?",
        labels=("no", "yes"),
        positive="yes",
        meaning={"yes": "the person will be arrested again", "no": "the person will not be arrested again"},
    )
    cases = (
        Case(
            case_id=f"person-{number:05d}",
            dataset="people",
            split="test",
            text=text.replace("{prior}", str(number % 7)).replace("{years}", str(8 + number % 9)) + f" File {number}.",
            target="yes" if number % 2 else "no",
            labels=("no", "yes"),
        )
        for number in range(count)
    )
    write_cases(path, cases, task, describe())
    return path


def configuration(url: str, folder: Path, model: Mapping[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """A configuration of one courtroom experiment with one model at `url`, its ledger under `folder`."""
    entry = {"endpoint": "openai", "model": "test", "base_url": url, "concurrency": 16, "timeout": 20}
    experiment = {"protocol": "courtroom", "dataset": "people", "models": [MODEL], **keys.pop("experiment", {})}
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
    write_transcripts(plan, Job(EXPERIMENT, MODEL, *read_cases(cases), shard=shard), [cases], output)
    return pq.read_table(output).to_pandas()


def main(config: str, cases: str, output: str) -> None:
    """Hold one job's debates as a rule's script would."""
    with job_log(f"{output}.log"):
        hold(json.loads(Path(config).read_text(encoding="utf-8")), Path(cases), Path(output))


if __name__ == "__main__":
    main(*sys.argv[1:])
