"""The forms that seats of a conference fill in, and that its scores read."""

import json
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.types import JsonObject
from moot.llm.parsing.schema import MAY_BE_MISSING

MAX_GRADE = 10

Line = Annotated[str, Field(max_length=160)]


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


class Notes(_Form):
    """What the moderator notes of one topic, for the minutes."""

    positions: Annotated[
        list[Line],
        Field(max_length=10, description="one line for each participant: who wants what"),
        MAY_BE_MISSING,
    ]
    agreed: Annotated[
        list[Line],
        Field(max_length=5, description="what all participants agree on"),
        MAY_BE_MISSING,
    ]
    criteria: Annotated[
        list[Line],
        Field(max_length=30, description="criteria or options that the group's model gained"),
        MAY_BE_MISSING,
    ]
    open_points: Annotated[
        list[Line], Field(max_length=5, description="what is left open"), MAY_BE_MISSING
    ]


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
