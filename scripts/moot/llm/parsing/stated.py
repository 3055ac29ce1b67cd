"""What a text states after the names of a schema's fields ("Prediction: YES", "confidence": 70)."""

import re

from pydantic import BaseModel

from moot.core.types import Json
from moot.llm.parsing.schema import Shape, schema_fields
from moot.llm.parsing.values import Notes, read_value
from moot.llm.parsing.words import EchoError, UnreadableError, shorten

OPENING = (
    r"(?:[\"'“‘](?=[\w\s-]{1,60}[\"'”’])"
    r"|(?:^|[\n{,;.|(\[。，；、])(?:[-*#>•| \t_`\"'“]|\d{1,2}[.)]|(?:my|the|our|final|overall)\b)*+)"
)
NAMING = r"[\"'“”‘’*_`]*(?:\s(?:level|score|rating))?(?:\s?[(（][^()\n]{0,60}[)）])?[\"'“”‘’*_` \t]*"
SEPARATOR = r"(?:[:=：＝|]|->|=>|→)"


def stated_by_field(text: str, schema: type[BaseModel]) -> dict[str, list[str]]:
    """What follows each field's name in `text` ("Prediction: YES", "confidence": 70), by field, in order."""
    fields = schema_fields(schema)
    words = {name: r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", shape.key))) for name, shape in fields.items()}
    groups = "|".join(f"(?P<{name}>{words[name]})" for name in sorted(words, key=lambda name: (-len(name), name)))
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

    A number that may be a share of 1 is noted, if it is the only statement.

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
                notes.shares |= inner.shares
    if any(reading != readings[0] for reading in readings):
        raise UnreadableError(f"stated as {' and as '.join(shorten(str(reading), 20) for reading in readings[:3])}")
    return readings[0] if readings else None
