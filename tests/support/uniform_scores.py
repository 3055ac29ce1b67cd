"""Tables of the studies from uniform scores of 1, for the shipped or the papers' configuration."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from snakemake.utils import update_config

from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case, Task
from moot.core.shipped_files import beyond_files, default_files
from moot.jobs.job_results import load_experiment_results
from moot.plan.plan import Plan
from moot.report.published import SHARE, read_published
from moot.report.study_results import Measurement, PaperMatches, StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults

PROJECT = Path(__file__).resolve().parents[2]
PUBLISHED = read_published(PROJECT / "data" / "published" / "published_results.csv")
STUDIES = ("appellate", "conference", "courtroom", "feedback", "stance")


@cache
def load_shipped(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def make_plan(*changes: Mapping[str, Any], paper: bool = False) -> Plan:
    """Return the plan of the default configuration with changes, merged as Snakemake merges.

    With `paper` the papers' configuration is merged before the changes.
    """
    raw: dict[str, Any] = {}
    for file in (*default_files(PROJECT), *(beyond_files(PROJECT) if paper else [])):
        update_config(raw, deepcopy(load_shipped(file)))
    for change in changes:
        update_config(raw, change)
    return Plan.from_yaml(raw, PROJECT)


class UniformIndex(dict[Any, Measurement]):
    """A score index in which every score is 1."""

    def get(self, _key: Any, _default: Any = None) -> Measurement:
        return Measurement(1.0, 0.5, 1.0, 100, 0, 100)


class UniformStudy(StudyResults):
    """A study in which every score is 1."""

    score_index = UniformIndex()


def add_predictions(results: ExperimentResults) -> ExperimentResults:
    """Give an experiment one valid prediction by each model for each case of its data set."""
    prediction = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "seconds": 1.0,
        "calls": 1,
        "status": "valid",
        "prediction": "x",
        "target": "x",
        "repeat": 0,
        "score": None,
        "experiment": results.experiment,
        "served_by": (),
    }
    pairs = product(results.config.models, results.cases["case_id"])
    rows = [{"model": model, "case_id": case_id, **prediction} for model, case_id in pairs]
    results.predictions = pd.DataFrame(rows)
    return results


TASKS = {
    "vast": ("con", "neutral", "pro"),
    "claim_stance": ("con", "pro"),
    "claim_polarity": ("negative", "neutral", "positive"),
}


def make_study(plan: Plan, study: str, folder: Path, comparable: PaperMatches) -> StudyResults:
    for name, options in plan.datasets.items():
        labels = TASKS.get(options.loader or name, ("no", "yes"))
        task = Task("the case", "?", labels, labels[-1], notes=("a sample",))
        cases = [Case(f"c{n}", name, "test", "x", labels[n % 2], labels) for n in range(2)]
        write_cases(folder / "cases" / f"{name}.parquet", cases, task, describe())
    experiments = {}
    for experiment in plan.experiments_of(study):
        results = relocate(load_experiment_results(plan, experiment.name), folder)
        experiments[experiment.name] = add_predictions(results)
    boards = leaderboards({results.config.dataset for results in experiments.values()})
    published = PUBLISHED[PUBLISHED["study"] == study]
    published = published.assign(value=number_values(published))
    return UniformStudy(study, experiments, no_scores(), boards, published, comparable)


def leaderboards(datasets: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Return a leaderboard of all published baselines for each data set; every score is 1."""
    metrics = (
        "accuracy",
        "auc",
        "recall_weighted",
        "precision_weighted",
        "f1_weighted",
        "kappa",
        "mcc",
        "recall_binary",
        "f1_binary",
        "f1_macro",
        "precision_macro",
        "recall_macro",
        "tn",
        "fp",
        "fn",
        "tp",
    )
    columns = map("".join, product(metrics, ("", "_low", "_high")))
    result = {
        "status": "ok",
        "n": 9,
        "confusion": "[[1,0,0],[0,1,0],[0,0,1]]",
        **dict.fromkeys(columns, 1.0),
    }
    published = PUBLISHED[PUBLISHED["repeated_by"].str.startswith("baselines/")]
    rows = []
    for name, evaluation in product(sorted(set(published["model"])), ("cross_validation", "test")):
        rows.append({"baseline": name, "title": name, "evaluation": evaluation, **result})
    return {dataset: pd.DataFrame(rows).assign(dataset=dataset) for dataset in datasets}


def number_values(published: pd.DataFrame) -> "pd.Series[float]":
    """Return a distinct share or number for each row.

    The counts of the appellate Table 2 stay as they are.
    """
    values = pd.Series(range(7, 7 + len(published)), index=published.index).astype("float64")
    values = values.where(published["error"] != SHARE, values / 1000)
    return published["value"].where(published["table"] == "table2", values)


def relocate(results: ExperimentResults, folder: Path) -> ExperimentResults:
    results.results = folder
    return results
