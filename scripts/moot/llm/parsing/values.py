"""Reading of a schema's values from JSON, repaired JSON or words, with a note of every change."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from pydantic import BaseModel, ValidationError

from moot.core.types import Fields, Json, JsonObject
from moot.llm.parsing.articles import split_list
from moot.llm.parsing.label_mentions import Label, is_choice
from moot.llm.parsing.label_phrases import read_label
from moot.llm.parsing.notes import Notes, Unclear
from moot.llm.parsing.numbers import read_number
from moot.llm.parsing.plain_text import (
    CUT,
    EchoError,
    UnreadableError,
    clean_text,
    fold_text,
    shorten,
)
from moot.llm.parsing.schema import PLACEHOLDER, Shape, schema_fields
from moot.llm.parsing.stated_number import NUMBER_KEYS, find_only_number

HUNDRED = 100
NOT_STATED = "not given"
_KEY_ALIASES = {
    "verdict": "prediction",
    "confidence level": "confidence",
}
"""Alternative names of keys, used if the object lacks the key itself."""
_BRACKETED_NUMBER = re.compile(r"^\s*[<\[]\s*(\d+(?:\.\d+)?\s*%?)\s*[>\]]\.?\s*$")
_LENGTHS = ("too_long", "too_short", "string_too_long", "string_too_short")


def validate_value(schema: type[BaseModel], value: JsonObject) -> JsonObject:
    """Validate `value`, which is by key, against `schema`; return it by field name with defaults.

    Bounds on lengths are for servers that can enforce them and are ignored here. Side fields that
    are missing stay missing.

    Raises:
        UnreadableError: a value does not fit the schema.
    """
    document = clean_text(json.dumps(value, ensure_ascii=False))
    try:
        return schema.model_validate_json(document, strict=True).model_dump(mode="json")
    except ValidationError as error:
        for problem in error.errors():
            if problem["type"] != "missing" and problem["type"] not in _LENGTHS:
                place = ".".join(str(part) for part in problem["loc"])
                raise UnreadableError(f"{place}: {shorten(problem['msg'], 120)}") from None
    return _rename_keys(schema, json.loads(document))


def _rename_keys(schema: type[BaseModel], values: JsonObject) -> JsonObject:
    """Return `values` by the names of the fields instead of their keys, in nested objects too."""
    renamed: JsonObject = {}
    for name, shape in schema_fields(schema).items():
        if shape.key not in values:
            continue
        value = values[shape.key]
        if shape.schema is not None and isinstance(value, dict):
            value = _rename_keys(shape.schema, value)
        elif shape.item is not None and shape.item.schema is not None and isinstance(value, list):
            value = [_rename_keys(shape.item.schema, item) for item in value]
        renamed[name] = value
    return renamed


def unwrap_object(schema: type[BaseModel], values: JsonObject, notes: Notes) -> JsonObject:
    """Return `values`, or the one object in it if it has no key of the schema.

    Examples are {"answer": {"prediction": ...}} and a call of a tool, whose arguments are JSON in a
    text: {"name": "reply", "arguments": "{...}"}.
    """
    keys = {fold_text(shape.key) for shape in schema_fields(schema).values()}
    for _ in range(3):
        objects = [value for value in values.values() if isinstance(value, dict)]
        objects = objects or [*filter(None, map(_object_in_text, values.values()))]
        if keys & {fold_text(key) for key in values} or len(objects) != 1:
            break
        notes.add("the object is wrapped in another")
        values = objects[0]
    return values


def _object_in_text(value: Json) -> JsonObject | None:
    """Return the object that is JSON in a text; None for any other value."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return None
    try:
        document, end = json.JSONDecoder().raw_decode(value.lstrip())
    except (ValueError, RecursionError):
        return None
    rest = value.lstrip()[end:].strip()
    is_whole = not rest or re.fullmatch(r"</\w+>", rest) is not None
    return document if is_whole and isinstance(document, dict) else None


