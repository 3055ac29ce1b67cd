"""The number of times that debates waiting for later replies have been continued."""

import json
from functools import cache
from pathlib import Path

import pyarrow.compute as pc

from moot.core.artifacts import read_metadata, read_table
from moot.core.errors import UserError
from moot.core.utterance_kinds import CONCLUSION, REPLY_PENDING
from moot.plan.plan import Plan

SHARDS = "results/transcripts/{experiment}/{model}/{shard}.parquet"
TIMES_RESUMED = "resumed"
"""The key in the metadata of transcripts for how often their debates had been continued before."""


def times_resumed(plan: Plan, experiment: str, model: str, shard: str) -> int:
    """Return how often the debates of a shard were continued, as a parameter of its job.

    It is 0 for models that defer no replies.
    """
    models = plan.models_in_job(experiment, model).values()
    if not any(settings.defers_replies for settings in models):
        return 0
    return read_times_resumed(Path(SHARDS.format(experiment=experiment, model=model, shard=shard)))


@cache
def read_times_resumed(shard: Path) -> int:
    """Read how often the debates of a shard were continued; add one while some still wait.

    As a parameter of the shard's job, this number makes Snakemake repeat the job until no debate
    waits. It is read once per run, since Snakemake requests it again after it has removed the
    shard.
    """
    if not shard.exists():
        return 0
    try:
        conclusions = read_table(shard, ["parsed"], pc.field("kind") == CONCLUSION)
        count = int(read_metadata(shard).get(TIMES_RESUMED, 0))
    except UserError:
        return 0  # The job that reads a damaged shard reports it.
    outcomes = map(json.loads, conclusions.column("parsed").to_pylist())
    return count + any(outcome.get("reason", "").startswith(REPLY_PENDING) for outcome in outcomes)
