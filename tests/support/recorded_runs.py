"""Recorded experiments in this process, from a data set's options to the study's results."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from debate_jobs import debate_job
from moot.core.artifacts import describe, read_cases
from moot.datasets.debate_records import write_records
from moot.jobs.debates import write_transcripts
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults

PROJECT = Path(__file__).resolve().parents[2]


def recorded_study(
    folder: Path, dataset: Mapping[str, Any], methods: Mapping[str, str], models: Mapping[str, str]
) -> StudyResults:
    """Return the results of recorded experiments.

    Args:
        folder: the folder of all files, also the data root.
        dataset: the options of the data set.
        methods: the experiments, by name, with their methods in the records.
        models: the models, by name, with their names in the records.
    """
    config = {
        "seed": 1,
        "ledger": str(folder / "ledger"),
        "data_root": str(folder),
        "models": {
            name: {"endpoint": "recorded", "model": recorded} for name, recorded in models.items()
        },
        "datasets": {"records": dict(dataset)},
        "experiments": {
            name: {
                "source": "recorded",
                "dataset": "records",
                "models": list(models),
                "params": {"method": method},
            }
            for name, method in methods.items()
        },
    }
    plan, results = Plan.from_yaml(config, PROJECT), folder / "results"
    cases, records = results / "cases" / "records.parquet", results / "records" / "records.parquet"
    options, context = plan.datasets["records"], plan.load_context("records")
    load_dataset(options, context, cases, folder / "features.parquet", folder / "cleaning.csv")
    write_records(options, context, *read_cases(cases), records, describe())
    for experiment in methods:
        for model in models:
            shard = results / "transcripts" / experiment / model / "0.parquet"
            shard.parent.mkdir(parents=True)
            job = debate_job(plan, experiment, model, cases, artifacts={"records": records})
            write_transcripts(job, [], shard)
            predictions = results / "predictions" / experiment / f"{model}.parquet"
            calls = results / "calls" / experiment / f"{model}.parquet"
            write_predictions(plan, experiment, cases, [shard], predictions, calls)
    published = read_published(PROJECT / "data" / "published" / "published_results.csv")
    return StudyResults(
        study="recorded",
        experiments={
            name: ExperimentResults(results, name, plan.view(name), plan.config.seed)
            for name in methods
        },
        scores=no_scores(),
        baselines={},
        published=published[published["study"] == "recorded"],
    )


def study_of_turns(
    folder: Path,
    rows: Sequence[Mapping[str, object]],
    columns: Mapping[str, Any],
    labels: Sequence[str] = ("no", "yes"),
) -> StudyResults:
    """Return the results of the debates of a table of turns; the last label is the positive one."""
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows, dtype=object).fillna("").to_csv(folder / "turns.csv", index=False)
    dataset = {
        "loader": "transcripts",
        "path": str(folder / "turns.csv"),
        "columns": dict(columns),
        "labels": {label: label for label in labels},
        "positive": labels[-1],
    }
    return recorded_study(folder, dataset, {"talk": "debate"}, {"all": "recorded"})


def study_of_answers(folder: Path, lines: Iterable[str]) -> StudyResults:
    """Return the results of own answers about people, `case,model,answer,truth,sex,race` a line."""
    path = folder / "answers.csv"
    path.write_text("\n".join(["case,model,answer,truth,sex,race", *lines]) + "\n")
    columns = {name: name for name in ("case", "model", "answer", "truth")}
    dataset = {
        "loader": "transcripts",
        "path": str(path),
        "columns": {"debate": "", **columns, "attributes": ["sex", "race"]},
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    }
    return recorded_study(folder, dataset, {"answers": "answer"}, {"mine": "m"})
