"""The seats of a conference: their order of speaking (Algorithm 1), and their forms."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.types import JsonObject
from moot.llm.parsing.schema import MAY_BE_MISSING

USER, MODERATOR, JUDGE, EVALUATOR = "user", "moderator", "judge", "evaluator"
AGREEMENT_WORD = "AGREEMENT"


@dataclass(frozen=True, slots=True)
class Message:
    """A message as Algorithm 1 sees it: its sender and its text (for the judge, the decision)."""

    speaker: str
    content: str = ""


def participant_seat(number: int) -> str:
    """Return the seat of a participant, from 1."""
    return f"participant_{number}"


def next_speaker(messages: Sequence[Message], participants: int) -> str:
    """Return the seat that speaks after these messages. The first message is the user's issue.

    This fills two gaps of the paper. After a judge's message without a decision, the paper leaves
    the next speaker unset; here the moderator follows, as after more debate. After an unknown
    speaker, the paper lets AutoGen choose by a call to a model; here the moderator follows, so that
    the order depends only on the messages.
    """
    if len(messages) <= 1:
        return MODERATOR
    last = messages[-1]
    if last.speaker == JUDGE:
        return EVALUATOR if AGREEMENT_WORD in last.content else MODERATOR
    if last.speaker == MODERATOR:
        return participant_seat(1)
    for number in range(1, participants):
        if last.speaker == participant_seat(number):
            return participant_seat(number + 1)
    if last.speaker == participant_seat(participants):
        return JUDGE
    return MODERATOR


MAX_GRADE = 10


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


Criterion = Annotated[int, Field(ge=1, le=10), MAY_BE_MISSING]


class Evaluation(_Form):
    """The evaluator's ten criteria, 1 to 10 each (section 3.2.1)."""

    clarity: Criterion = Field(description="every statement is understood at once")
    relevance: Criterion = Field(description="the statements serve the topic")
    conciseness: Criterion = Field(description="nothing is superfluous or said twice")
    politeness: Criterion = Field(description="the participants treat each other with respect")
    engagement: Criterion = Field(description="they take an active interest")
    flow: Criterion = Field(description="one contribution leads to the next")
    coherence: Criterion = Field(description="the debate hangs together")
    responsiveness: Criterion = Field(description="they take up each other's points")
    language_use: Criterion = Field(description="words and grammar fit the occasion")
    emotional_intelligence: Criterion = Field(
        description="they notice each other's mood and respond to it"
    )


@cache
def coding_schema(clusters: str) -> type[BaseModel]:
    """Return the form of a coder's reply: one truth value for each cluster.

    A value says whether the participants reached the cluster.

    Args:
        clusters: JSON with the words of each cluster, as in the data set `conference`.
    """
    fields: JsonObject = {
        name.replace(" ", "_"): (Annotated[bool, MAY_BE_MISSING], ...)
        for name in json.loads(clusters)
    }
    return create_model("Coding", __config__=ConfigDict(extra="forbid"), **fields)


class Grade(BaseModel):
    """A grade of one decision."""

    model_config = ConfigDict(extra="forbid")
    reason: Annotated[
        str, Field(max_length=160, description="why, in one short sentence"), MAY_BE_MISSING
    ]
    grade: Annotated[int, Field(ge=0, le=MAX_GRADE, description="0 is worst, 10 is best")]
