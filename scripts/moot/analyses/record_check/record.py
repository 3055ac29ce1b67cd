"""Look up passages of statements in a record.

A passage is `verbatim`, `altered` (similar words occur) or `not locatable`, which does not mean
that it is false.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from moot.analyses.record_check.passages import FIGURES, Passage, figure_keys, sought_keys
from moot.core.text_words import Word, split_words

VERBATIM, ALTERED, NOT_LOCATABLE = "verbatim", "altered", "not locatable"
RESULTS = (VERBATIM, ALTERED, NOT_LOCATABLE)
MIN_SIMILARITY = 0.75
CONTEXT_WORDS = 4
"""Words on each side of a figure that identify it in the record."""
MAX_WORDS = 200
"""Words of a quotation that are compared, which bounds the time for hostile texts."""
GRAM_SIZES = (3, 2, 1)
"""The numbers of words in a row whose places are noted."""
MAX_PLACES, MAX_PLACES_OF_SPEAKER = 64, 32
"""The most noted places of the same words, in all texts and in those of one speaker."""
_MARK = re.compile(r"\[[^\[\]]{0,80}\]|\.\.\.|…")


class Match(NamedTuple):
    """The result of a passage, the number of the text that holds it (-1: none), and its words."""

    result: str
    text_number: int = -1
    words: str = ""


class _Block(NamedTuple):
    """A row of words that begins at a place of the record and at an offset of a passage."""

    place: int
    offset: int
    length: int


class Record:
    """The words and figures of the texts in which passages are looked up.

    Texts are added one by one. An index of the places of three words in a row finds a passage, so
    that the time grows with the words and not with their square.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts: list[str] = []
        self._speakers: list[str | None] = []
        self._words: list[tuple[int, Word]] = []
        self._forms: list[str] = []
        self._ends: list[int] = []
        self._places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._figures: defaultdict[tuple[str, object], list[Match]] = defaultdict(list)
        for text in texts:
            self.add(text)

    def add(self, text: str, speaker: str | None = None) -> None:
        """Add a text; passages of its speaker are not looked up in it."""
        number, start = len(self.texts), len(self._forms)
        self.texts.append(text)
        self._speakers.append(speaker)
        words = split_words(text)
        self._words += [(number, word) for word in words]
        self._forms += [word.form for word in words]
        self._ends.append(len(self._forms))
        for size in GRAM_SIZES:
            for place in range(start, len(self._forms) - size + 1):
                self._note_place(tuple(self._forms[place : place + size]), place, speaker)
        for key, figure_words in figure_keys(text):
            matches = self._figures[key]
            if all(self._speakers[match.text_number] != speaker for match in matches[:2]):
                matches.append(Match(VERBATIM, number, figure_words))

    def _note_place(self, gram: tuple[str, ...], place: int, speaker: str | None) -> None:
        """Note a place of some words, unless many are noted; hostile texts repeat words."""
        places = self._places[gram]
        if len(places) < MAX_PLACES:
            own_places = sum(self._speaker_at(noted) == speaker for noted in places)
            if own_places < MAX_PLACES_OF_SPEAKER:
                places.append(place)

    def _speaker_at(self, place: int) -> str | None:
        return self._speakers[self._words[place][0]]

    def check(
        self, passage: Passage, statement: Sequence[Word], speaker: str | None = None
    ) -> Match:
        """Look up a passage of a statement, which is given as its words.

        A figure is `altered` if the words around it occur in the record with another value. The
        parts of a quotation around an ellipsis or a bracket are looked up one by one. Texts of
        `speaker` are no record.
        """
        if passage.kind in FIGURES:
            for key in sought_keys(passage):
                for match in self._figures.get(key, ()):
                    if speaker is None or self._speakers[match.text_number] != speaker:
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

    def _check_words(self, words: Sequence[Word], speaker: str | None) -> Match:
        """Look up words in their order, or else the most similar words of the record."""
        forms = [word.form for word in words]
        block = self._find_longest_block(forms, speaker)
        if block is None:
            return Match(NOT_LOCATABLE)
        if block.length == len(forms):
            return self._match(VERBATIM, block.place, len(forms))
        text_start, text_end = self._text_ends(block.place)
        start = max(text_start, block.place - block.offset)
        window = self._forms[start : min(text_end, start + len(forms))]
        matcher = SequenceMatcher(None, window, forms, autojunk=False)
        equal_words = sum(block.size for block in matcher.get_matching_blocks())
        if equal_words < MIN_SIMILARITY * len(forms):
            return Match(NOT_LOCATABLE)
        return self._match(ALTERED, start, len(forms))

    def _find_longest_block(self, forms: Sequence[str], speaker: str | None) -> _Block | None:
        """Return the longest row of words that the record has as well, the first of equal ones.

        Three quarters of a passage's words contain two in a row, so that a single word is sought
        for a passage of one word alone.
        """
        for size in GRAM_SIZES if len(forms) > 1 else (1,):
            blocks: dict[int, _Block] = {}
            for offset in range(len(forms) - size + 1):
                for place in self._places.get(tuple(forms[offset : offset + size]), ()):
                    known = blocks.get(place - offset)
                    is_known = known and place < known.place + known.length
                    is_own = speaker is not None and self._speaker_at(place) == speaker
                    if not is_known and not is_own:
                        block = self._extend(forms, place, offset)
                        if not known or block.length > known.length:
                            blocks[place - offset] = block
            if blocks:
                return min(blocks.values(), key=lambda block: (-block.length, block.place))
        return None

    def _extend(self, forms: Sequence[str], place: int, offset: int) -> _Block:
        """Return the longest row of equal words from a place on, within its text."""
        text_end = self._text_ends(place)[1]
        length = 0
        while (
            place + length < text_end
            and offset + length < len(forms)
            and self._forms[place + length] == forms[offset + length]
        ):
            length += 1
        return _Block(place, offset, length)

    def _text_ends(self, place: int) -> tuple[int, int]:
        """Return where the text of a place starts and ends, in words."""
        number = self._words[place][0]
        return (self._ends[number - 1] if number else 0), self._ends[number]

    def _match(self, result: str, start: int, length: int) -> Match:
        """Return the place of words that start in one text, up to the end of this text."""
        number, first = self._words[start]
        last = min(start + length, self._ends[number]) - 1
        return Match(result, number, self.texts[number][first.start : self._words[last][1].end])
