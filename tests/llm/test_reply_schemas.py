"""The schema of a reply, as prompts describe it and as servers get it."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from moot.llm.parsing.schema import describe_schema, json_schema
from moot.studies.conference.forms import Grade


class RiskFactor(BaseModel):
    factor: str
    weight: int = Field(ge=0, le=10)
    direction: Literal["raises", "lowers", "unknown"] = "unknown"


class Review(BaseModel):
    prediction: Literal["YES", "NO"]
    confidence: int = Field(ge=0, le=100, description="how sure you are")
    risk_factors: list[RiskFactor]


class Likelihood(BaseModel):
    model_config = ConfigDict(extra="forbid")
    probability: float = Field(ge=0, le=1)
    certain: bool


def test_description_names_bounds_labels_and_purpose() -> None:
    description = describe_schema(Review)
    assert '- prediction is one of "YES", "NO".' in description
    assert "- confidence is a whole number from 0 to 100: how sure you are." in description
    assert "- risk_factors[].weight is a whole number from 0 to 10." in description


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)


@pytest.mark.parametrize("schema", [Review, Likelihood, Grade])
def test_json_schema_is_plain_closed_and_requires_everything(schema: type[BaseModel]) -> None:
    document = json_schema(schema)
    assert "$ref" not in json.dumps(document)
    assert "$defs" not in json.dumps(document)
    objects = [node for node in nodes(document) if node.get("type") == "object"]
    assert objects
    for node in objects:
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False
    assert document["properties"].keys() == schema.model_fields.keys()


def test_json_schema_keeps_labels_and_bounds() -> None:
    properties = json_schema(Review)["properties"]
    assert properties["prediction"]["enum"] == ["YES", "NO"]
    assert (properties["confidence"]["minimum"], properties["confidence"]["maximum"]) == (0, 100)
    assert properties["risk_factors"]["items"]["properties"]["direction"]["enum"] == [
        "raises",
        "lowers",
        "unknown",
    ]


def test_a_schema_that_contains_itself_is_refused() -> None:
    class Node(BaseModel):
        children: list["Node"] = Field(default_factory=list)

    with pytest.raises(ValueError, match="contains itself"):
        json_schema(Node)
