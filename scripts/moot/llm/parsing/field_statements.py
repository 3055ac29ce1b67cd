"""What words state about the fields of a form: "Prediction: YES", "confidence": 70."""

import re

from pydantic import BaseModel

from moot.core.types import Json
from moot.llm.parsing.notes import Notes
from moot.llm.parsing.plain_text import EchoError, UnreadableError, shorten
from moot.llm.parsing.schema import Shape, schema_fields
from moot.llm.parsing.values import read_value

_FIELD_START = (
    r"(?:[\"'“‘](?=[\w\s-]{1,60}[\"'”’])"
    r"|(?:^|[\n{,;.|(\[。，；、])(?:[-*#>•|"
    r" \t_`\"'“]|\d{1,2}[.)]|(?:my|the|our|final|overall)\b){0,40}+)"
)
_FIELD_NAME_END = (
    r"[\"'“”‘’*_`]*(?:\s(?:level|score|rating))?(?:\s?[(（][^()\n]{0,60}[)）])?[\"'“”‘’*_` \t]*"
)
_SEPARATOR = r"(?:[:=：＝|]|->|=>|→)"


def find_statements(text: str, schema: type[BaseModel]) -> dict[str, list[str]]:
    """Return the texts that follow each field's name in `text`, by field, in order.

    Examples are "Prediction: YES" and "confidence": 70.
    """
    fields = schema_fields(schema)
    words = {
        name: r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", shape.key)))
        for name, shape in fields.items()
    }
    groups = "|".join(
        f"(?P<{name}>{words[name]})" for name in sorted(words, key=lambda name: (-len(name), name))
    )
    pattern = re.compile(
        rf"{_FIELD_START}(?:{groups}){_FIELD_NAME_END}{_SEPARATOR}[*_`]*", re.IGNORECASE
    )
    text = _split_fields(text, "|".join(words.values()))
    matches = list(pattern.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    statements: dict[str, list[str]] = {}
    for match, end in zip(matches, ends, strict=False):
        statements.setdefault(str(match.lastgroup), []).append(text[match.end() : end])
    return statements


def _split_fields(text: str, names: str) -> str:
    """Return `text` with a break between fields on one line: "Prediction: YES Confidence: 70"."""
    field_name = rf"(?:{names})(?:\s(?:level|score))?\s?[:：]"
    pattern = rf"\b({field_name}[ \t]*\S+(?: \S+)?) +(?={field_name})"
    return re.sub(pattern, r"\1\n", text, flags=re.IGNORECASE)


def first_line(statement: str) -> str:
    """Return the quoted text of a statement, or its first line that is not empty."""
    text = statement.strip().strip("*_`").strip()
    if quoted := re.match(r"([\"'“‘])(.*?)([\"'”’])(?=\s*(?:[,;}\]\n]|$))", text, re.DOTALL):
        return quoted.group(2)
    return text.split("\n", 1)[0]


def read_agreed(shape: Shape, statements: list[str], notes: Notes | None = None) -> Json:
    """Return the common value of all `statements`; None if there are none.

    Statements that only repeat the choice are ignored. A single number without a scale is noted.

    Raises:
        UnreadableError: a statement cannot be read, or two differ.
    """
    readings: list[Json] = []
    for statement in statements:
        inner = Notes()
        try:
            readings.append(read_value(shape, first_line(statement), inner))
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