def read_object(schema: type[BaseModel], values: JsonObject, notes: Notes) -> JsonObject:
    """Return the fields of `schema` in `values` by key, with defaults.

    Side fields that are missing or unreadable are left out and noted.

    Raises:
        UnreadableError: another field is missing or unreadable, or nothing is left.
        EchoError: the values repeat the format.
    """
    fields = schema_fields(schema)
    names = {fold_text(shape.key): name for name, shape in fields.items()}
    keys = {fold_text(key) for key in values}
    aliases = _KEY_ALIASES | number_aliases(schema)
    raw_values: JsonObject = {}
    for key, value in values.items():
        name = names.get(fold_text(key))
        canonical_key = aliases.get(fold_text(key), "")
        if name is None and canonical_key not in keys and not isinstance(value, dict):
            name = names.get(canonical_key)
        if name is None:
            if schema.model_config.get("extra") == "forbid":
                notes.add(f"'{shorten(key)}' is not asked for")
            continue
        if key != fields[name].key:
            notes.add(f"'{shorten(key)}' for {fields[name].key}")
        is_ambiguous = name in raw_values and raw_values[name] != value
        raw_values[name] = Unclear((raw_values[name], value)) if is_ambiguous else value
    return collect_fields(schema, raw_values, read_value, notes)


@lru_cache(maxsize=256)
def number_aliases(schema: type[BaseModel]) -> dict[str, str]:
    """Return the names that stand for the one number that `schema` asks for, each with its key."""
    name = find_only_number(schema)
    if name is None:
        return {}
    key = fold_text(schema_fields(schema)[name].key)
    return {alias: key for alias in NUMBER_KEYS if alias != key}


def collect_fields(
    schema: type[BaseModel],
    raw_values: Fields,
    read_field: Callable[[Shape, Json, Notes], Json],
    notes: Notes,
) -> JsonObject:
    """Return the fields of `schema` by key, each read by `read_field`; see `read_object`."""
    values: JsonObject = {}
    problems: list[UnreadableError] = []
    for name, shape in schema_fields(schema).items():
        if name not in raw_values and not shape.required:
            values[shape.key] = shape.default
            continue
        inner = Notes()
        try:
            if name not in raw_values:
                raise UnreadableError(NOT_STATED)
            values[shape.key] = read_field(shape, raw_values[name], inner)
        except UnreadableError as problem:
            if not shape.may_be_missing:
                raise type(problem)(f"{name}: {problem}") from None
            notes.missing[name] = str(problem)
            notes.bare_numbers.update((name, number) for number in inner.bare_numbers.values())
            problems.append(problem)
        else:
            notes.absorb(inner, name)
    if problems and not values:
        echo = all(isinstance(problem, EchoError) for problem in problems)
        raise (EchoError if echo else UnreadableError)(f"no field can be read; {notes.problem}")
    return values


def read_value(shape: Shape, value: Json, notes: Notes) -> Json:
    """Return `value` in the form of `shape`; changes are added to `notes`."""
    if isinstance(value, Unclear):
        raise UnreadableError("stated twice, differently")
    if shape.optional and value is None:
        return None
    if shape.optional and value == "" and shape.kind != "text":
        notes.add("an empty text for null")
        return None
    if value is None and shape.default is not None:
        notes.add("null for a field with a default")
        return shape.default
    if shape.kind == "other":
        return value
    return _READERS[shape.kind](shape, value, notes)


