"""Experiments of the default configuration, or laid over it, built in this process without
Snakemake.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from moot.core.artifacts import describe, read_cases
from moot.core.experiment_config import RECORDED
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.datasets.records import write_records
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.job_results import write_scores
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from project_copy import PROJECT

RESULTS = Path("results")


def default_configuration(over: Mapping[str, Any]) -> dict[str, Any]:
    """The default configuration with keys laid over it, as `--configfile` lays them."""
    return merge_over_defaults(over, default_files(PROJECT))


def built(plan: Plan) -> Iterator[Path]:
    """Build the experiments down to their scores; the files that tables read."""
    for dataset in {found.config.dataset for found in plan.experiments.values()}:
        cases, features, cleaning = (
            RESULTS / f"{name}/{dataset}.parquet" for name in ("cases", "features", "cleaning")
        )
        options, context = plan.dataset_options(dataset), plan.load_context(dataset)
        load_dataset(options, context, cases, features, cleaning.with_suffix(".csv"))
        if any(found.config.source == RECORDED for found in plan.experiments.values()):
            write_records(
                options,
                context,
                *read_cases(cases),
                RESULTS / f"records/{dataset}.parquet",
                describe(),
            )
    for name, found in plan.experiments.items():
        cases = RESULTS / f"cases/{found.config.dataset}.parquet"
        sources = [cases]
        for model in found.config.models:
            shard = RESULTS / f"transcripts/{name}/{model}/0.parquet"
            needed = {key: RESULTS / path for key, path in found.needed_by(model).items()}
            write_transcripts(
                plan, Job(name, model, *read_cases(cases), artifacts=needed), [cases], shard
            )
            outputs = [
                RESULTS / f"{kind}/{name}/{model}.parquet" for kind in ("predictions", "calls")
            ]
            write_predictions(plan, name, cases, [shard], *outputs)
            sources += [shard, *outputs]
        write_scores(RESULTS / f"scores/{name}.parquet", plan, name, sources)
        yield from sources
