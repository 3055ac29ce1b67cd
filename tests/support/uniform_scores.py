"""All tables of the studies from scores that are 1 throughout, over the shipped configuration or
the papers'.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from snakemake.utils import update_config

from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case, Task
from moot.core.shipped_files import default_files
from moot.jobs.job_results import load_experiment_results
from moot.plan.plan import Plan
from moot.report.content import Measurement, PaperMatches, StudyResults
from moot.report.published import read_published
from moot.scores import no_scores
from moot.scores.results import ExperimentResults
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE
from moot.studies.appellate.phases import PHASES, Phase

PROJECT = Path(__file__).resolve().parents[2]
PUBLISHED = read_published(PROJECT / "data" / "published" / "published_results.csv")
STUDIES = ("appellate", "conference", "courtroom", "feedback", "stance")


@cache
def shipped(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def plan_of(*changes: Mapping[str, Any], paper: bool = False) -> Plan:
    """The default configuration, or the papers' over it, and changes over that, merged as Snakemake
    merges.
    """
    raw: dict[str, Any] = {}
    for file in (*default_files(PROJECT), *([PROJECT / "config" / "paper.yaml"] if paper else [])):
        update_config(raw, deepcopy(shipped(file)))
    for change in changes:
        update_config(raw, change)
    return Plan.from_yaml(raw, PROJECT)


class Everything(dict[Any, Measurement]):
    """A score index in which every figure is 1."""

    def get(self, _key: Any, _default: Any = None) -> Measurement:
        return Measurement(1.0, 0.5, 1.0, 100, 0, 100)


class OneThroughout(StudyResults):
    """A study whose every score is 1."""

    score_index = Everything()


def predicted(results: ExperimentResults) -> ExperimentResults:
    """An experiment with predictions for the cases of its data set, nothing else."""
    columns = [
        "case_id",
        "prompt_tokens",
        "completion_tokens",
        "seconds",
        "calls",
        "status",
        "prediction",
        "target",
    ]
    columns += ["repeat", "score"]
    rows = [
        (model, case, 9, 1, 1.0, 1, "valid", "x", "x", 0, None)
        for model in results.config.models
        for case in results.cases["case_id"]
    ]
    results.predictions = pd.DataFrame(rows, columns=["model", *columns])
    return results


TASKS = {
    "vast": ("con", "neutral", "pro"),
    "claim_stance": ("con", "pro"),
    "claim_polarity": ("negative", "neutral", "positive"),
}


def study_of(plan: Plan, study: str, folder: Path, comparable: PaperMatches) -> StudyResults:
    for name, options in plan.datasets.items():
        labels = TASKS.get(options.loader or name, ("no", "yes"))
        task = Task("the case", "?", labels, labels[-1], notes=("a sample",))
        cases = [Case(f"c{n}", name, "test", "x", labels[n % 2], labels) for n in range(2)]
        write_cases(folder / "cases" / f"{name}.parquet", cases, task, describe())
    experiments = {
        found.name: predicted(relocated(load_experiment_results(plan, found.name), folder))
        for found in plan.experiments_of(study)
    }
    boards = leaderboards({found.config.dataset for found in experiments.values()})
    published = PUBLISHED[PUBLISHED["study"] == study]
    published = published.assign(value=marked(published))
    return OneThroughout(study, experiments, no_scores(), boards, published, comparable)


def leaderboards(datasets: Iterable[str]) -> dict[str, pd.DataFrame]:
    """For each of some data sets a leaderboard of every published baseline, in which every figure
    is 1.
    """
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
    numbers = {f"{metric}{end}": 1.0 for metric in metrics for end in ("", "_low", "_high")}
    rows = PUBLISHED[PUBLISHED["repeated_by"].str.startswith("baselines/")]
    return {
        dataset: pd.DataFrame(
            [
                {
                    "dataset": dataset,
                    "baseline": name,
                    "title": name,
                    "evaluation": evaluation,
                    "status": "ok",
                    "n": 9,
                    "confusion": "[[1,0,0],[0,1,0],[0,0,1]]",
                    **numbers,
                }
                for name in sorted(set(rows["model"]))
                for evaluation in ("cross_validation", "test")
            ]
        )
        for dataset in datasets
    }


def marked(published: pd.DataFrame) -> "pd.Series[float]":
    """A value of its own for each row; the counts of Table 2 of the appellate study keep theirs."""
    values = pd.Series(range(7, 7 + len(published)), index=published.index).astype("float64")
    return published["value"].where(published["table"] == "table2", values)


def relocated(results: ExperimentResults, folder: Path) -> ExperimentResults:
    results.results = folder
    return results


def hundred_debates(results: StudyResults) -> Iterator[Phase]:
    """The phases of the appellate study, five cases and twenty debates each, in which every judge
    affirms.
    """
    steps = pd.DataFrame(
        [
            {
                "debate_id": f"c{case}#{repeat}",
                "case_id": f"c{case}",
                "number": case,
                "step": step,
                "turn": step,
                "kind": "statement",
                "text": "x",
                "code": AFFIRMED_CODE,
                "seat": (step - 1) % 3 + 1,
            }
            for case in range(1, 6)
            for repeat in range(20)
            for step in range(1, 10)
        ]
    )
    for protocol, name in PHASES.items():
        for experiment in results.find_experiments(protocol):
            for model in experiment.config.models:
                yield Phase(experiment, model, results, name, steps.assign(model=model))
