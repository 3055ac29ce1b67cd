"""The evidence of a case: passages with their sources, which seats may cite by number.

The passages come from the data set; moot does not search for any. They follow the facts in the
case's text, numbered from 1, so that every prompt with the facts also has the passages.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.core.types import Json

HEADINGS: Mapping[str, str] = {
    "en": "Evidence (a passage may be cited by its number, such as [1]):",
    "zh": "证据（可按编号引用，例如[1]）：",
}
"""The line before the passages, by language; English for other languages."""
EXPECTED = 'a JSON list of passages: [{"text": "...", "source": "..."}, ...]'
_NUMBERED_LINE = re.compile(r"^\[(\d+)\] (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of evidence and its source."""

    text: str
    source: str


def read_passages(cell: str) -> tuple[Passage, ...]:
    """Read the passages in a cell; none for a blank one.

    Raises:
        ValueError: the cell is not `EXPECTED`; the message describes the fault.
    """
    if not cell.strip():
        return ()
    try:
        values = json.loads(cell)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    return passages_from(values)


def passages_from(values: Json) -> tuple[Passage, ...]:
    """Check passages that were read from JSON.

    Raises:
        ValueError: they are not `EXPECTED`; the message describes the fault.
    """
    if not isinstance(values, list):
        raise ValueError(f"found {type(values).__name__}, not a list")
    passages: list[Passage] = []
    for number, value in enumerate(values, start=1):
        texts = []
        for key in ("text", "source"):
            text = value.get(key) if isinstance(value, dict) else None
            if not isinstance(text, str) or not text.strip():
                raise ValueError(f"passage {number} has no '{key}'")
            texts.append(" ".join(text.split()))
        passages.append(Passage(*texts))
    return tuple(passages)


def with_evidence(text: str, passages: Sequence[Passage], language: str = "en") -> str:
    """Return the facts, followed by the numbered passages with their sources, one per line.

    >>> print(with_evidence("A horse was lame.", [Passage("It limped.", "vet's letter")]))
    A horse was lame.
    <BLANKLINE>
    Evidence (a passage may be cited by its number, such as [1]):
    [1] It limped. (source: vet's letter)
    """
    if not passages:
        return text
    word = "来源：" if language == "zh" else "source: "
    lines = [
        f"[{number}] {passage.text} ({word}{passage.source})"
        for number, passage in enumerate(passages, start=1)
    ]
    heading = HEADINGS.get(language, HEADINGS["en"])
    return "\n".join([f"{text}\n", heading, *lines])


def count_passages(text: str) -> int:
    """Return the number of passages in a case's text; 0 without evidence."""
    for heading in HEADINGS.values():
        _, mark, evidence = text.rpartition(f"\n{heading}\n")
        if mark:
            numbers = [int(number) for number, _ in _NUMBERED_LINE.findall(evidence)]
            return len(numbers) if numbers == list(range(1, len(numbers) + 1)) else 0
    return 0
