"""Small results folders for tests: an experiment's artifacts written from a few lines."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.artifacts import describe, write_cases, write_rows
from moot.core.cases import Case, Task
from moot.core.schemas import SCHEMAS
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults, ExperimentView

REARREST = Task(
    noun="the defendant",
    question="Will the defendant be rearrested within three years?",
    labels=("no", "yes"),
    positive="yes",
    notes=("synthetic records, not people",),
)


def experiment_view(
    protocol: str = "courtroom",
    dataset: str = "toy",
    models: tuple[str, ...] = ("tiny",),
    split: str = "test",
    params: Mapping[str, Any] | None = None,
) -> ExperimentView:
    return ExperimentView(protocol, dataset, models, split, params or {})


def case(
    case_id: str, target: str, labels: tuple[str, ...] = ("no", "yes"), **attributes: str
) -> Case:
    return Case(case_id, "toy", "test", f"Facts of {case_id}.", target, labels, attributes)


def prediction(case_id: str, target: str, answer: str, **columns: Any) -> dict[str, Any]:
    """Return a row of predictions; an empty answer is an invalid one."""
    return {
        "case_id": case_id,
        "target": target,
        "prediction": answer,
        "status": "valid" if answer else "invalid",
        "repeat": 0,
        "calls": 1,
        "retries": 0,
        "prompt_tokens": 90,
        "completion_tokens": 10,
        "cached_tokens": 0,
        "seconds": 2.0,
        "cost_usd": 0.0,
        **columns,
    }


def utterance(
    debate_id: str, turn: int, speaker: str, text: str = "", **columns: Any
) -> dict[str, Any]:
    """Return a row of transcripts; the part of `debate_id` before "#" is the id of the case."""
    return {
        "debate_id": debate_id,
        "case_id": debate_id.split("#", maxsplit=1)[0],
        "repeat": 0,
        "turn": turn,
        "round": 1,
        "speaker": speaker,
        "visibility": "public",
        "kind": "statement",
        "text": text,
        "parsed": json.dumps(None),
        "parse_status": "",
        "source": "model",
        "call_id": f"call-{debate_id}-{turn}",
        **columns,
    }


def write_results(
    results: Path,
    cases: Sequence[Case],
    predictions: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    transcripts: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    task: Task = REARREST,
    experiment: str = "toy-courtroom",
    config: ExperimentView | None = None,
) -> ExperimentResults:
    """Write cases, and predictions and transcripts by model, and return the experiment."""
    models = tuple((predictions or transcripts or {"tiny": ()}).keys())
    config = config or experiment_view(models=models)
    write_cases(results / "cases" / f"{config.dataset}.parquet", cases, task, describe())
    artifacts = [
        ("predictions", predictions, "{model}.parquet"),
        ("transcripts", transcripts, "{model}/0.parquet"),
    ]
    for kind, by_model, file in artifacts:
        for model, rows in (by_model or {}).items():
            full_rows = [
                {
                    **dict.fromkeys(SCHEMAS[kind].names),
                    "experiment": experiment,
                    "model": model,
                    **r,
                }
                for r in rows
            ]
            write_rows(
                results / kind / experiment / file.format(model=model),
                kind,
                full_rows,
                describe(experiment),
            )
    return ExperimentResults(results, experiment, config, seed=0)


def study_of(*experiments: ExperimentResults, **fields: Any) -> StudyResults:
    """Return the results of a study with some experiments alone; `fields` replace fields."""
    by_name = {results.experiment: results for results in experiments}
    empty: dict[str, Any] = {"scores": no_scores(), "baselines": {}, "published": pd.DataFrame()}
    return StudyResults(**{"study": "courtroom", "experiments": by_name, **empty, **fields})


def write_labels(
    results: ExperimentResults,
    model: str,
    labels: Mapping[tuple[str, int], str],
) -> list[dict[str, Any]]:
    """Write the labels of a model's statements by the experiment's rubric, and return their rows.

    Labels that `results` has read before are read anew.

    Args:
        results: the experiment, whose configuration has a rubric.
        model: whose statements are labelled.
        labels: the label of each statement, by debate_id and turn.
    """
    assert results.config.rubric is not None
    rows = [
        {
            "experiment": results.experiment,
            "model": model,
            "debate_id": debate,
            "turn": turn,
            "label": label,
            "code": results.config.rubric.numbers[label],
            "labeler": "rules",
            "evidence": "",
        }
        for (debate, turn), label in labels.items()
    ]
    path = results.results / "labels" / results.experiment / f"{model}.parquet"
    write_rows(path, "labels", rows, describe(results.experiment))
    vars(results).pop("labels", None)
    return rows
