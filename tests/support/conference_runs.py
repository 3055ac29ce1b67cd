"""Conferences with scripted models, written to disk."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conference_script import confer, conference_case, script
from moot.core.rubric import Rubric
from moot.jobs.debates import record_conclusion
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import transcript_row
from moot.scores.results import ExperimentResults
from results_on_disk import experiment_view, prediction, write_results
from scripted_model import Script


async def hold_conferences(
    folder: Path,
    scripts: Sequence[Script],
    experiment: str = "conference",
    rubric: Rubric | None = None,
    **params: Any,
) -> ExperimentResults:
    """Hold the shipped conference with each script, as repeats of one experiment.

    With a rubric, `write_labels` can give its statements labels.
    """
    case, task = conference_case()
    transcripts, predictions = [], []
    for repeat, model_script in enumerate(scripts):
        answer, debate, _ = await confer(model_script, repeat=repeat, **params)
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
