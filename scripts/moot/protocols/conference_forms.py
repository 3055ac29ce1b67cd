"""The forms that are filled in around a decision conference: evaluation, notes for the minutes, coding of clusters."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

Line = Annotated[str, Field(max_length=160)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _score(description: str) -> Any:
    return Field(ge=1, le=10, description=description)


class Evaluation(_Form):
    """The evaluator's ten criteria, 1 to 10 each (section 3.2.1)."""

    clarity: int = _score("every statement is understood at once")
    relevance: int = _score("the statements serve the topic")
    conciseness: int = _score("nothing is superfluous or said twice")
    politeness: int = _score("the participants treat each other with respect")
    engagement: int = _score("they take an active interest")
    flow: int = _score("one contribution leads to the next")
    coherence: int = _score("the debate hangs together")
    responsiveness: int = _score("they take up each other's points")
    language_use: int = _score("words and grammar fit the occasion")
    emotional_intelligence: int = _score("they notice each other's mood and respond to it")


class Notes(_Form):
    """What the moderator notes of one topic, for the minutes."""

    positions: Annotated[list[Line], Field(max_length=10, description="one line for each participant: who wants what")]
    agreed: Annotated[list[Line], Field(max_length=5, description="what all participants agree on")]
    criteria: Annotated[
        list[Line], Field(max_length=30, description="criteria or options that the group's model gained")
    ]
    open_points: Annotated[list[Line], Field(max_length=5, description="what is left open")]


def coding_schema(clusters: str) -> type[BaseModel]:
    """One truth value for each cluster: whether the participants reached it.

    Args:
        clusters: JSON, cluster to the words that show it, as the data set `conference` keeps it.
    """
    fields: dict[str, Any] = {name.replace(" ", "_"): (bool, ...) for name in json.loads(clusters)}
    return create_model("Coding", __config__=ConfigDict(extra="forbid"), **fields)
