"""Stance and polarity of short texts, classified by one model.

The study is Heller et al., "Finding Common Ground", sections 4.1 and 5.1. The paper uses a basic
zero-shot prompt and does not say which form the answer has; a bare label, JSON and the likelihood
of the label words are available.
"""

from typing import Literal

from pydantic import Field

from moot.protocols import ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import choice_form
from moot.protocols.prompting import choose_examples
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.protocols.utterances import label_word

SEAT = "annotator"
PROMPTS = ("stance/",)


class StanceParams(ProtocolParams):
    """Parameters of `stance` and `polarity`; the defaults are the paper's."""

    temperature: float = Field(
        0.0, ge=0, description="sampling temperature, unless the model's entry sets one"
    )
    prompting: Literal["zero_shot", "few_shot", "cot"] = Field(
        "zero_shot",
        description=(
            "only the question, labelled training examples before it, or reasoning before the "
            "answer"
        ),
    )
    answer: Literal["label", "json", "likelihood"] = Field(
        "label",
        description="a bare label, JSON with a confidence, or the likelihood of the label words",
    )
    shots: int = Field(
        6, ge=1, description="with few_shot: number of examples, equal for each label"
    )


@protocol("stance", StanceParams, study="stance", prompts=PROMPTS, seats=lambda _: (SEAT,))
async def stance(debate: Debate, params: StanceParams) -> Answer | None:
    """Classify the side that a text takes on its topic."""
    return await classify(debate, params, "stance/stance")


@protocol("polarity", StanceParams, study="stance", prompts=PROMPTS, seats=lambda _: (SEAT,))
async def polarity(debate: Debate, params: StanceParams) -> Answer | None:
    """Classify the sentiment of a text towards its subject."""
    return await classify(debate, params, "stance/polarity")


async def classify(debate: Debate, params: StanceParams, prompt: str) -> Answer | None:
    """Ask for one answer to one text, in the form that the parameters set."""
    shots = []
    if params.prompting == "few_shot":
        shots = choose_examples(debate.examples, params.shots, debate.seed, balanced=True)
    if params.answer == "json":
        schema = prediction_schema(debate.task, reasoning=params.prompting == "cot")
        return read_answer(
            debate, await debate.say(SEAT, "prediction", prompt, schema=schema, shots=shots)
        )
    if params.answer == "likelihood":
        if params.prompting == "cot":
            await debate.say(SEAT, "reasoning", prompt, shots=shots, reasoning=True, private=True)
        return read_answer(debate, await debate.choose(SEAT, "prediction", prompt, shots=shots))
    words = tuple(map(label_word, debate.task.labels))
    form = choice_form(words)
    reply = await debate.say(SEAT, "prediction", prompt, labels=words, form=form, shots=shots)
    return read_answer(debate, reply)
