"""Passages of a statement that can be checked: quotations, authorities, dates, amounts, numbers.

They are looked up in the record of the debate.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter

from moot.core.text_words import count_words, number_value

QUOTATION, AUTHORITY, DATE, AMOUNT, NUMBER = "quotation", "authority", "date", "amount", "number"
FIGURES = (DATE, AMOUNT, NUMBER)
MIN_QUOTED_WORDS = 3
"""Shorter passages in quotation marks are mentioned words, not quotations."""
ANY_NUMBER = "any number"
OPENING_MARKS, CLOSING_MARKS = "“«「『", "”»」』"
_MARKS = re.compile(f"[{OPENING_MARKS}{CLOSING_MARKS}]")
_STRAIGHT = re.compile(r"(?<![\w\"])\"([^\"\s](?:[^\"]{0,3998}[^\"\s])?)\"(?![\w\"])")
_DIGITS = r"\d{1,30}(?:,\d{3}(?!\d)){0,10}(?:\.\d{1,30})?"
_NUMBER = re.compile(
    rf"(?<![\w.\[])(?!(?<=\d,)\d{{3}}(?!\d))({_DIGITS})(?![a-zA-Z_]|\.?\d|,\d{{3}}(?!\d))"
)
_MARKER = re.compile(r"^[ \t]*\d{1,2}[.)](?=\s)|\[\d{1,4}(?:, ?\d{1,4})*\]", re.MULTILINE)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8}
_UNITS = {
    "$": "\\$|US\\$|USD|dollars?",
    "€": "€|EUR|euros?",
    "£": "£|GBP|pounds?",
    "¥": "¥|￥|RMB|CNY|yuan|元",
    "%": "%|％|percent|per cent",
}
_ANY_UNIT = "|".join(_UNITS.values())
_AMOUNT = re.compile(
    rf"(?<![\w.])(?P<sign>US\$|[$€£¥￥]|USD|EUR|GBP|RMB|CNY)?\s?(?P<digits>{_DIGITS})"
    rf"(?:[\s-]?(?P<scale>{'|'.join(_SCALES)}))?(?:[\s-]?(?P<unit>{_ANY_UNIT})(?![a-zA-Z]))?"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"\b{_DAY}\s(?:of\s)?{_MONTH},?\s(?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_MONTH}\s(?:{_DAY},?\s)?(?P<year>\d{{4}})\b"),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(r"(?P<year>\d{4})年(?:(?P<month>\d{1,2})月)(?:(?P<day>\d{1,2})日)?"),
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
_ORDINALS = str.maketrans("年月日%％$€£", " " * 8)
_NUMBER_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMBER_WORDS += ["eleven", "twelve"]
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a statement that a record can confirm.

    Attributes:
        kind: `QUOTATION`, `AUTHORITY`, `DATE`, `AMOUNT` or `NUMBER`.
        text: as the statement writes it, without quotation marks.
        start, end: its place in the statement, with quotation marks.
        key: the unit and value of a figure; figures with equal keys are equal.
    """

    kind: str
    text: str
    start: int
    end: int
    key: tuple[str, object] = ("", None)


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
    quotations = _marked_quotations(text)
    straight = [Passage(QUOTATION, match[1], *match.span()) for match in _STRAIGHT.finditer(text)]
    quotations += _outside(quotations, straight)
    passages = [quote for quote in quotations if count_words(quote.text) >= MIN_QUOTED_WORDS]
    for pattern in _AUTHORITIES:
        matches = [Passage(AUTHORITY, match[0], *match.span()) for match in pattern.finditer(text)]
        passages += _outside(passages, matches)
    passages += _outside(passages, find_figures(text))
    return sorted(passages, key=attrgetter("start"))


def find_figures(text: str) -> list[Passage]:
    """Return the dates, amounts and numbers of a text, without markers of lists and evidence."""
    figures: list[Passage] = []
    for pattern in _DATES:
        figures += _outside(figures, map(_date, pattern.finditer(text)))
    amounts = [_amount(match) for match in _AMOUNT.finditer(text) if match["sign"] or match["unit"]]
    figures += _outside(figures, amounts)
    markers = [Passage(NUMBER, match[0], *match.span()) for match in _MARKER.finditer(text)]
    return figures + _outside([*figures, *markers], map(_number, _NUMBER.finditer(text)))


def figure_keys(text: str) -> Iterator[tuple[tuple[str, object], str]]:
    """Yield the keys by which each figure of a record is found, with the words of the figure.

    They are the keys of the figure and of its numbers. A date is also found by its month.
    Numbers from two to twelve may be written as words.
    """
    for figure in find_figures(text):
        yield figure.key, figure.text
        if isinstance(figure.key[1], tuple):
            yield (DATE, (*figure.key[1][:2], None)), figure.text
        if figure.kind == AMOUNT:
            yield (ANY_NUMBER, figure.key[1]), figure.text
        for digits in _NUMBER.findall(figure.text.translate(_ORDINALS)):
            yield (ANY_NUMBER, number_value(digits)), figure.text
    for match in _NUMBER_WORD.finditer(text):
        value = Decimal(2 + _NUMBER_WORDS.index(match[0].lower()))
        yield (NUMBER, value), match[0]


def sought_keys(figure: Passage) -> list[tuple[str, object]]:
    """Return the keys by which a figure of a statement is looked up.

    An amount is also looked up without its unit.
    """
    if figure.kind == NUMBER:
        return [(ANY_NUMBER, figure.key[1]), figure.key]
    return [figure.key, (NUMBER, figure.key[1])]


def _date(match: "re.Match[str]") -> Passage:
    parts = match.groupdict()
    name = parts.get("name")
    month = _MONTHS.index(name) + 1 if name else int(parts["month"])
    day = int(parts["day"]) if parts.get("day") else None
    return Passage(DATE, match[0], *match.span(), (DATE, (int(parts["year"]), month, day)))


def _number(match: "re.Match[str]") -> Passage:
    return Passage(NUMBER, match[0], *match.span(), (NUMBER, number_value(match[0])))


def _amount(match: "re.Match[str]") -> Passage:
    value = number_value(match["digits"]) or Decimal(0)
    value = (value * _SCALES.get(match["scale"] or "", 1)).normalize()
    spelling = match["unit"] or match["sign"]
    unit = next(sign for sign, names in _UNITS.items() if re.fullmatch(names, spelling))
    return Passage(AMOUNT, match[0], *match.span(), (unit, value))


def _outside(passages: list[Passage], candidates: Iterable[Passage]) -> list[Passage]:
    """Return the candidates that overlap no passage."""
    free: list[Passage] = []
    for candidate in candidates:
        start, end = candidate.start, candidate.end
        if not any(start < passage.end and passage.start < end for passage in passages):
            free.append(candidate)
    return free


def _marked_quotations(text: str) -> list[Passage]:
    """Return the outermost quotations between opening and closing marks.

    Unpaired marks are skipped.
    """
    quotations: list[Passage] = []
    open_marks: list[int] = []
    for mark in _MARKS.finditer(text):
        if mark[0] in OPENING_MARKS:
            open_marks.append(mark.start())
        elif open_marks:
            start = open_marks.pop()
            while quotations and quotations[-1].start > start:
                quotations.pop()
            quotations.append(Passage(QUOTATION, text[start + 1 : mark.start()], start, mark.end()))
    return quotations
