"""The JSON in a reply: whole, among other text, or broken and mended by a repair library."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import json_repair
from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.schema import schema_fields
from moot.llm.parsing.values import Notes, Unclear, unwrapped
from moot.llm.parsing.words import UnreadableError, plain

FULL_WIDTH = str.maketrans("｛｝［］：，“”＂", '{}[]:,"""')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[{}\[\]]', re.DOTALL)
LARGEST_REPAIR = 20_000
MOST_OBJECTS = 30


def load(text: str) -> Json:
    """The JSON value of the whole `text`, or None; a key that is stated twice with two values is
    kept as an Unclear.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except ValueError:
        return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    found: JsonObject = {}
    for key, value in pairs:
        found[key] = (
            value if key not in found or found[key] == value else Unclear((found[key], value))
        )
    return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """One object in a text: its place, its values, and whether it was JSON before repair."""

    start: int
    end: int
    found: JsonObject
    well_formed: bool


def close_torn(text: str) -> str:
    """`text`, with what a cut-off object ends in marked as unfinished: "confidence": 8 may have
    been going to be 85.

        Raises UnreadableError for a list that is cut off, since its other items are not known.
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
    """The place after the brace that closes the one at `start`, strings respected; 0 if there is
    none.
    """
    depth = 0
    for token in TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0 and token.group() == "}":
            return token.end()
    return 0


def candidates(text: str, schema: type[BaseModel]) -> Iterator[Candidate]:
    """The outermost objects of `text` that have a field of `schema`, repaired where they need it."""
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)
    position = 0
    for _ in range(MOST_OBJECTS):
        start = text.find("{", position)
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
            well_formed = True
        except ValueError:
            end = _closing_brace(text, start) or len(text)
            found, well_formed = _repair(text[start:end], schema), False
        if _concerns(schema, found):
            yield Candidate(start, end, found, well_formed)
            position = end
        else:
            position = end if well_formed else start + 1


def _concerns(schema: type[BaseModel], found: Json) -> bool:
    keys = {plain(shape.key) for shape in schema_fields(schema).values()}
    return isinstance(found, dict) and any(
        plain(key) in keys for key in unwrapped(schema, found, Notes())
    )


def _repair(segment: str, schema: type[BaseModel]) -> Json:
    """What the repair library makes of `segment`;
    None for one that names no field, or is too long to be an answer.
    """
    folded = segment.casefold()
    if len(segment) > LARGEST_REPAIR or not any(
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
    except (
        Exception
    ):  # the library guesses its way through hostile text, and may trip over any of it
        return None
