"""Build experiments of a configuration in this process, without Snakemake."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from debate_jobs import debate_job
from moot.core.artifacts import describe, read_cases
from moot.core.experiment_config import RECORDED
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.datasets.debate_records import write_records
from moot.jobs.debates import write_transcripts
from moot.jobs.job_results import load_study_results, write_scores
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.report.study_results import StudyResults
from project_copy import PROJECT

RESULTS = Path("results")


def default_configuration(over: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default configuration with the keys of `over`, merged as by `--configfile`."""
    return merge_over_defaults(over, default_files(PROJECT))


def hold_experiments(plan: Plan, results: Path = RESULTS) -> Iterator[tuple[str, list[Path]]]:
    """Build the experiments up to their predictions; yield each with the files of its scores."""
    experiments = plan.experiments
    has_records = any(item.config.source == RECORDED for item in experiments.values())
    for dataset in {item.config.dataset for item in experiments.values()}:
        cases = results / f"cases/{dataset}.parquet"
        features, cleaning = results / f"features/{dataset}.parquet", f"cleaning/{dataset}.csv"
        options, context = plan.datasets[dataset], plan.load_context(dataset)
        load_dataset(options, context, cases, features, results / cleaning)
        if has_records:
            records = results / f"records/{dataset}.parquet"
            write_records(options, context, *read_cases(cases), records, describe())
    for name, experiment in experiments.items():
        cases = results / f"cases/{experiment.config.dataset}.parquet"
        sources = [cases]
        for model in experiment.config.models:
            shard = results / f"transcripts/{name}/{model}/0.parquet"
            paths = experiment.needed_by(model)
            artifacts = {key: results / path for key, path in paths.items()}
            job = debate_job(plan, name, model, cases, artifacts=artifacts)
            write_transcripts(job, [cases], shard)
            outputs = [
                results / f"{kind}/{name}/{model}.parquet" for kind in ("predictions", "calls")
            ]
            write_predictions(plan.config, experiment, cases, [shard], *outputs)
            sources += [shard, *outputs]
        yield name, sources


def build_experiments(plan: Plan) -> Iterator[Path]:
    """Build the experiments up to their scores, and yield the files that tables read."""
    for name, sources in hold_experiments(plan):
        write_scores(RESULTS / f"scores/{name}.parquet", plan, name, sources)
        yield from sources


class Inputs(list[Path]):
    """The input files of a job of tables."""

    scores: list[Path]
    baselines: list[Path]
    published: Path


def load_results(plan: Plan, files: Iterable[Path], study: str) -> StudyResults:
    """Load a study's results from the files that jobs have written, as a job of tables does."""
    inputs = Inputs(files)
    inputs.scores = [path for path in inputs if path.parent.name == "scores"]
    boards = [path for path in inputs if path.parent.name == "baselines"]
    inputs.baselines = [path for path in boards if not path.stem.endswith("_predictions")]
    inputs.published = PROJECT / "data/published/published_results.csv"
    job: Any = SimpleNamespace(input=inputs)
    return load_study_results(plan, job, study)
