"""A schema's values read from what JSON or a repair library gave, or from words, with a note of
every change.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, cast

from pydantic import BaseModel, ValidationError

from moot.core.types import Fields, Json, JsonObject
from moot.llm.parsing.schema import PLACEHOLDER, Shape, schema_fields
from moot.llm.parsing.words import (
    EchoError,
    Label,
    UnreadableError,
    is_choice,
    plain,
    read_label,
    read_number,
    shorten,
)

Status = Literal["strict", "repaired", "extracted", "invalid"]

HUNDRED = 100
NOT_GIVEN = "not given"
OTHER_KEYS = {
    "verdict": "prediction",
    "confidence level": "confidence",
}  # for a key that the object does not state
OPENING = (
    r"(?:[\"'“‘](?=[\w\s-]{1,60}[\"'”’])"
    r"|(?:^|[\n{,;.|(\[。，；、])(?:[-*#>•|"
    r" \t_`\"'“]|\d{1,2}[.)]|(?:my|the|our|final|overall)\b)*+)"
)
NAMING = (
    r"[\"'“”‘’*_`]*(?:\s(?:level|score|rating))?(?:\s?[(（][^()\n]{0,60}[)）])?[\"'“”‘’*_` \t]*"
)
SEPARATOR = r"(?:[:=：＝|]|->|=>|→)"
LENGTHS = ("too_long", "too_short", "string_too_long", "string_too_short")


@dataclass(slots=True)
class Notes:
    """What had to be done to read a value, the rung that this makes it, and what is missing (path
    to problem).

        `bare_numbers` holds numbers as they were written where 0 to 100 is asked and the words
        name no scale, by path.
    """

    repairs: list[str] = field(default_factory=list)
    in_words: bool = False
    missing: dict[str, str] = field(default_factory=dict)
    bare_numbers: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        return (
            "extracted"
            if self.in_words
            else "repaired"
            if self.repairs or self.missing
            else "strict"
        )

    @property
    def problem(self) -> str:
        """All of it on one line; "" where nothing had to be done."""
        return "; ".join(
            [
                *self.repairs,
                *(f"{path} missing ({problem})" for path, problem in self.missing.items()),
            ]
        )

    def add(self, repair: str, *, in_words: bool = False) -> None:
        if repair not in self.repairs:
            self.repairs.append(repair)
        self.in_words = self.in_words or in_words

    def absorb(self, inner: "Notes", place: str) -> None:
        """Take over the notes on the value at `place`, a field's name or a position such as "[0]"."""
        for repair in inner.repairs:
            self.add(repair)
        self.in_words = self.in_words or inner.in_words
        self.missing |= {
            place + ("." * (path[0] != "[")) + path: problem
            for path, problem in inner.missing.items()
        }
        self.bare_numbers |= {
            place if not path else f"{place}.{path}": number
            for path, number in inner.bare_numbers.items()
        }


@dataclass(frozen=True, slots=True)
class Unclear:
    """The values of a key that an object states more than once, differently."""

    values: tuple[Json, ...]


def validated(schema: type[BaseModel], value: JsonObject) -> JsonObject:
    """`value`, with the defaults of what it does not state, if `schema` takes it; else
    UnreadableError.

        Bounds on lengths are for servers that can be held to them: here they refuse nothing. A
        field that may be missing is left out where it is.
    """
    written = writable(json.dumps(value, ensure_ascii=False))
    try:
        return schema.model_validate_json(written, strict=True).model_dump(mode="json")
    except ValidationError as error:
        for problem in error.errors():
            if problem["type"] != "missing" and problem["type"] not in LENGTHS:
                place = ".".join(str(part) for part in problem["loc"])
                raise UnreadableError(f"{place}: {shorten(problem['msg'], 120)}") from None
    found: JsonObject = json.loads(written)
    return found


