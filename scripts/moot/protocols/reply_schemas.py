"""Schemas of the replies that protocols ask for, made from a task's labels."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.cases import Task
from moot.core.confidence import stated_probabilities
from moot.core.likelihood import label_shares
from moot.core.types import JsonObject
from moot.llm.parsing.labels import named_labels
from moot.llm.parsing.replies import parse_reply
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols.debate import Answer, Debate
from moot.protocols.utterances import Utterance, join_labels, label_word

_NO_OTHER_FIELDS = ConfigDict(extra="forbid")
Confidence = Annotated[
    int, Field(ge=0, le=100, description="how sure you are, from 0 to 100"), MAY_BE_MISSING
]
_TRIPLES = "of each factor three texts: what it is; its weight, low, medium or high; and why"
_CRITIQUE = "what each side argued well, and what badly"


class Factor(BaseModel):
    """One factor of the case and the weight that it deserves."""

    model_config = _NO_OTHER_FIELDS
    factor: Annotated[str, Field(description="the factor, in a few words"), MAY_BE_MISSING]
    weight: Annotated[Literal["low", "medium", "high"], MAY_BE_MISSING]
    reasoning: Annotated[str, Field(description="why, in one sentence"), MAY_BE_MISSING]


@cache
def prediction_type(labels: tuple[str, ...], multilabel: bool) -> Any:
    """Return the type of a prediction: one of the labels as prompts spell them, or a list."""
    words = tuple(label_word(label) for label in labels)
    label_type = Literal[words]  # pyrefly: ignore[not-a-type]
    if multilabel:
        return Annotated[list[label_type], Field(min_length=1)]
    return label_type


@cache
def _schema(
    name: str,
    labels: tuple[str, ...],
    multilabel: bool,
    factors: int | Literal["any"],
    reasoning: bool,
    max_chars: int,
    critique: bool,
) -> type[BaseModel]:
    fields: JsonObject = {}
    if factors == "any":
        fields["factors"] = (
            Annotated[list[list[str]], Field(min_length=1, description=_TRIPLES), MAY_BE_MISSING],
            ...,
        )
    elif factors:
        fields["factors"] = (
            Annotated[list[Factor], Field(min_length=1, max_length=factors), MAY_BE_MISSING],
            ...,
        )
    if reasoning:
        limit: JsonObject = {"max_length": max_chars} if max_chars else {}
        reasons = Field(description="the reasons, in a sentence or two", **limit)
        fields["reasoning"] = (Annotated[str, reasons, MAY_BE_MISSING], ...)
    if critique:
        fields["critique"] = (Annotated[str, Field(description=_CRITIQUE), MAY_BE_MISSING], ...)
    fields["prediction"] = (prediction_type(labels, multilabel), ...)
    fields["confidence"] = (Confidence, ...)
    return create_model(name, __config__=_NO_OTHER_FIELDS, **fields)


def prediction_schema(
    task: Task,
    *,
    name: str = "Prediction",
    factors: int | Literal["any"] = 0,
    reasoning: bool = False,
    max_reason_chars: int = 0,
    critique: bool = False,
) -> type[BaseModel]:
    """Return the schema of a prediction and its confidence, after weighed factors or reasons.

    All fields except the prediction may be missing from a reply.

    Args:
        task: The task whose labels may be predicted, in upper case.
        name: The name of the schema.
        factors: The most factors to weigh, 0 for none, or `any` number of lists of three texts.
        reasoning: Whether reasons precede the prediction.
        max_reason_chars: The most characters of the reasons; 0 for no limit.
        critique: Whether an assessment of each side's arguments precedes the prediction.
    """
    return _schema(
        name, task.labels, task.multilabel, factors, reasoning, max_reason_chars, critique
    )


def find_position(text: str, task: Task) -> str | None:
    """Return the label or labels that a free text argues for.

    None if it names no label, or several labels of a task with one answer.
    """
    prediction = (parse_reply(text, prediction_schema(task)).value or {}).get("prediction")
    named = map(str, named_labels(text, task.labels))
    labels = join_labels(prediction or named, task.labels)
    return labels if labels and (task.multilabel or labels in task.labels) else None


def read_answer(debate: Debate, utterance: Utterance) -> Answer | None:
    """Return the answer that an utterance states; None if it is unusable."""
    if utterance.prediction is None:
        return None
    logprobs, task = (utterance.parsed or {}).get("logprobs"), debate.task
    shares: Mapping[str, float] = {}
    if logprobs:
        shares = label_shares(logprobs)
    elif utterance.confidence is not None:
        shares = stated_probabilities(task, utterance.prediction.split(";"), utterance.confidence)
    return Answer(
        utterance.prediction,
        utterance.confidence,
        shares.get(task.positive),
        logprobs,
        utterance.probability,
    )
