"""Which debates of an earlier run go on when a batch of the provider has come back."""

import json
from functools import cache
from pathlib import Path

import pyarrow.compute as pc

from moot.core.artifacts import read_metadata, read_table
from moot.core.errors import UserError
from moot.core.utterance_kinds import BATCH_UNDER_WAY, CONCLUSION
from moot.plan.plan import Plan

SHARDS = "results/transcripts/{experiment}/{model}/{shard}.parquet"
TIMES_RESUMED = "resumed"
"""In the metadata of transcripts: how often their debates had gone on after a batch."""


def times_resumed(plan: Plan, experiment: str, model: str, shard: str) -> int:
    """How often the debates of a shard have gone on: a parameter of its job, where a model of it
    waits for batches.
    """
    waits_for_batches = any(
        model_config.defers_batches
        for model_config in plan.models_in_job(experiment, model).values()
    )
    return (
        read_times_resumed(Path(SHARDS.format(experiment=experiment, model=model, shard=shard)))
        if waits_for_batches
        else 0
    )


@cache
def read_times_resumed(shard: Path) -> int:
    """How often the debates of a shard have gone on; one more as long as some of them wait for a
    batch.

    As a parameter of the shard's job it makes Snakemake hold them again until none waits, and
    not once more. It is read once a run: Snakemake asks for it again when it has removed the
    shard.
    """
    if not shard.exists():
        return 0
    try:
        conclusions = read_table(shard, ["parsed"], pc.field("kind") == CONCLUSION)
        count = int(read_metadata(shard).get(TIMES_RESUMED, 0))
    except UserError:
        return 0  # a damaged shard: the job that reads it says so
    outcomes = map(json.loads, conclusions.column("parsed").to_pylist())
    return count + any(
        outcome.get("reason", "").startswith(BATCH_UNDER_WAY) for outcome in outcomes
    )
