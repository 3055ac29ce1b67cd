"""Conferences and studies of them with scripted models, written to disk."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from conference_script import script
from moot.core.cases import Case, Task
from moot.core.rubric import Rubric
from moot.datasets import LoadContext
from moot.jobs.debates import record_conclusion
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import transcript_row
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, no_scores, score_experiment
from moot.scores.results import ExperimentResults, ExperimentView
from results_on_disk import (
    experiment_view,
    make_paper_matches,
    prediction,
    utterance,
    write_results,
)
from scripted_model import Script, hold

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published" / "published_results.csv"
LoadContextMaker = Callable[..., LoadContext]


def make_study(
    study: str, experiments: Sequence[ExperimentResults], **baselines: pd.DataFrame
) -> StudyResults:
    """Return a study of experiments and baselines with their scores."""
    published = read_published(PUBLISHED)
    scores = (
        concat_scores(score_experiment(results) for results in experiments)
        if experiments
        else no_scores()
    )
    by_name = {results.experiment: results for results in experiments}
    runs = {("alike", "gemma-2-9b"): "paper-stance-claims"}
    comparable = make_paper_matches(runs, **dict.fromkeys(baselines, "vast"))
    return StudyResults(
        study, by_name, scores, baselines, published[published["study"] == study], comparable
    )


async def hold_conferences(
    folder: Path,
    case: Case,
    task: Task,
    scripts: Sequence[Script],
    experiment: str = "conference",
    rubric: Rubric | None = None,
    **params: Any,
) -> ExperimentResults:
    """Hold one conference for each script, as repeats of one experiment.

    With a rubric, `write_labels` can give its statements labels.
    """
    transcripts, predictions = [], []
    for repeat, model_script in enumerate(scripts):
        answer, debate, _ = await hold(
            "conference", case, task, model_script, repeat=repeat, **params
        )
        record_conclusion(debate, answer, "valid" if answer else "invalid")
        transcripts += [transcript_row(debate, utterance) for utterance in debate.utterances]
        answer_label = answer.prediction if answer else ""
        predictions.append(
            prediction(
                case.case_id,
                case.target,
                answer_label,
                repeat=repeat,
                completion_tokens=100 + repeat,
            )
        )
    checked_params = PROTOCOLS["conference"].params.model_validate(params).model_dump()
    config = experiment_view("conference", "conference", ("scripted",), params=checked_params)
    config = replace(config, rubric=rubric)
    return write_results(
        folder,
        [case],
        {"scripted": predictions},
        {"scripted": transcripts},
        task,
        experiment=experiment,
        config=config,
    )


def write_predictions(
    folder: Path,
    cases: Sequence[Case],
    answers: Sequence[str],
    task: Task,
    config: ExperimentView,
    experiment: str,
) -> ExperimentResults:
    """Write an experiment with one prediction for each case; "" is an invalid one."""
    rows = [
        prediction(case.case_id, case.target, answer)
        for case, answer in zip(cases, answers, strict=True)
    ]
    transcript = [utterance(f"{case.case_id}#0", 1, "annotator", kind="answer") for case in cases]
    model = config.models[0]
    return write_results(
        folder,
        cases,
        {model: rows},
        {model: transcript},
        task,
        experiment=experiment,
        config=config,
    )


def grading_script(right_grade: int, reversed_grade: int, first: str = "AGREEMENT") -> Script:
    """Return a grader that can tell the judge's own decision from its opposite."""

    def answer(request: Request) -> str | dict[str, float] | None:
        if request.schema and "grade" in request.schema["properties"]:
            is_own_decision = f"<decision>\n{first}\n" in request.messages[-1].content
            return json.dumps(
                {"reason": "because", "grade": right_grade if is_own_decision else reversed_grade}
            )
        return script(first)(request)

    return answer