def writable(text: str) -> str:
    """`text` without what no file takes: halves of surrogate pairs are replaced, a byte order mark
    is dropped.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").lstrip("\ufeff")


def unwrapped(schema: type[BaseModel], found: JsonObject, notes: Notes) -> JsonObject:
    """`found`, or the one object in it if `found` has no key of the schema: {"answer":
    {"prediction": ...}}.
    """
    keys = {plain(shape.key) for shape in schema_fields(schema).values()}
    for _ in range(3):
        inner = [value for value in found.values() if isinstance(value, dict)]
        if keys & {plain(key) for key in found} or len(inner) != 1:
            break
        notes.add("the object is wrapped in another")
        found = inner[0]
    return found


def read_object(schema: type[BaseModel], found: JsonObject, notes: Notes) -> JsonObject:
    """The fields of `schema` in `found`, by key, defaults included.

    What is missing or unreadable is left out and noted, if the schema says that it may be missing.
    Raises UnreadableError for any other field, and where nothing is left; EchoError where the
    format is repeated.
    """
    fields = schema_fields(schema)
    names = {plain(shape.key): name for name, shape in fields.items()}
    stated = {plain(key) for key in found}
    given: JsonObject = {}
    for key, value in found.items():
        name = names.get(plain(key))
        other = OTHER_KEYS.get(plain(key), "")
        if name is None and other not in stated and not isinstance(value, dict):
            name = names.get(other)
        if name is None:
            if schema.model_config.get("extra") == "forbid":
                notes.add(f"'{shorten(key)}' is not asked for")
            continue
        if key != fields[name].key:
            notes.add(f"'{shorten(key)}' for {fields[name].key}")
        twice = name in given and given[name] != value
        given[name] = Unclear((given[name], value)) if twice else value
    return collected(schema, given, read_value, notes)


def collected(
    schema: type[BaseModel], given: Fields, read: Callable[[Shape, Json, Notes], Json], notes: Notes
) -> JsonObject:
    """The values of the fields of `schema`, by key, as `read` reads what is given of each; see
    `read_object`.
    """
    found: JsonObject = {}
    problems: list[UnreadableError] = []
    for name, shape in schema_fields(schema).items():
        if name not in given and not shape.required:
            found[shape.key] = shape.default
            continue
        inner = Notes()
        try:
            if name not in given:
                raise UnreadableError(NOT_GIVEN)
            found[shape.key] = read(shape, given[name], inner)
        except UnreadableError as problem:
            if not shape.may_be_missing:
                raise type(problem)(f"{name}: {problem}") from None
            notes.missing[name] = str(problem)
            notes.bare_numbers.update((name, number) for number in inner.bare_numbers.values())
            problems.append(problem)
        else:
            notes.absorb(inner, name)
    if problems and not found:
        echo = all(isinstance(problem, EchoError) for problem in problems)
        raise (EchoError if echo else UnreadableError)(f"no field can be read; {notes.problem}")
    return found


def read_value(shape: Shape, value: Json, notes: Notes) -> Json:
    """`value` as `shape` wants it; notes tell what was changed."""
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
    return READERS[shape.kind](shape, value, notes)


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


def _read_quantity(shape: Shape, value: Json, notes: Notes) -> int | float:
    percent = clear = False
    if isinstance(value, str):
        if is_choice(value, ()) or _is_range(shape, value):
            raise EchoError(f"'{shorten(value)}' repeats the format")
        number, percent, exact = read_number(value, shape.high or HUNDRED)
        clear = percent or re.search(r"/|\bof\b", value) is not None
        notes.add(f"'{shorten(value)}' for a number", in_words=not exact)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"'{shorten(str(value))}' is not a number")
    else:
        number = value
    if percent and shape.high not in (None, HUNDRED):
        if shape.high != 1:
            raise UnreadableError(f"per cent where up to {shape.high:g} is asked")
        number = number / HUNDRED
    _note_bare_number(shape, number, clear, notes)
    if not (shape.low is None or number >= shape.low) or not (
        shape.high is None or number <= shape.high
    ):
        raise UnreadableError(f"{shorten(str(number))} is outside {shape.low} to {shape.high}")
    if shape.kind == "integer" and isinstance(number, float):
        if math.isnan(number) or abs(number) > 2**53:
            raise UnreadableError(f"{number} is no whole number")
        notes.add(f"{number} to the nearest whole number")
        number = int(number + 0.5) if number >= 0 else -int(-number + 0.5)
    return number


def _note_bare_number(shape: Shape, number: float, clear: bool, notes: Notes) -> None:
    """Note a number without a scale; raises UnreadableError for a fraction of 1, since 1 may also
    be 1 %.
    """
    if clear or not shape.of_hundred:
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
        raise UnreadableError(f"{json.dumps(value)} is no text")
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
        value = [value]
    if shape.filled and not value:
        raise UnreadableError("an empty list")
    items = []
    for number, item in enumerate(value):
        inner = Notes()
        items.append(read_value(shape.item or Shape("other"), item, inner))
        notes.absorb(inner, f"[{number}]")
    return items


def _read_nested(shape: Shape, value: Json, notes: Notes) -> JsonObject:
    if shape.schema is None or not isinstance(value, dict):
        raise UnreadableError(f"'{shorten(str(value))}' is not an object")
    return read_object(shape.schema, value, notes)


READERS: dict[str, Callable[[Shape, Json, Notes], Json]] = {
    "label": _read_choice,
    "integer": _read_quantity,
    "number": _read_quantity,
    "flag": _read_flag,
    "text": _read_text,
    "list": _read_list,
    "object": _read_nested,
}


def stated_by_field(text: str, schema: type[BaseModel]) -> dict[str, list[str]]:
    """What follows each field's name in `text` ("Prediction: YES", "confidence": 70), by field, in
    order.
    """
    fields = schema_fields(schema)
    words = {
        name: r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", shape.key)))
        for name, shape in fields.items()
    }
    groups = "|".join(
        f"(?P<{name}>{words[name]})" for name in sorted(words, key=lambda name: (-len(name), name))
    )
    pattern = re.compile(rf"{OPENING}(?:{groups}){NAMING}{SEPARATOR}[*_`]*", re.IGNORECASE)
    matches = list(pattern.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    stated: dict[str, list[str]] = {}
    for match, end in zip(matches, ends, strict=False):
        stated.setdefault(str(match.lastgroup), []).append(text[match.end() : end])
    return stated


def _first_line(statement: str) -> str:
    """A label's or a number's own words: what is quoted, or the first line that is not empty."""
    text = statement.strip().strip("*_`").strip()
    if quoted := re.match(r"([\"'“‘])(.*?)([\"'”’])(?=\s*(?:[,;}\]\n]|$))", text, re.DOTALL):
        return quoted.group(2)
    return text.split("\n", 1)[0]


def agreed(shape: Shape, statements: list[str], notes: Notes | None = None) -> Json:
    """The one reading of all `statements`, echoes of the choice aside; None if nothing is stated.

    A number without a scale is noted, if it is the only statement.

    Raises UnreadableError where one cannot be read or two differ.
    """
    readings: list[Json] = []
    for statement in statements:
        inner = Notes()
        try:
            readings.append(read_value(shape, _first_line(statement), inner))
        except EchoError:
            continue
        finally:
            if notes is not None and len(statements) == 1:
                notes.bare_numbers |= inner.bare_numbers
    if any(reading != readings[0] for reading in readings):
        raise UnreadableError(
            f"stated as {' and as '.join(shorten(str(reading), 20) for reading in readings[:3])}"
        )
    return readings[0] if readings else None
