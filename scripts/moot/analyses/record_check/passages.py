"""Passages of a statement that can be checked: quotations, authorities and figures.

They are looked up in the record of the debate.
"""

import json
import re
from calendar import month_name
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter

from moot.core.text_words import count_words, number_value

QUOTATION, AUTHORITY, FIGURE = "quotation", "authority", "figure"
MIN_QUOTED_WORDS = 3
"""Shorter passages in quotation marks are mentioned words, not quotations."""
_QUOTED = re.compile(
    r"“([^“”]+)”|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』"
    r"|(?<![\w\"])\"([^\"\s](?:[^\"]{0,3998}[^\"\s])?)\"(?![\w\"])"
)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8}
# per cent, a sign of currency as Unicode has them, or a month; words of a language are no unit
_MONTHS = "|".join(f"{name[:3]}(?:{name[3:]}|[a-z])?" for name in month_name[1:])  # or Sept.
_UNIT = rf"[$%¢-¥₠-⃏]|(?:{_MONTHS})(?![a-z])"
_FIGURE = re.compile(
    r"^[ \t]*\d{1,2}[.)](?=\s)|\[\d{1,4}(?:, ?\d{1,4})*\]|"  # markers have no digits
    rf"(?:(?P<before>{_UNIT})\.?[^\S\n]?)?"
    r"(?<![A-Za-z0-9_.\[])(?!(?<=\d,)\d{3}(?!\d))"
    r"(?P<digits>\d{1,30}(?:,\d{3}(?!\d)){0,10}(?:\.\d{1,30})?)"
    rf"(?![a-zA-Z_]|\.?\d|,\d{{3}}(?!\d))(?:[\s-]?(?P<scale>{'|'.join(_SCALES)}))?"
    rf"(?=\s?(?P<after>{_UNIT})|)",  # not consumed: in 12 May 1998 the month is that of both
    re.MULTILINE,
)
_NAME = r"[A-Z][\w.'’&-]*\w\.?"
_AUTHORITIES = (
    re.compile(
        rf"\b(?!(?:In|See|Under|As|But|And|Also|Compare|Cf|That|The)\b){_NAME}"
        rf"(?: (?:of |the |& )?{_NAME}){{0,4}} v\.? {_NAME}(?: (?:of |the |& )?{_NAME}){{0,4}}"
    ),
    re.compile(r"\b\d{1,4} (?:[A-Z][A-Za-z]{0,5}\. ?){1,4}(?:\d(?:d|th) )?\d{1,5}\b"),
    re.compile(r"\b\d{4}-[A-Z]{2,6}-\d{3}\b|[(（]\d{4}[)）]\w{1,20}号"),
    re.compile(
        r"(?:§§?\s?|\b(?:[Ss]ection|[Aa]rticle|Rule|Art\.|Sec\.)\s)\d[\w:-]*(?:\.\d[\w-]*)*"
        r"(?:\(\w{1,4}\))*"
    ),
    re.compile(r"第[\d〇零一二三四五六七八九十百千]{1,8}条(?:之[一二三四])?"),
)
_NUMBER_WORDS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a statement that a record can confirm.

    Attributes:
        kind: `QUOTATION`, `AUTHORITY` or `FIGURE`.
        text: as the statement writes it, without quotation marks.
        start, end: its place in the statement, with quotation marks.
        value, unit: of a figure; figures of equal value are equal unless both have another unit.
    """

    kind: str
    text: str
    start: int
    end: int
    value: Decimal | None = None
    unit: str = ""


def statement_text(text: str, parsed: str | None) -> str:
    """Return the words of a statement, or the text fields of a structured reply."""
    if not text.lstrip().startswith("{"):
        return text
    fields = json.loads(parsed or "null")
    if not isinstance(fields, dict):
        return text
    return "\n".join(value for value in fields.values() if isinstance(value, str))


def find_passages(text: str) -> list[Passage]:
    """Return the passages of a statement in their order, without nested passages."""
    quotations = [
        Passage(QUOTATION, match[match.lastindex or 0], *match.span())
        for match in _QUOTED.finditer(text)
    ]
    passages = [quote for quote in quotations if count_words(quote.text) >= MIN_QUOTED_WORDS]
    for pattern in _AUTHORITIES:
        matches = [Passage(AUTHORITY, match[0], *match.span()) for match in pattern.finditer(text)]
        passages += _outside(passages, matches)
    passages += _outside(passages, find_figures(text))
    return sorted(passages, key=attrgetter("start"))


def find_figures(text: str) -> Iterator[Passage]:
    """Yield the numbers of a text with their scale, without markers of lists and evidence."""
    for match in _FIGURE.finditer(text):
        if match["digits"]:
            value = (number_value(match["digits"]) or 0) * Decimal(_SCALES.get(match["scale"], 1))
            unit = match["before"] or match["after"] or ""
            yield Passage(FIGURE, match[0], *match.span(), value, unit[:3])  # Dec of December


def figures_of_record(text: str) -> Iterator[Passage]:
    """Yield the figures of a record, of which numbers from two to twelve may be words."""
    yield from find_figures(text)
    for match in _NUMBER_WORD.finditer(text):
        value = Decimal(2 + _NUMBER_WORDS.index(match[0].lower()))
        yield Passage(FIGURE, match[0], *match.span(), value)


def _outside(passages: list[Passage], candidates: Iterable[Passage]) -> list[Passage]:
    """Return the candidates that overlap no passage."""
    free: list[Passage] = []
    for candidate in candidates:
        overlaps = (
            passage.start < candidate.end and candidate.start < passage.end for passage in passages
        )
        if not any(overlaps):
            free.append(candidate)
    return free
