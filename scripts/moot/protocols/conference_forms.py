"""The forms that are filled in around a decision conference: evaluation, notes for the minutes, coding of clusters.

No field of theirs decides: each that can be read counts, and a form of which none can be read is invalid.
"""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.llm.fields import MAY_BE_MISSING

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
    emotional_intelligence: Criterion = Field(description="they notice each other's mood and respond to it")


class Notes(_Form):
    """What the moderator notes of one topic, for the minutes."""

    positions: Annotated[
        list[Line], Field(max_length=10, description="one line for each participant: who wants what"), MAY_BE_MISSING
    ]
    agreed: Annotated[list[Line], Field(max_length=5, description="what all participants agree on"), MAY_BE_MISSING]
    criteria: Annotated[
        list[Line],
        Field(max_length=30, description="criteria or options that the group's model gained"),
        MAY_BE_MISSING,
    ]
    open_points: Annotated[list[Line], Field(max_length=5, description="what is left open"), MAY_BE_MISSING]


def coding_schema(clusters: str) -> type[BaseModel]:
    """One truth value for each cluster: whether the participants reached it.

    Args:
        clusters: JSON, cluster to the words that show it, as the data set `conference` keeps it.
    """
    fields: dict[str, Any] = {
        name.replace(" ", "_"): (Annotated[bool, MAY_BE_MISSING], ...) for name in json.loads(clusters)
    }
    return create_model("Coding", __config__=ConfigDict(extra="forbid"), **fields)
