"""Look up passages of statements in a record.

A passage is `verbatim`, `altered` (similar words occur) or `not locatable`, which does not mean
that it is false.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import chain, islice
from typing import NamedTuple

from moot.analyses.record_check.passages import FIGURE, Passage, figures_of_record
from moot.core.text_words import Word, split_words

VERBATIM, ALTERED, NOT_LOCATABLE = "verbatim", "altered", "not locatable"
RESULTS = (VERBATIM, ALTERED, NOT_LOCATABLE)
MIN_SIMILARITY = 0.75
CONTEXT_WORDS = 4
"""Words on each side of a figure that identify it in the record."""
MAX_WORDS = 200
"""Words of a quotation that are compared, which bounds the time for hostile texts."""
MAX_PLACES = 64
"""The most places of two words that are compared, half of them in the texts of one speaker."""
_MARK = re.compile(r"\[[^\[\]]{0,80}\]|\.\.\.|…")
_Place = tuple[int, int]
"""The number of a text, and of a word in it."""


class Match(NamedTuple):
    """The result of a passage, the number of the text that holds it (-1: none), and its words."""

    result: str
    text_number: int = -1
    words: str = ""


class _Text(NamedTuple):
    text: str
    words: Sequence[Word]
    forms: Sequence[str]


class Record:
    """The words and figures of the texts in which passages are looked up.

    Texts are added one by one. An index of the places of each word and of two words in a row finds
    a passage, so that the time grows with the words and not with their square.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: list[_Text] = []
        # by what is sought, then by speaker, and figures also by unit
        self._places = defaultdict[tuple[str, ...], dict[str | None, list[_Place]]](dict)
        self._figures = defaultdict[Decimal | None, dict[tuple[str | None, ...], Match]](dict)
        for text in texts:
            self.add(text)

    def add(self, text: str, speaker: str | None = None) -> None:
        """Add a text; passages of its speaker are not looked up in it."""
        number, words = len(self._texts), split_words(text)
        forms = [word.form for word in words]
        self._texts.append(_Text(text, words, forms))
        for place, gram in chain(_grams(forms, 1), _grams(forms, 2)):
            places = self._places[gram].setdefault(speaker, [])
            if len(places) < MAX_PLACES // 2:  # hostile texts repeat words
                places.append((number, place))
        for figure in figures_of_record(text):
            matches = self._figures[figure.value]
            matches.setdefault((speaker, figure.unit), Match(VERBATIM, number, figure.text))

    def check(self, passage: Passage, statement: Sequence[Word], speaker: str = "") -> Match:
        """Look up a passage of a statement, which is given as its words.

        A figure is `altered` if the words around it occur in the record with another value. The
        parts of a quotation around an ellipsis or a bracket are looked up one by one. Texts of
        `speaker` are no record.
        """
        if passage.kind == FIGURE:
            for (author, unit), match in self._figures.get(passage.value, {}).items():
                is_equal = unit == passage.unit or "" in (unit, passage.unit)
                if author != speaker and is_equal:
                    return match
            first = bisect_left(statement, passage.start, key=lambda word: word.start)
            last = bisect_left(statement, passage.end, key=lambda word: word.start)
            context = statement[max(0, first - CONTEXT_WORDS) : last + CONTEXT_WORDS]
            return self._check_words(context, speaker)
        parts = [split_words(part)[:MAX_WORDS] for part in _MARK.split(passage.text)]
        matches = [self._check_words(words, speaker) for words in parts if words]
        # the worst part decides, then the longest
        return max(
            matches or [Match(NOT_LOCATABLE)],
            key=lambda match: (RESULTS.index(match.result), len(match.words)),
        )

    def _check_words(self, words: Sequence[Word], speaker: str) -> Match:
        """Look up words in their order, or else the most similar words of one text.

        These are where most pairs of successive words occur at the same distance from each other
        as in the passage.
        """
        forms = [word.form for word in words]
        starts = Counter[_Place]()
        for offset, gram in _grams(forms, min(2, len(forms))):
            starts.update((number, place - offset) for number, place in self._find(gram, speaker))
        if not starts:
            return Match(NOT_LOCATABLE)
        [((number, start), _)] = starts.most_common(1)
        text, start = self._texts[number], max(0, start)
        window = text.forms[start : start + len(forms)]
        matcher = SequenceMatcher(None, window, forms, autojunk=False)
        equal_words = sum(block.size for block in matcher.get_matching_blocks())
        if equal_words < MIN_SIMILARITY * len(forms):
            return Match(NOT_LOCATABLE)
        result = VERBATIM if equal_words == len(forms) else ALTERED
        last = text.words[start + len(window) - 1]
        return Match(result, number, text.text[text.words[start].start : last.end])

    def _find(self, gram: tuple[str, ...], speaker: str) -> Iterator[_Place]:
        """Yield the places of some words in the texts of others."""
        by_speaker = self._places.get(gram, {}).items()
        places = [places for author, places in by_speaker if author != speaker]
        return islice(chain.from_iterable(places), MAX_PLACES)


def _grams(forms: Sequence[str], size: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each row of some words with its place."""
    for place in range(len(forms) - size + 1):
        yield place, tuple(forms[place : place + size])
