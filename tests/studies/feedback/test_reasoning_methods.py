"""Reasoning methods that are compared with Debate-Feedback."""

import json
from typing import Any

import pytest

from moot.core.cases import Case
from moot.llm.request import Request
from moot.studies.feedback.protocol_reasoning import (
    ReasoningParams,
    ReflexionParams,
    four_step_chain_of_thought,
    reflexion,
)
from scripted_model import WINNER, ScriptedModel, make_debate


async def test_four_steps_then_the_answer() -> None:
    steps = ["facts", "rule", "sides", "conclusion"]
    voice = ScriptedModel(lambda *_: {"steps": steps, "prediction": "PLAINTIFF", "confidence": 70})
    params = ReasoningParams()
    answer = await four_step_chain_of_thought(make_debate(voice, params, WINNER), params)
    assert answer and answer.prediction == "plaintiff" and answer.score == pytest.approx(0.85)
    assert len(voice.requests) == 1 and "four steps" in voice.prompts[0]
    three_steps = ScriptedModel(
        lambda *_: {"steps": steps[:3], "prediction": "PLAINTIFF", "confidence": 70}
    )
    answer = await four_step_chain_of_thought(make_debate(three_steps, params, WINNER), params)
    assert answer and answer.prediction == "plaintiff", (
        "the number of steps is no condition of an answer"
    )


async def test_likelihood_after_reasoning() -> None:
    voice = ScriptedModel(
        lambda request, _: (
            {"PLAINTIFF": -2.0, "DEFENDANT": -1.0} if request.choices else "1. He asks."
        )
    )
    params = ReasoningParams(answer="likelihood")
    answer = await four_step_chain_of_thought(make_debate(voice, params, WINNER), params)
    assert answer and answer.prediction == "defendant" and "1. He asks." in voice.prompts[1]


@pytest.mark.parametrize(
    ("stands", "calls"), [([True], 2), ([False, True], 4), ([False, False], 5)]
)
async def test_reflexion_reads_only_its_own_criticism(stands: list[bool], calls: int) -> None:
    verdicts = iter(stands)

    def answer(request: Request, _: int) -> Any:
        if request.schema and "stands" in request.schema["properties"]:
            return {"criticism": "Look at the receipt.", "stands": next(verdicts)}
        return {"steps": ["a", "b", "c", "d"], "prediction": "DEFENDANT", "confidence": 50}

    params = ReflexionParams(reflections=2)
    voice = ScriptedModel(answer)
    case = Case(
        "c1",
        "toy",
        "test",
        "A sold B a lame horse.",
        "plaintiff",
        WINNER.labels,
        {"secret": "GOLD"},
    )
    result = await reflexion(make_debate(voice, params, WINNER, case), params)
    assert result and result.prediction == "defendant"
    assert len(voice.requests) == calls
    assert sum("Look at the receipt." in prompt for prompt in voice.prompts) == sum(
        not stand for stand in stands
    )
    assert not any("GOLD" in prompt for prompt in voice.prompts)
    assert json.dumps([request.schema for request in voice.requests])  # schemas can be sent