def _read_choice(shape: Shape, value: Json, notes: Notes) -> Label:
    if any(value == label and type(value) is type(label) for label in shape.labels):
        return cast("Label", value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UnreadableError(
            f"'{shorten(str(value))}' is not one of {', '.join(map(str, shape.labels))}"
        )
    label, exact = read_label(str(value), shape.labels)
    notes.add(f"'{shorten(str(value))}' for {label}", in_words=not exact)
    return label


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number and how it was written: in per cent, and whether with a scale ("8/10", "70%")."""

    number: int | float
    is_percent: bool = False
    has_scale: bool = False


def _read_quantity(shape: Shape, value: Json, notes: Notes) -> int | float:
    quantity = _parse_quantity(shape, value, notes)
    number = quantity.number
    if quantity.is_percent and shape.high not in (None, HUNDRED):
        if shape.high != 1:
            raise UnreadableError(f"per cent where up to {shape.high:g} is asked")
        number = number / HUNDRED
    _note_bare_number(shape, number, quantity.has_scale, notes)
    _check_bounds(shape, number)
    if shape.kind == "integer" and isinstance(number, float):
        if number != int(number) and not shape.is_percent:
            raise UnreadableError(f"{number} where a whole number is asked; it is not rounded")
        return _round_half_up(number, notes)
    return number


def _parse_quantity(shape: Shape, value: Json, notes: Notes) -> _Quantity:
    if isinstance(value, str):
        value = _BRACKETED_NUMBER.sub(r"\1", value)
        if is_choice(value, ()) or _is_range(shape, value):
            raise EchoError(f"'{shorten(value)}' repeats the format")
        number, is_percent, is_exact = read_number(value, shape.high or HUNDRED)
        notes.add(f"'{shorten(value)}' for a number", in_words=not is_exact)
        has_scale = is_percent or re.search(r"/|\b(?:of|in)\b", value) is not None
        return _Quantity(number, is_percent, has_scale)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"'{shorten(str(value))}' is not a number")
    return _Quantity(value)


def _check_bounds(shape: Shape, number: float) -> None:
    is_above = shape.low is None or number >= shape.low
    is_below = shape.high is None or number <= shape.high
    if not (is_above and is_below):
        raise UnreadableError(f"{shorten(str(number))} is outside {shape.low} to {shape.high}")


def _round_half_up(number: float, notes: Notes) -> int:
    if math.isnan(number) or abs(number) > 2**53:
        raise UnreadableError(f"{number} is not a whole number")
    notes.add(f"{number} to the nearest whole number")
    return int(number + 0.5) if number >= 0 else -int(-number + 0.5)


def _note_bare_number(shape: Shape, number: float, clear: bool, notes: Notes) -> None:
    """Note a number without a scale.

    Raises:
        UnreadableError: the number is a fraction of 1, or 1.0, which may also mean 1 %.
    """
    if clear or not shape.is_percent:
        return
    notes.bare_numbers[""] = float(number)
    if isinstance(number, float) and 0 < number <= 1:
        raise UnreadableError(
            f"{number} where 0 to 100 is asked may be a share of 1; `confidence_scale: 1` in the"
            " model's entry reads it so"
        )


def _is_range(shape: Shape, text: str) -> bool:
    ends = re.findall(r"\d+(?:\.\d+)?", text)
    return [float(end) for end in ends] == [shape.low, shape.high]


def _read_flag(_shape: Shape, value: Json, notes: Notes) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "false": False, "no": False}
    label, exact = read_label(str(value), tuple(words))
    notes.add(f"'{shorten(str(value))}' for {words[str(label)]}".lower(), in_words=not exact)
    return words[str(label)]


def _read_text(_shape: Shape, value: Json, notes: Notes) -> str:
    if isinstance(value, str):
        if value.strip() == PLACEHOLDER:
            raise EchoError("repeats the format")
        return value
    if value is None or isinstance(value, bool):
        raise UnreadableError(f"{json.dumps(value)} is not text")
    notes.add("other than text for a text")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        raise UnreadableError("a text that is stated twice, differently") from None


def _read_list(shape: Shape, value: Json, notes: Notes) -> list[Json]:
    if not isinstance(value, list):
        notes.add("one item for a list")
        value = _list_items(shape, value)
    if shape.needs_items and not value:
        raise UnreadableError("an empty list")
    items = []
    for number, item in enumerate(value):
        inner = Notes()
        items.append(read_value(shape.item or Shape("other"), item, inner))
        notes.absorb(inner, f"[{number}]")
    return items


def _list_items(shape: Shape, value: Json) -> list[Json]:
    """Return the items of a list of labels in one text; `[value]` if it is one item."""
    is_label_list = shape.item is not None and shape.item.kind == "label"
    if isinstance(value, str) and is_label_list and not value.endswith(CUT):
        return list(split_list(value, is_complete=True)) or [value]
    return [value]


def _read_nested(shape: Shape, value: Json, notes: Notes) -> JsonObject:
    if shape.schema is None or not isinstance(value, dict):
        raise UnreadableError(f"'{shorten(str(value))}' is not an object")
    return read_object(shape.schema, value, notes)


_READERS: dict[str, Callable[[Shape, Json, Notes], Json]] = {
    "label": _read_choice,
    "integer": _read_quantity,
    "number": _read_quantity,
    "flag": _read_flag,
    "text": _read_text,
    "list": _read_list,
    "object": _read_nested,
}
