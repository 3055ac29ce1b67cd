"""Passages of a statement that can be checked: quotations, authorities, dates, amounts, numbers.

They are looked up in the record of the debate.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from moot.core.text_words import count_words, number_value, split_words

QUOTATION, AUTHORITY, DATE, AMOUNT, NUMBER = "quotation", "authority", "date", "amount", "number"
FIGURES = (DATE, AMOUNT, NUMBER)
MIN_QUOTED_WORDS = 3
"""Shorter passages in quotation marks are mentioned words, not quotations."""
ANY_NUMBER = "any number"
OPENING_MARKS, CLOSING_MARKS = "“«「『", "”»」』"
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
_WORDS_FROM_TWO = [
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
]
_NUMBER_WORDS = {word: Decimal(value) for value, word in enumerate(_WORDS_FROM_TWO, start=2)}


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
    passages: list[Passage] = []
    for start, end in _quoted_spans(text):
        quotation = text[start + 1 : end - 1]
        if count_words(quotation) >= MIN_QUOTED_WORDS:
            passages.append(Passage(QUOTATION, quotation, start, end))
    for pattern in _AUTHORITIES:
        matches = [Passage(AUTHORITY, match[0], *match.span()) for match in pattern.finditer(text)]
        passages += _outside(passages, matches)
    return sorted(
        passages + _outside(passages, find_figures(text)), key=lambda passage: passage.start
    )


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
    for figure in [*find_figures(text), *_number_words(text)]:
        yield figure.key, figure.text
        if figure.kind == DATE and isinstance(figure.key[1], tuple):
            year, month, _ = figure.key[1]
            yield (DATE, (year, month, None)), figure.text
        if figure.kind == AMOUNT:
            yield (ANY_NUMBER, figure.key[1]), figure.text
        for digits in _NUMBER.findall(figure.text.translate(_ORDINALS)):
            yield (ANY_NUMBER, number_value(digits)), figure.text


def sought_keys(figure: Passage) -> list[tuple[str, object]]:
    """Return the keys by which a figure of a statement is looked up.

    An amount is also looked up without its unit.
    """
    if figure.kind == NUMBER:
        return [(ANY_NUMBER, figure.key[1]), figure.key]
    return [figure.key, (NUMBER, figure.key[1])]


def _number_words(text: str) -> Iterator[Passage]:
    """Yield the numbers from two to twelve that a text writes as words."""
    for word in split_words(text):
        if word.form in _NUMBER_WORDS:
            value = (NUMBER, _NUMBER_WORDS[word.form])
            yield Passage(NUMBER, text[word.start : word.end], word.start, word.end, value)


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


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of the outermost quotations, including their marks.

    Unpaired marks are skipped.
    """
    spans: list[tuple[int, int]] = []
    open_marks: list[int] = []
    for place, character in enumerate(text):
        if character in OPENING_MARKS:
            open_marks.append(place)
        elif character in CLOSING_MARKS and open_marks:
            start = open_marks.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, place + 1))
    straight: list[tuple[int, int]] = []
    for match in _STRAIGHT.finditer(text):
        start, end = match.span()
        if not any(start < other_end and other < end for other, other_end in spans):
            straight.append((start, end))
    return sorted(spans + straight)
