"""Look up passages of statements in a record.

A passage is `verbatim`, `altered` (similar words occur) or `not locatable`, which does not mean
that it is false.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from operator import itemgetter
from typing import NamedTuple

from moot.core.checked_passages import FIGURES, Passage, Word, figure_keys, sought_keys, split_words

VERBATIM, ALTERED, NOT_LOCATABLE = "verbatim", "altered", "not locatable"
RESULTS = (VERBATIM, ALTERED, NOT_LOCATABLE)
MIN_SIMILARITY = 0.75
CONTEXT_WORDS = 4
"""Words on each side of a figure that identify it in the record."""
MAX_WORDS = 200
"""Words of a quotation that are compared, which bounds the time for hostile texts."""
_MARK = re.compile(r"\[[^\[\]]{0,80}\]|\.\.\.|…")


class Match(NamedTuple):
    """The result of a passage, the number of the text that holds it (-1: none), and its words."""

    result: str
    text_number: int = -1
    words: str = ""


class Record:
    """The words and figures of the texts in which passages are looked up."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._words: list[tuple[int, Word]] = []
        self._figures: dict[tuple[str, object], Match] = {}
        for number, text in enumerate(texts):
            text_words = [*split_words(text), Word("", 0, 0)]  # an empty word ends each text
            self._words += [(number, word) for word in text_words]
            for key, words in figure_keys(text):
                self._figures.setdefault(key, Match(VERBATIM, number, words))
        self._forms = [word.form for _, word in self._words]

    def check(self, passage: Passage, statement: Sequence[Word]) -> Match:
        """Look up a passage of a statement, which is given as its words.

        A figure is `altered` if the words around it occur in the record with another value. The
        parts of a quotation around an ellipsis or a bracket are looked up one by one.
        """
        if passage.kind in FIGURES:
            for key in sought_keys(passage):
                if key in self._figures:
                    return self._figures[key]
            first = bisect_left(statement, passage.start, key=lambda word: word.start)
            last = bisect_left(statement, passage.end, key=lambda word: word.start)
            context = statement[max(0, first - CONTEXT_WORDS) : last + CONTEXT_WORDS]
            return self._check_words(context)
        parts = [split_words(part)[:MAX_WORDS] for part in _MARK.split(passage.text)]
        matches = [self._check_words(words) for words in parts if words] or [Match(NOT_LOCATABLE)]
        # the worst part decides, then the longest
        return max(matches, key=lambda match: (RESULTS.index(match.result), len(match.words)))

    def _check_words(self, words: Sequence[Word]) -> Match:
        """Look up words in their order, or else the most similar words of the record."""
        forms = [word.form for word in words]
        record = f" {' '.join(self._forms)} "
        place = record.find(f" {' '.join(forms)} ")
        if place >= 0:
            return self._match(VERBATIM, record.count(" ", 0, place), len(forms))
        recorded_forms = set(self._forms)
        if sum(form in recorded_forms for form in forms) < MIN_SIMILARITY * len(forms):
            return Match(NOT_LOCATABLE)
        matcher = SequenceMatcher(None, self._forms, forms, autojunk=False)
        block = matcher.find_longest_match()
        number = self._words[block.a][0]
        start = max(bisect_left(self._words, number, key=itemgetter(0)), block.a - block.b)
        end = bisect_right(self._words, number, key=itemgetter(0))
        matcher.set_seq1(self._forms[start : min(end, start + len(forms))])
        equal_words = sum(block.size for block in matcher.get_matching_blocks())
        if equal_words < MIN_SIMILARITY * len(forms):
            return Match(NOT_LOCATABLE)
        return self._match(ALTERED, start, len(forms))

    def _match(self, result: str, start: int, length: int) -> Match:
        """Return the place of words that start in one text, up to the end of this text."""
        number, first = self._words[start]
        ends = [word.end for text, word in self._words[start : start + length] if text == number]
        return Match(result, number, self.texts[number][first.start : max(ends)])
