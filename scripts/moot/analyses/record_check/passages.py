"""Quotations and figures of a statement, and whether a record holds them.

A quotation is compared as normalised words; a number by its value. A passage is `verbatim`,
`altered` (words much like it occur) or `not locatable`. The last never means that it is false.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from functools import cached_property

QUOTATION, FIGURE = "quotation", "figure"
VERBATIM, ALTERED, NOT_LOCATABLE = "verbatim", "altered", "not locatable"
MIN_QUOTED_WORDS = 3
"""Shorter passages in quotation marks are words spoken of, not quotations."""
MIN_SIMILARITY = 0.75
MAX_WORDS = 200
"""Words of a quotation that are compared, so that hostile texts take no long time."""
MAX_ANCHORS = 40
_STRAIGHT = re.compile(r"(?<![\w\"])\"([^\"\s](?:[^\"]{0,3998}[^\"\s])?)\"(?![\w\"])")
OPENING_MARKS, CLOSING_MARKS = "“«「", "”»」"
_WORD = re.compile(r"[一-鿿]|\d+(?:[.,]\d+)*|[^\W\d_一-鿿]+(?:'[^\W\d_]+)*")
_NUMBER = re.compile(r"(?<![\w.])\d{1,30}(?:,\d{3}){0,10}(?:\.\d{1,30})?(?![\w]|\.\d)")
_MARK = re.compile(r"\[[^\[\]]{0,80}\]|\.\.\.|…")


@dataclass(frozen=True, slots=True)
class Passage:
    """A quotation or figure of a statement.

    Attributes:
        kind: `QUOTATION` or `FIGURE`.
        text: as the statement writes it.
        start, end: its place in the statement.
    """

    kind: str
    text: str
    start: int
    end: int


def normalised_words(text: str) -> list[str]:
    """The words of a text without case, accents of typography and punctuation.

    >>> normalised_words("The “Court’s” re-\\u00adport")
    ['the', "court's", 're', 'port']
    """
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
    text = text.replace("’", "'").replace("‘", "'")
    return _WORD.findall(text.casefold())


def number_value(text: str) -> Decimal | None:
    """The value of a number; None where it cannot be read."""
    try:
        return Decimal(text.replace(",", "")).normalize()
    except InvalidOperation:
        return None


def find_passages(text: str) -> Iterator[Passage]:
    """The quotations of a statement, then its figures outside of them."""
    spans: list[tuple[int, int]] = []
    for start, end in _quoted_spans(text):
        quotation = text[start + 1 : end - 1]
        if len(normalised_words(quotation)) >= MIN_QUOTED_WORDS:
            spans.append((start, end))
            yield Passage(QUOTATION, quotation, start, end)
    for match in _NUMBER.finditer(text):
        is_quoted = any(start <= match.start() < end for start, end in spans)
        if not is_quoted:
            yield Passage(FIGURE, match.group(), *match.span())


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of the outermost quotations, with their marks; unpaired marks are skipped."""
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
    for match in _STRAIGHT.finditer(text):
        start, end = match.span()
        if not any(start < other_end and other < end for other, other_end in spans):
            spans.append((start, end))
    return sorted(spans)


class Record:
    """The texts in which passages are looked up.

    Args:
        texts: the case, the evidence and earlier words of others.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @cached_property
    def words(self) -> list[str]:
        """The normalised words of all texts; a blank between two texts."""
        words: list[str] = []
        for text in self.texts:
            words += [*normalised_words(text), ""]
        return words

    @cached_property
    def joined_words(self) -> str:
        return f" {' '.join(self.words)} "

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, []).append(place)
        return places

    @cached_property
    def _numbers(self) -> set[Decimal | None]:
        numbers: set[Decimal | None] = set()
        for text in self.texts:
            numbers |= {number_value(match) for match in _NUMBER.findall(text)}
        return numbers

    def check(self, passage: Passage) -> str:
        """Whether the record holds a passage: `verbatim`, `altered` or `not locatable`.

        A figure is never `altered`: another number is another number. Parts of a quotation around
        an ellipsis or a bracket are looked up one by one.
        """
        if passage.kind == FIGURE:
            has_value = number_value(passage.text) in self._numbers
            return VERBATIM if has_value else NOT_LOCATABLE
        parts = [normalised_words(part)[:MAX_WORDS] for part in _MARK.split(passage.text)]
        results = [self._check_words(part) for part in parts if part]
        for result in (NOT_LOCATABLE, ALTERED):
            if result in results:
                return result
        return VERBATIM

    def _check_words(self, words: list[str]) -> str:
        if f" {' '.join(words)} " in self.joined_words:
            return VERBATIM
        return ALTERED if self._similarity(words) >= MIN_SIMILARITY else NOT_LOCATABLE

    def _similarity(self, words: list[str]) -> float:
        """The similarity of a similar passage of as many words around the rarest ones; the search
        ends at one that is similar enough.
        """
        recorded_places = [place for place, word in enumerate(words) if word in self._places]
        rarest = sorted(recorded_places, key=lambda place: len(self._places[words[place]]))
        similarity = 0.0
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(words)
        for offset in rarest[:3]:
            for place in self._places[words[offset]][:MAX_ANCHORS]:
                start = max(0, place - offset)
                matcher.set_seq1(self.words[start : start + len(words)])
                if matcher.quick_ratio() > similarity:
                    similarity = max(similarity, matcher.ratio())
                if similarity >= MIN_SIMILARITY:
                    return similarity
        return similarity
