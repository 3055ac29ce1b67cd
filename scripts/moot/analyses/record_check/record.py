"""Look up passages of statements in a record.

A passage is `verbatim`, `altered` (similar words occur) or `not locatable`, which does not mean
that it is false.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from moot.core.checked_passages import (
    FIGURES,
    Passage,
    Word,
    find_figures,
    number_words,
    recorded_keys,
    sought_keys,
    split_words,
)

VERBATIM, ALTERED, NOT_LOCATABLE = "verbatim", "altered", "not locatable"
RESULTS = (VERBATIM, ALTERED, NOT_LOCATABLE)
MIN_SIMILARITY = 0.75
CONTEXT_WORDS = 4
"""Words on each side of a figure that identify it in the record."""
MAX_WORDS = 200
"""Words of a quotation that are compared, which bounds the time for hostile texts."""
_MARK = re.compile(r"\[[^\[\]]{0,80}\]|\.\.\.|…")


@dataclass(frozen=True, slots=True)
class Match:
    """The place of a passage in a record.

    Attributes:
        result: one of `RESULTS`.
        text_number: which text of the record holds it; -1 for none.
        words: the words of the record.
    """

    result: str
    text_number: int = -1
    words: str = ""


NO_MATCH = Match(NOT_LOCATABLE)


class Record:
    """The texts in which passages are looked up: the case with its evidence, and earlier words of
    other speakers.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @cached_property
    def _words(self) -> list[tuple[int, Word]]:
        """Each word with the number of its text. An empty word ends each text."""
        words: list[tuple[int, Word]] = []
        for number, text in enumerate(self.texts):
            words += [(number, word) for word in [*split_words(text), Word("", 0, 0)]]
        return words

    @cached_property
    def _forms(self) -> list[str]:
        return [word.form for _, word in self._words]

    @cached_property
    def _distinct_forms(self) -> frozenset[str]:
        return frozenset(self._forms)

    @cached_property
    def _joined_forms(self) -> str:
        return f" {' '.join(self._forms)} "

    @cached_property
    def _figures(self) -> dict[tuple[str, object], Match]:
        figures: dict[tuple[str, object], Match] = {}
        for number, text in enumerate(self.texts):
            for figure in [*find_figures(text), *number_words(text)]:
                for key in recorded_keys(figure):
                    figures.setdefault(key, Match(VERBATIM, number, figure.text))
        return figures

    def check(self, passage: Passage, statement: Sequence[Word]) -> Match:
        """Look up a passage of a statement.

        A figure is `altered` if the words around it occur in the record with another value. The
        parts of a quotation around an ellipsis or a bracket are looked up one by one.

        Args:
            passage: of the statement.
            statement: its words.
        """
        if passage.kind in FIGURES:
            matches = [self._figures[key] for key in sought_keys(passage) if key in self._figures]
            return matches[0] if matches else self._check_context(passage, statement)
        matches = []
        for part in _MARK.split(passage.text):
            forms = [word.form for word in split_words(part)[:MAX_WORDS]]
            if forms:
                matches.append(self._check_forms(forms))
        return max(matches, key=_rank, default=NO_MATCH)

    def _check_context(self, passage: Passage, statement: Sequence[Word]) -> Match:
        first = bisect_left(statement, passage.start, key=lambda word: word.start)
        last = bisect_left(statement, passage.end, key=lambda word: word.start)
        context = statement[max(0, first - CONTEXT_WORDS) : last + CONTEXT_WORDS]
        return self._check_forms([word.form for word in context])

    def _check_forms(self, forms: list[str]) -> Match:
        place = self._joined_forms.find(f" {' '.join(forms)} ")
        if place >= 0:
            return self._match(VERBATIM, self._joined_forms.count(" ", 0, place), len(forms))
        if sum(form in self._distinct_forms for form in forms) < MIN_SIMILARITY * len(forms):
            return NO_MATCH
        matcher = SequenceMatcher(None, self._forms, forms, autojunk=False)
        block = matcher.find_longest_match()
        start = max(0, block.a - block.b)
        matcher.set_seq1(self._forms[start : start + len(forms)])
        is_similar = matcher.ratio() >= MIN_SIMILARITY
        return self._match(ALTERED, start, len(forms)) if is_similar else NO_MATCH

    def _match(self, result: str, start: int, length: int) -> Match:
        number, first = self._words[start]
        words = [word for text, word in self._words[start : start + length] if text == number]
        last = words[-1] if words[-1].form or len(words) == 1 else words[-2]
        return Match(result, number, self.texts[number][first.start : last.end])


def _rank(match: Match) -> tuple[int, int]:
    """The rank among parts of a quotation: the worst result counts, then the longest words."""
    return RESULTS.index(match.result), len(match.words)
