"""Debates for the reader's page: two experiments, two models, hostile text, beliefs and calls."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from moot.core.artifacts import describe, write_rows
from moot.core.schemas import SCHEMAS
from moot.scores.results import ExperimentResults
from results_on_disk import case, experiment_view, prediction, utterance, write_results

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> <svg"
    " onload=alert(1)> javascript:alert(1) {{ 7 * 7 }} ${7*7} &lt;b&gt; \u202eright to left\u202c"
    " \x1b[31m <!-- --> ]]> 判 🏛"
)
RIGHT_TO_WRONG, WRONG_TO_RIGHT, STEADY = ("no", "yes"), ("yes", "no"), ("no", "no")
COURSES = {"one": RIGHT_TO_WRONG, "two": WRONG_TO_RIGHT, "three": STEADY, "four": RIGHT_TO_WRONG}
"""Case to the judge's belief before and after the second speech; every case ends in "no"."""


def belief(debate: str, turn: int, label: str, **columns: Any) -> dict[str, Any]:
    return utterance(
        debate,
        turn,
        "judge",
        kind="belief",
        visibility="judge",
        prediction=label,
        confidence=80.0,
        probability=0.8,
        parsed=json.dumps(
            {"prediction": label, "confidence": 80, "reasoning": f"I lean to {label}."}
        ),
        parse_status="strict",
        **columns,
    )


def speech(debate: str, turn: int, speaker: str, text: str) -> dict[str, Any]:
    return utterance(debate, turn, speaker, text, kind="opening")


def conclusion(debate: str, turn: int, label: str) -> dict[str, Any]:
    return utterance(
        debate, turn, "moot", kind="conclusion", prediction=label, source="computed", call_id=""
    )


def call(utterance_row: dict[str, Any], model: str) -> dict[str, Any]:
    messages = [
        ["system", "Rules.\nAnswer."],
        ["user", f"<facts>\nHear {utterance_row['debate_id']}.\n{HOSTILE}\n</facts>"],
    ]
    return {
        **dict.fromkeys(SCHEMAS["calls"].names),
        "call_id": utterance_row["call_id"],
        "model": model,
        "request": json.dumps(
            {"messages": messages, "model": model, "parameters": {"temperature": 0.7}}
        ),
        "finish_reason": "length" if utterance_row["turn"] == 1 else "stop",
        "reply": f"raw reply {utterance_row['turn']}\n{HOSTILE}",
        "prompt_tokens": 90,
        "completion_tokens": 10,
        "seconds": 1.25,
        "cost_usd": 0.002,
        "replicate": 0,
    }


def write_calls(
    results: Path, experiment: str, model: str, utterances: Sequence[dict[str, Any]]
) -> None:
    rows = [call(row, model) for row in utterances if row["call_id"]]
    write_rows(
        results / "calls" / experiment / f"{model}.parquet", "calls", rows, describe(experiment)
    )


def debates_to_read(results: Path) -> dict[str, ExperimentResults]:
    """Write a trial by two models and a single prompt by one of them.

    The models disagree on case `two`; the single prompt has no valid answer for case `four`.
    """
    cases = [case(name, "no", sex="female" if name == "two" else "male") for name in COURSES]
    predictions: dict[str, list[dict[str, Any]]] = {"small": [], "large": []}
    transcripts: dict[str, list[dict[str, Any]]] = {"small": [], "large": []}
    for model, answers_of_model in predictions.items():
        for name, (first, second) in COURSES.items():
            final = "yes" if model == "large" and name == "two" else second
            debate = f"{name}#0"
            transcripts[model] += [
                speech(debate, 1, "prosecutor", f"The prosecution opens {name}. {HOSTILE}"),
                belief(debate, 2, first),
                speech(debate, 3, "defense", f"The defense answers in {name} of {model}."),
                belief(debate, 4, final),
                conclusion(debate, 5, final),
            ]
            answers_of_model.append(
                prediction(name, "no", final, probability=0.9 if name == "one" else 0.6)
            )
    trial = write_results(results, cases, predictions, transcripts, experiment="trial")
    for model, rows in transcripts.items():
        write_calls(results, "trial", model, rows)
    predicted = [
        utterance(f"{name}#0", 1, "expert", "A single answer.", kind="prediction")
        for name in COURSES
    ]
    failed = {
        "parse_status": "invalid",
        "parsed": json.dumps({"problem": "UNKNOWN is no label"}),
        "text": HOSTILE,
    }
    predicted[3] |= failed
    conclusions = [conclusion(f"{name}#0", 2, "no" if name != "four" else "") for name in COURSES]
    answers = [prediction(name, "no", "no" if name != "four" else "") for name in COURSES]
    rows = list(chain.from_iterable(zip(predicted, conclusions, strict=True)))
    single = write_results(
        results, cases, {"small": answers}, {"small": rows}, experiment="single",
        config=experiment_view("zero_shot", models=("small",)),
    )  # fmt: skip
    write_calls(results, "single", "small", predicted)
    return {"trial": trial, "single": single}
