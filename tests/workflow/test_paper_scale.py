"""A phase of the appellate study at its paper's scale: five cases, twenty debates each, against a
server on this machine.

Slow: only this test detects faults that occur only at the paper's number of debates.
"""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from snakemake.utils import update_config

from fault_server import FaultServer
from moot.core.artifacts import read_cases
from moot.core.shipped_files import default_files
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
PHASE = "paper-human-ai-panel"
STEPS = 5 * 20 * 9  # cases, debates of each, steps of a debate


def paper_configuration(url: str, folder: Path) -> Plan:
    """`config/papers/appellate.yaml` over the default, with its model at `url`."""
    shipped = PROJECT / "config"
    raw: dict[str, Any] = {}
    for file in default_files(PROJECT):
        update_config(raw, yaml.safe_load(file.read_text("utf-8")))
    update_config(raw, yaml.safe_load((shipped / "papers/appellate.yaml").read_text("utf-8")))
    raw |= {"run": [PHASE], "ledger": str(folder / "ledger")}
    raw["models"]["gpt-3.5-turbo"] |= {"base_url": url, "api_key_env": None, "concurrency": 32}
    return Plan.from_yaml(raw, PROJECT)


def test_a_run_of_900_steps_completes(tmp_path: Path) -> None:
    cases = tmp_path / "cases.parquet"
    with FaultServer() as server:
        plan = paper_configuration(server.url, tmp_path)
        load_dataset(
            plan.dataset_options("paper-opinions"),
            plan.load_context("paper-opinions"),
            cases,
            tmp_path / "features.parquet",
            tmp_path / "cleaning.csv",
        )
        loaded, task = read_cases(cases)
        shards = [tmp_path / f"{number}.parquet" for number in range(plan.config.shards)]
        for number, shard in enumerate(shards):
            job = Job(PHASE, "gpt-3.5-turbo", loaded, task, shard=number)
            write_transcripts(plan, job, [cases], shard)
        utterances = pq.read_table(shards).to_pylist()
        assert sum(row["kind"] == "statement" for row in utterances) == STEPS
        assert sum(row["source"] == "human" for row in utterances) == STEPS / 3
        outputs = tmp_path / "predictions.parquet", tmp_path / "calls.parquet"
        write_predictions(plan, PHASE, cases, shards, *outputs)
        assert pq.read_metadata(outputs[0]).num_rows == 100
        assert server.count() == 100 * 6, "two beside a human in each round"
