"""JSON objects in a reply: alone, among other text, or broken and repaired by a library."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import json_repair
from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.notes import Notes, Unclear
from moot.llm.parsing.plain_text import UnreadableError, fold_text
from moot.llm.parsing.schema import schema_fields
from moot.llm.parsing.values import number_aliases, unwrap_object

FULL_WIDTH = str.maketrans("｛｝［］：，“”＂", '{}[]:,"""')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[{}\[\]]', re.DOTALL)
MAX_REPAIR_CHARS = 20_000
MAX_OBJECTS = 30


def load_json(text: str) -> Json:
    """Return the JSON value of `text`, or None if it is not JSON.

    A key with two different values becomes an `Unclear`.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except ValueError:
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    values: JsonObject = {}
    for key, value in pairs:
        values[key] = (
            value if key not in values or values[key] == value else Unclear((values[key], value))
        )
    return values


@dataclass(frozen=True, slots=True)
class Candidate:
    """One object in a text: its position, its values, and whether it was JSON before repair."""

    start: int
    end: int
    values: JsonObject
    well_formed: bool


def close_torn(text: str) -> str:
    """Mark the last value of a truncated object as unfinished: "confidence": 8 may stand for 85.

    Raises:
        UnreadableError: a list is truncated; its other items are unknown.
    """
    start = text.find("{")
    if start < 0 or _closing_brace(text, start):
        return text
    tokens = [match.group() for match in TOKEN.finditer(text, start)]
    if tokens.count("[") > tokens.count("]"):
        raise UnreadableError("cut off within a list")
    if text.rstrip().endswith(("}", "`")):
        return text
    if tokens[-1].startswith('"') and not re.fullmatch(
        r'"(?:[^"\\]|\\.)*+"', tokens[-1], re.DOTALL
    ):
        return f'{text}…"'
    return re.sub(r"[\w.+%-]+\Z", '"…"', text)


def _closing_brace(text: str, start: int) -> int:
    """Return the position after the brace that closes the one at `start`; 0 if there is none.

    Braces in strings are ignored.
    """
    depth = 0
    for token in TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0 and token.group() == "}":
            return token.end()
    return 0


def find_candidates(text: str, schema: type[BaseModel]) -> Iterator[Candidate]:
    """Yield the outermost objects in `text` with a field of `schema`, repaired if needed."""
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
    position = 0
    for _ in range(MAX_OBJECTS):
        start = text.find("{", position)
        if start < 0:
            return
        try:
            document, end = decoder.raw_decode(text, start)
            well_formed = True
        except ValueError:
            end = _closing_brace(text, start) or len(text)
            document, well_formed = _repair(text[start:end], schema), False
        if _has_field(schema, document):
            yield Candidate(start, end, document, well_formed)
            position = end
        else:
            position = end if well_formed else start + 1


def _has_field(schema: type[BaseModel], document: Json) -> bool:
    keys = {fold_text(shape.key) for shape in schema_fields(schema).values()}
    keys |= number_aliases(schema).keys()
    return isinstance(document, dict) and any(
        fold_text(key) in keys for key in unwrap_object(schema, document, Notes())
    )


def _repair(segment: str, schema: type[BaseModel]) -> Json:
    """Return the repair library's reading of `segment`; None without a field or if too long."""
    folded = segment.casefold()
    if len(segment) > MAX_REPAIR_CHARS or not any(
        shape.key.casefold() in folded for shape in schema_fields(schema).values()
    ):
        return None
    try:
        repaired = json_repair.loads(segment)
        return (
            repaired
            if isinstance(repaired, dict)
            else json_repair.loads(segment.translate(FULL_WIDTH))
        )
    except Exception:  # the library may raise any error on hostile text
        return None
