"""Reasoning methods that Debate-Feedback is compared with (Table 3): four steps, and Reflexion.

Reflexion (Shinn et al. 2023) lets an environment say whether an attempt succeeded. Here nothing
says so: a gold label as feedback would give the answer away, so the model judges its own attempt.
Zero-shot, few-shot and self-consistency are in `prompting`.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.types import JsonObject
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols import ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import Confidence, prediction_type, read_answer

SEAT = "expert"
STEPS = 4


class ReasoningParams(ProtocolParams):
    """Parameters of four-step chain of thought."""

    temperature: float = Field(
        0.0, ge=0, description="sampling temperature, unless the model's entry sets one"
    )
    answer: Literal["generation", "likelihood"] = Field(
        "generation",
        description="generate the answer, or score the label words after the generated reasoning",
    )


class ReflexionParams(ReasoningParams):
    """Parameters of Reflexion."""

    reflections: int = Field(
        2, ge=1, description="maximum rounds of self-criticism and new attempt"
    )
    stop_when_accepted: bool = Field(
        True, description="stop when the model's own criticism accepts the answer"
    )
    words: int = Field(
        100, ge=10, description="maximum words of a criticism, as stated in the prompt"
    )


class Criticism(BaseModel):
    """What a model thinks of its own attempt."""

    model_config = ConfigDict(extra="forbid")
    criticism: Annotated[str, Field(description="what to do better"), MAY_BE_MISSING]
    stands: bool = Field(description="whether the answer stands as it is")


@protocol(
    "four_step_cot",
    ReasoningParams,
    study="feedback",
    prompts=("reasoning/",),
    seats=lambda _: (SEAT,),
)
async def four_step_chain_of_thought(debate: Debate, params: ReasoningParams) -> Answer | None:
    """Claims, rule, both sides, conclusion; then the prediction."""
    return (await attempt(debate, params, 1, []))[0]


@protocol(
    "reflexion", ReflexionParams, study="feedback", prompts=("reasoning/",), seats=lambda _: (SEAT,)
)
async def reflexion(debate: Debate, params: ReflexionParams) -> Answer | None:
    """Attempt, criticise, attempt again with all earlier criticisms; the last attempt counts."""
    lessons: list[str] = []
    answer, reasoning = await attempt(debate, params, 1, lessons)
    for number in range(1, params.reflections + 1):
        template = "reasoning/criticism"
        previous = f"{reasoning}\n{answer.prediction if answer else ''}"
        reply = await debate.say(
            SEAT,
            "criticism",
            template,
            schema=Criticism,
            round=number,
            utterances=(),
            attempt=previous,
        )
        criticism = reply.parsed or {}
        if (
            not reply.usable
            or not criticism.get("criticism")
            or (params.stop_when_accepted and criticism["stands"] and answer)
        ):
            break
        lessons.append(criticism["criticism"])
        answer, reasoning = await attempt(debate, params, number + 1, lessons)
    return answer


async def attempt(
    debate: Debate, params: ReasoningParams, number: int, lessons: Sequence[str]
) -> tuple[Answer | None, str]:
    """Return one answer in four steps, and the reasoning that led to it.

    The model reads the lessons of earlier attempts.
    """
    template = "reasoning/four_steps"
    if params.answer == "generation":
        schema = steps_schema(debate.task.labels, debate.task.multilabel)
        reply = await debate.say(
            SEAT,
            "prediction",
            template,
            schema=schema,
            round=number,
            utterances=(),
            lessons=lessons,
        )
        steps = "\n".join(map(str, (reply.parsed or {}).get("steps", [])))
        return read_answer(debate, reply), steps
    reasoned = await debate.say(
        SEAT, "reasoning", template, round=number, utterances=(), lessons=lessons
    )
    reply = await debate.choose(
        SEAT, "prediction", "reasoning/verdict", round=number, utterances=(), steps=reasoned.text
    )
    return read_answer(debate, reply), reasoned.text


@cache
def steps_schema(labels: tuple[str, ...], multilabel: bool) -> type[BaseModel]:
    """Return the form of a reply with four steps, then prediction and confidence."""
    steps = Annotated[
        list[str],
        Field(min_length=STEPS, max_length=STEPS, description="the four steps, in order"),
        MAY_BE_MISSING,
    ]
    fields: JsonObject = {
        "steps": (steps, ...),
        "prediction": (prediction_type(labels, multilabel), ...),
        "confidence": (Confidence, ...),
    }
    return create_model("FourSteps", __config__=ConfigDict(extra="forbid"), **fields)
