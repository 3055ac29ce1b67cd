"""Small experiments against the fault server in which each model gives one reply for each shard."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from courtroom_runs import EXPERIMENT, PROJECT, configuration, people
from debate_jobs import debate_job
from fault_server import FaultServer
from moot.jobs.debates import write_transcripts
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.scores.results import ExperimentResults

SHARDS = 2


def hold_debates(
    server: FaultServer,
    folder: Path,
    replies: dict[str, list[str]],
    protocol: str = "zero_shot",
    *,
    scales: Mapping[str, int] | None = None,
    finish_reasons: Mapping[str, str] | None = None,
    **params: Any,
) -> tuple[ExperimentResults, dict[str, pd.DataFrame]]:
    """Return the results and predictions of an experiment with one reply per model and shard."""
    dataset = folder / "results" / "cases" / "people.parquet"
    dataset.parent.mkdir(parents=True)
    people(dataset, 12)
    experiment = {"protocol": protocol, "models": list(replies), "params": params}
    config = configuration(server.url, folder, experiment=experiment, shards=SHARDS)
    template = config["models"]["test"]
    config["models"] = {
        name: {**template, "model": name, "confidence_scale": (scales or {}).get(name, 100)}
        for name in replies
    }
    plan = Plan.from_yaml(config, PROJECT)
    predictions = {}
    for model, contents in replies.items():
        shards = [
            folder / "results" / "transcripts" / EXPERIMENT / model / f"{n}.parquet"
            for n in range(SHARDS)
        ]
        for shard, content in enumerate(contents):
            shards[shard].parent.mkdir(parents=True, exist_ok=True)
            server.reset(content=content, name_override=(finish_reasons or {}).get(model, ""))
            write_transcripts(
                debate_job(plan, EXPERIMENT, model, dataset, shard=shard),
                [dataset],
                shards[shard],
            )
        outputs = [
            folder / "results" / kind / EXPERIMENT / f"{model}.parquet"
            for kind in ("predictions", "calls")
        ]
        for output in outputs:
            output.parent.mkdir(parents=True, exist_ok=True)
        write_predictions(plan.config, plan.experiments[EXPERIMENT], dataset, shards, *outputs)
        predictions[model] = pq.read_table(outputs[0]).to_pandas()
    view = plan.view(EXPERIMENT)
    return ExperimentResults(folder / "results", EXPERIMENT, view), predictions
