"""Values from a reply with JSON objects or tags, which the text around them may not contradict."""

import json
import re
from functools import lru_cache
from itertools import chain

from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.field_statements import find_statements, read_agreed
from moot.llm.parsing.notes import Notes, Unclear
from moot.llm.parsing.objects import FULL_WIDTH, Candidate, find_candidates
from moot.llm.parsing.plain_text import EchoError, UnreadableError, fold_text
from moot.llm.parsing.readings import DECISIONS, Reading, read_fields
from moot.llm.parsing.schema import schema_fields
from moot.llm.parsing.stated_number import find_only_number
from moot.llm.parsing.values import number_aliases, unwrap_object


def read_tags(text: str, schema: type[BaseModel]) -> Reading | None:
    """Return the fields of `<prediction>YES</prediction><confidence>70</confidence>`.

    None if no tag has the name of a field.
    """
    tags = list(_tag_pattern(schema).finditer(text))
    if not tags:
        return None
    values: JsonObject = {}
    for match in tags:
        key, value = fold_text(match[1]), match[2].strip()
        values[key] = value if values.get(key, value) == value else Unclear((values[key], value))
    reading = read_fields(schema, values, Notes(["tags for an object"]))
    _compare_with_text(reading, text, [match.span() for match in tags])
    return reading


@lru_cache(maxsize=256)
def _tag_pattern(schema: type[BaseModel]) -> re.Pattern[str]:
    keys = "|".join(re.escape(shape.key) for shape in schema_fields(schema).values())
    return re.compile(rf"<({keys})>([^<>]*)</\1>", re.IGNORECASE)


def read_objects(text: str, schema: type[BaseModel]) -> Reading | None:
    """Return the value of the objects in `text`, if they agree on one.

    The value is None if `text` has no object, or an object that cannot be repaired.

    Raises:
        UnreadableError: other JSON contradicts the object.
    """
    readings: list[Reading] = []
    objects = list(find_candidates(text, schema))
    for candidate in objects:
        try:
            readings.append(_read_candidate(candidate, text, schema))
        except EchoError:
            continue
        except UnreadableError:
            if candidate.well_formed:
                raise
            return None
    if not readings:
        return None
    last_reading = readings[-1]
    for name, shape in schema_fields(schema).items():
        values = [reading.value.get(name) for reading in readings]
        if shape.kind != "text" and any(value != values[0] for value in values):
            last_reading.leave_out(name, "objects that disagree")
    _compare_with_text(last_reading, text, [(part.start, part.end) for part in objects])
    return last_reading


def _compare_with_text(reading: Reading, text: str, spans: list[tuple[int, int]]) -> None:
    """Compare a reading with the text around the places, in order, from which it was read."""
    reading.refuse_if_taken_back(text[spans[-1][1] :])
    edges = [0, *chain.from_iterable(spans), len(text)]
    parts = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    reading.compare_with("\n".join(parts))


def _read_candidate(candidate: Candidate, text: str, schema: type[BaseModel]) -> Reading:
    repair = (
        "the object stands among other text" if candidate.well_formed else "the JSON is repaired"
    )
    reading = read_fields(schema, candidate.values, Notes([repair]))
    if not candidate.well_formed:
        _leave_out_invented(reading, candidate.values, text[candidate.start : candidate.end])
    return reading


def _leave_out_invented(reading: Reading, repaired: JsonObject, segment: str) -> None:
    """Require that a label or number of a repaired object follows its key in the text.

    A repair library guesses values.
    """
    statements = find_statements(segment.translate(FULL_WIDTH), reading.schema)
    values = {
        fold_text(key): value
        for key, value in unwrap_object(reading.schema, repaired, Notes()).items()
    }
    if number_aliases(reading.schema).keys() & values.keys():
        reading.leave_out(str(find_only_number(reading.schema)), "a repair would have to guess")
    for name, shape in schema_fields(reading.schema).items():
        if (
            fold_text(shape.key) not in values
            or shape.kind == "text"
            or name in reading.notes.missing
        ):
            continue
        try:
            if shape.kind in DECISIONS:
                is_stated = read_agreed(shape, statements.get(name, [])) == reading.value[name]
            else:
                is_stated = _words(values[fold_text(shape.key)]) <= _words(segment)
        except UnreadableError:
            is_stated = False
        if not is_stated:
            reading.leave_out(name, "a repair would have to guess")


def _words(value: Json) -> set[str]:
    return set(re.findall(r"\w+", json.dumps(value, ensure_ascii=False).casefold()))
