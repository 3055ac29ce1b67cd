"""The fields of a reply's schema, in the forms that the parser, prompts and endpoints need."""

import enum
import json
import types
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from moot.core.types import Json, JsonObject

PLACEHOLDER = "<text>"
MAY_BE_MISSING = object()
"""Marks a side field: `confidence: Annotated[int, MAY_BE_MISSING]`. A side field that cannot be
read is left out of the value. Without any other field there is no value."""

Kind = Literal["label", "integer", "number", "flag", "text", "list", "object", "other"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The values that a field can take.

    `low` and `high` are None if open. `needs_items` requires at least one item in a list; other
    bounds on lengths are for the endpoint and are not kept here.
    """

    kind: Kind
    key: str = ""
    required: bool = True
    default: Json = None
    optional: bool = False
    labels: tuple[Json, ...] = ()
    low: float | None = None
    high: float | None = None
    item: "Shape | None" = None
    schema: type[BaseModel] | None = None
    description: str = ""
    needs_items: bool = False
    may_be_missing: bool = False

    @property
    def is_percent(self) -> bool:
        """Whether the field is a number from 0 to 100."""
        return self.high == 100 and self.low in (0, None)


@cache
def schema_fields(schema: type[BaseModel]) -> dict[str, Shape]:
    """Return the shape of every field of `schema` by name."""
    return {name: _field_shape(name, info) for name, info in schema.model_fields.items()}


def _field_shape(name: str, info: FieldInfo) -> Shape:
    shape = _add_bounds(_shape(info.annotation), info.metadata)
    default = (
        None
        if info.is_required()
        else info.get_default(call_default_factory=True, validated_data={})
    )
    return replace(
        shape,
        key=info.alias or name,
        required=info.is_required(),
        default=to_jsonable_python(default),
        description=info.description or "",
        may_be_missing=MAY_BE_MISSING in info.metadata,
    )


def _shape(annotation: object) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _add_bounds(_shape(arguments[0]), arguments[1:])
    if origin is Literal:
        return Shape("label", labels=arguments)
    if origin in (Union, types.UnionType):
        members = [argument for argument in arguments if argument is not type(None)]
        shape = _shape(members[0]) if len(members) == 1 else Shape("other")
        return replace(shape, optional=len(members) < len(arguments))
    if origin is list:
        return Shape("list", item=_shape(arguments[0]))
    if isinstance(annotation, type):
        return _class_shape(annotation)
    return Shape("other")


def _class_shape(annotation: type) -> Shape:
    if issubclass(annotation, enum.Enum):
        return Shape("label", labels=tuple(member.value for member in annotation))
    if issubclass(annotation, BaseModel):
        return Shape("object", schema=annotation)
    kinds: dict[type, Kind] = {bool: "flag", int: "integer", float: "number", str: "text"}
    return Shape(kinds.get(annotation, "other"))


def _add_bounds(shape: Shape, metadata: Iterable[object]) -> Shape:
    low, high, needs_items = shape.low, shape.high, shape.needs_items
    for bound in metadata:
        needs_items = needs_items or bool(getattr(bound, "min_length", 0))
        low = getattr(bound, "ge", getattr(bound, "gt", low))
        high = getattr(bound, "le", getattr(bound, "lt", high))
    return replace(shape, low=low, high=high, needs_items=needs_items)


@cache
def describe_schema(schema: type[BaseModel]) -> str:
    """Describe the form of a reply for a prompt: an example with placeholders, then each field.

    A model that only repeats this text gives no answer: the parser reads no placeholder as a value.
    """
    return "\n".join(
        [
            "Answer with one JSON object and nothing else, in this form:",
            f"{{{_example(schema)}}}",
            "where",
            *_lines(schema, ""),
        ]
    )


def _example(schema: type[BaseModel]) -> str:
    return ", ".join(
        f"{json.dumps(shape.key)}: {_placeholder(shape)}"
        for shape in schema_fields(schema).values()
    )


def _placeholder(shape: Shape) -> str:
    match shape.kind:
        case "object" if shape.schema:
            return f"{{{_example(shape.schema)}}}"
        case "list" if shape.item:
            return f"[{_placeholder(shape.item)}, ...]"
        case "text":
            return json.dumps(PLACEHOLDER)
        case "label":
            return json.dumps(f"<one of: {', '.join(map(str, shape.labels))}>", ensure_ascii=False)
    return f"<{_wording(shape)}>"


def _wording(shape: Shape) -> str:
    match shape.kind:
        case "label":
            labels = [json.dumps(label, ensure_ascii=False) for label in shape.labels]
            wording = f"one of {', '.join(labels)}"
        case "integer" | "number":
            wording = ("a whole number" if shape.kind == "integer" else "a number") + _range(shape)
        case "flag":
            wording = "true or false"
        case "text":
            wording = "a text"
        case "list" if shape.item:
            wording = f"a list; each item is {_wording(shape.item)}"
        case "object":
            wording = "an object"
        case _:
            wording = "a JSON value"
    return f"{wording}, or null" if shape.optional else wording


def _range(shape: Shape) -> str:
    bounds = [("from", shape.low), ("to" if shape.low is not None else "up to", shape.high)]
    return "".join(f" {word} {bound:g}" for word, bound in bounds if bound is not None)


def _lines(schema: type[BaseModel], prefix: str) -> list[str]:
    lines = []
    for shape in schema_fields(schema).values():
        wording = (
            _wording(shape) if not shape.description else f"{_wording(shape)}: {shape.description}"
        )
        lines.append(f"- {prefix}{shape.key} is {wording.rstrip('.')}.")
        inner = shape.item if shape.kind == "list" and shape.item else shape
        if inner.schema:
            lines += _lines(
                inner.schema, f"{prefix}{shape.key}{'[]' if inner is not shape else ''}."
            )
    return lines


@cache
def json_schema(schema: type[BaseModel]) -> JsonObject:
    """Return the JSON schema of `schema` as endpoints accept it.

    It has no references, every field is required, and no other fields are allowed.

    Raises:
        ValueError: the schema contains itself, which needs references.
    """
    raw = schema.model_json_schema()
    definitions = raw.pop("$defs", {})
    inlined: JsonObject = _inline(raw, definitions, ())
    return inlined


def _inline(node: Json, definitions: JsonObject, ancestors: tuple[str, ...]) -> Json:
    if isinstance(node, list):
        return [_inline(item, definitions, ancestors) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        if name in ancestors:
            raise ValueError(f"the schema {name} contains itself")
        other_keys = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**definitions[name], **other_keys}, definitions, (*ancestors, name))
    skipped = ("title", "default", "properties", "enum", "const")
    plain = {key: value for key, value in node.items() if key not in skipped}
    result = {key: _inline(value, definitions, ancestors) for key, value in plain.items()}
    if "enum" in node or "const" in node:
        result["enum"] = node.get("enum", [node.get("const")])
    if "properties" in node:
        result["properties"] = {
            key: _inline(value, definitions, ancestors) for key, value in node["properties"].items()
        }
        result["required"] = list(node["properties"])
        result["additionalProperties"] = False
    return result
