"""The number of times that waiting or failed debates of a shard have been continued."""

import json
from functools import cache
from pathlib import Path

import pyarrow.compute as pc

from moot.core.artifacts import read_metadata, read_table
from moot.core.errors import UserError
from moot.core.utterance_kinds import CALL_FAILED, CONCLUSION, REPLY_PENDING
from moot.plan.plan import Plan

SHARDS = "results/transcripts/{experiment}/{model}/{shard}.parquet"
TIMES_RESUMED = "resumed"
"""The key in the metadata of transcripts for how often their debates had been continued before."""


def times_resumed(
    plan: Plan, experiment: str, model: str, shard: str, *, is_retry: bool = False
) -> int:
    """Return how often the debates of a shard were continued, as a parameter of its job.

    Args:
        plan: the checked plan.
        experiment, model, shard: of the job.
        is_retry: whether debates with failed calls are continued too.
    """
    models = plan.models_in_job(experiment, model).values()
    defers_replies = any(settings.defers_replies for settings in models)
    path = Path(SHARDS.format(experiment=experiment, model=model, shard=shard))
    return read_times_resumed(path, defers_replies, is_retry)


@cache
def read_times_resumed(shard: Path, defers_replies: bool, is_retry: bool) -> int:
    """Read how often the debates of a shard were continued; add one if some should be again.

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
    outcomes = [json.loads(text) for text in conclusions.column("parsed").to_pylist()]
    reasons = [outcome.get("reason", "") for outcome in outcomes]
    waits = any(reason.startswith(REPLY_PENDING) for reason in reasons)
    has_failed = any(outcome.get("status") == "failed" for outcome in outcomes)
    has_failed |= any(reason.startswith(CALL_FAILED) for reason in reasons)
    return count + ((waits and defers_replies) or (has_failed and is_retry))
