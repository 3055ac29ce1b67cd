"""JSON objects in a reply, alone, among other text or repaired by a library, and their values."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import json_repair
from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.labels import Label, whole_label
from moot.llm.parsing.numbers import HUNDRED, bounded_number, read_number
from moot.llm.parsing.plain_text import UnreadableError, clean_text, fold_text, shorten
from moot.llm.parsing.schema import PLACEHOLDER, Shape, schema_fields

_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}]', re.DOTALL)
_MAX_OBJECTS = 30
_MAX_REPAIR_CHARS = 20_000
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
_SEPARATOR = re.compile(r"[\n,;、，；]")


@dataclass(slots=True)
class Values:
    """The values that were read for a schema.

    Attributes:
        by_name: by the names of fields, without side fields that cannot be read.
        missing: the problem of each missing side field, by path.
        repairs: what was changed.
    """

    by_name: JsonObject = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    repairs: list[str] = field(default_factory=list)


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    """Return an object by folded keys; a key with two values keeps both, as no field can read."""
    values: JsonObject = {}
    for key, value in pairs:
        name = fold_text(key)
        is_repeated = name in values and values[name] != value
        values[name] = (values[name], value) if is_repeated else value
    return values


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)


def load_json(text: str) -> Json:
    """Return the JSON value of `text`, or None if it is not JSON."""
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def find_objects(text: str, schema: type[BaseModel]) -> Iterator[tuple[JsonObject, int, int]]:
    """Yield the outermost objects with a field of `schema`, each with its start and end."""
    position, keys = 0, {fold_text(shape.key) for shape in schema_fields(schema).values()}
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", position)
        if start < 0:
            return
        try:
            document, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _closing_brace(text, start)
            if not end:
                return
            document = _repair(text[start:end], schema)
        if isinstance(document, dict) and keys & document.keys():
            yield document, start, end
        position = start + 1 if document is None else end


def _closing_brace(text: str, start: int) -> int:
    """Return the position after the brace that closes the one at `start`; 0 if there is none."""
    depth = 0
    for token in _STRING_OR_BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return 0


def _repair(segment: str, schema: type[BaseModel]) -> Json:
    """Return the library's reading of a closed object.

    None if it fails, and for a repeated key, of which the library keeps the last value.
    """
    if len(segment) > _MAX_REPAIR_CHARS:
        return None
    for shape in schema_fields(schema).values():
        key = rf"(?<!\w){re.escape(shape.key)}[\"'“”]?\s*[:：=]"
        if len(re.findall(key, segment, re.IGNORECASE)) > 1:
            return None
    try:
        return load_json(json.dumps(json_repair.loads(segment)))
    except Exception:  # the library may raise any error on hostile text
        return None


def read_object(schema: type[BaseModel], document: JsonObject, scale: int = HUNDRED) -> Values:
    """Return the fields of `schema` in an object, whose keys are folded.

    Raises:
        UnreadableError: a field that is no side field is missing or unreadable, or nothing is left.
    """
    values = Values()
    for name, shape in schema_fields(schema).items():
        try:
            values.by_name[name] = _read_field(name, shape, document, scale, values)
        except UnreadableError as problem:
            if not shape.may_be_missing:
                raise UnreadableError(f"{name}: {problem}") from None
            values.missing[name] = str(problem)
    if values.missing and not values.by_name:
        raise UnreadableError(f"no field can be read; {'; '.join(values.missing.values())}")
    return values


def _read_field(name: str, shape: Shape, document: JsonObject, scale: int, values: Values) -> Json:
    value = document.get(fold_text(shape.key))
    if value is None and not shape.required:
        return shape.default
    if fold_text(shape.key) not in document:
        raise UnreadableError("not given")
    return _read_value(name, shape, value, scale, values)


def _read_value(path: str, shape: Shape, value: Json, scale: int, values: Values) -> Json:
    if shape.optional and value in (None, ""):
        return None
    if shape.kind == "list":
        items = value if isinstance(value, list) else split_items(value)
        if shape.needs_items and not items:
            raise UnreadableError("an empty list")
        item_shape = shape.item or Shape("other")
        return [
            _read_value(f"{path}[{number}]", item_shape, item, scale, values)
            for number, item in enumerate(items)
        ]
    if shape.kind == "object" and shape.schema and isinstance(value, dict):
        inner = read_object(shape.schema, value, scale)
        values.missing |= {f"{path}.{name}": text for name, text in inner.missing.items()}
        values.repairs += inner.repairs
        return inner.by_name
    result = _read_single(shape, value, scale)
    if type(result) is not type(value) or result != value:
        values.repairs.append(f"'{shorten(str(value))}' for {shorten(str(result))}")
    return result


def _read_single(shape: Shape, value: Json, scale: int) -> Json:
    match shape.kind:
        case "label":
            return _read_choice(shape, value)
        case "integer" | "number" if isinstance(value, str):
            return read_number(value, shape, scale)
        case "integer" | "number" if isinstance(value, int | float) and value is not bool(value):
            return bounded_number(value, shape, scale)
        case "flag" if fold_text(str(value)) in _FLAGS:
            return _FLAGS[fold_text(str(value))]
        case "text":
            return _read_text(value)
        case "other":
            return value
    raise UnreadableError(f"'{shorten(str(value))}' is no {shape.kind}")


def _read_choice(shape: Shape, value: Json) -> Label:
    is_readable = isinstance(value, str | int) and not isinstance(value, bool)
    label = whole_label(str(value), shape.labels) if is_readable else None
    if label is None:
        choices = shorten(", ".join(map(str, shape.labels)))
        raise UnreadableError(f"'{shorten(str(value))}' is not one of {choices}")
    return label


def _read_text(value: Json) -> str:
    if isinstance(value, (dict, list, int, float)) and not isinstance(value, bool):
        value = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str) or value.strip() == PLACEHOLDER:
        raise UnreadableError(f"'{shorten(str(value))}' is not text")
    return clean_text(value)


def split_items(value: Json) -> list[Json]:
    """Return the items of a list in one text, a line or a separator between them.

    A text that ends with a separator is cut off, and has no items.
    """
    if not isinstance(value, str):
        return [value]
    items = _SEPARATOR.split(value.strip())
    return [item for item in items if item.strip()] if items[-1].strip() else []


def read_items(text: str, shape: Shape) -> list[Json]:
    """Return the labels that a text lists, if it is only a list.

    Raises:
        UnreadableError: an item is no label, or there is none.
    """
    labels, document = (shape.item or shape).labels, load_json(text)
    parts = document if isinstance(document, list) else split_items(text)
    items = [whole_label(str(part), labels) for part in parts]
    if not items or None in items:
        raise UnreadableError(f"'{shorten(text)}' is not a list of labels")
    return items
