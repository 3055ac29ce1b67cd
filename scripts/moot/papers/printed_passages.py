"""Passages of a paper, identified by digests of their letters and digits.

White space, hyphens at line ends, ligatures and quotation marks differ between copies of a paper;
letters and digits do not. Therefore `data/published/prompts.csv` has two digests of each printed
prompt: `sha256` of the words with their punctuation (`moot.papers.wording`), and `letters_sha256`
of the letters and digits, by which a passage is found.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from moot.papers.wording import words_digest

_LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_LINE_END_HYPHEN = re.compile(r"(?<=\w)([-\u2010\u00ad])[ \t]*\n[ \t]*(?=\w)")
_OPENING_MARKS, _CLOSING_MARKS = '[({<\\"“„', '])}>\\"”“'
"""Characters around a printed placeholder that its slot replaces as well."""
_MAX_HYPHENS = 8
"""Maximum number of line-end hyphens that are tried with and without. Further ones are removed."""
_MAX_EDGE_CHARS = 12
_BLANK_LINE_IN_SENTENCE = re.compile(r"(?<=[a-z,])\n(?:[ \t]*\n)+(?=[a-z])")


@dataclass(frozen=True, slots=True)
class PrintedSlot:
    """A placeholder that the paper does not print as `{name}`.

    Attributes:
        name: of the slot.
        start: the number of letters and digits of the passage before it.
        length: the number of letters and digits that the paper prints in its place; 0 for a slot
            after the passage.
    """

    name: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class PassageText:
    """The words of a passage, and whether their punctuation also has the known digest."""

    words: str
    is_exact: bool


def _printed_slots(row: Mapping[str, str]) -> list[PrintedSlot]:
    slots = []
    for text in row["printed_slots"].split():
        name, start, length = re.split("[@+]", text)
        slots.append(PrintedSlot(name, int(start), int(length)))
    return slots


class PaperText:
    """The text of a paper, searched by letters and digits.

    Args:
        text: of the paper.
    """

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFC", text)
        self.letters, self._places = _letters_with_places(self.text)

    def find(self, row: Mapping[str, str]) -> PassageText | None:
        """Return the words of a passage, or None if the text does not contain it.

        `row` is its row of `data/published/prompts.csv`: `sha256` is of the words with their slots,
        `letters` counts the printed letters and digits, `letters_sha256` is of these. If the text
        has the passage several times, the one with the known punctuation is preferred.
        """
        matches = [self._words(row, start) for start in self._starts(row)]
        exact_matches = (match for match in matches if match.is_exact)
        return next(exact_matches, matches[0] if matches else None)

    def _starts(self, row: Mapping[str, str]) -> Iterator[int]:
        """Yield the positions where the passage's letters and digits begin."""
        length = int(row["letters"])
        for start in range(len(self.letters) - length + 1):
            part = self.letters[start : start + length]
            if hashlib.sha256(part.encode()).hexdigest() == row["letters_sha256"]:
                yield start

    def _words(self, row: Mapping[str, str], start: int) -> PassageText:
        """Return the words at a position, if possible in the variant with the known digest."""
        slots, last = _printed_slots(row), self._places[start + int(row["letters"]) - 1]
        body, end = self._fill_slots(slots, start, last + 1)
        leading, trailing = self._edge(self._places[start], -1), self._edge(end - 1, 1)
        tail = "".join(f" {{{slot.name}}}" for slot in slots if not slot.length)
        bodies = list(_resolve_hyphens(body))
        edges = product(range(len(leading) + 1), range(len(trailing) + 1))
        for candidate, (leading_count, trailing_count) in product(bodies, edges):
            words = (
                leading[len(leading) - leading_count :]
                + candidate
                + trailing[:trailing_count]
                + tail
            )
            if words_digest(words) == row["sha256"]:
                return PassageText(_tidy(words), True)
        until_space = re.split(r"\s", trailing)[0]
        return PassageText(_tidy(bodies[0] + until_space + tail), False)

    def _fill_slots(self, slots: list[PrintedSlot], start: int, end: int) -> tuple[str, int]:
        """Return the passage from its first to its last letter with slots, and its end position.

        A slot also replaces the brackets and quotation marks around the printed placeholder. A slot
        without a printed placeholder follows the passage and is left out.
        """
        parts = []
        position = self._places[start]
        for slot in slots:
            if not slot.length:
                continue
            slot_start = self._places[start + slot.start]
            slot_end = self._places[start + slot.start + slot.length - 1] + 1
            while slot_start > position and self.text[slot_start - 1] in _OPENING_MARKS:
                slot_start -= 1
            while slot_end < len(self.text) and self.text[slot_end] in _CLOSING_MARKS:
                slot_end += 1
            parts += [self.text[position:slot_start], f"{{{slot.name}}}"]
            position = slot_end
        parts.append(self.text[position:end])
        return "".join(parts), max(position, end)

    def _edge(self, place: int, step: int) -> str:
        """Return the signs and spaces before (-1) or after (1) a position.

        They end at a letter or digit.
        """
        end = place + step
        while 0 <= end < len(self.text) and not self.text[end].isalnum():
            if abs(end - place) > _MAX_EDGE_CHARS:
                break
            end += step
        return self.text[place + 1 : end] if step > 0 else self.text[end + 1 : place]


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, with ligatures split into letters.

    >>> letters_of("“Arti\ufb01cial intel-\\nligence”, 0-100")
    'Artificialintelligence0100'
    """
    return _letters_with_places(unicodedata.normalize("NFC", text))[0]


def _letters_with_places(text: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in unicodedata.normalize("NFKC", character):
            if letter.isalnum():
                letters.append(letter)
                places.append(place)
    return "".join(letters), places


def _resolve_hyphens(text: str) -> Iterator[str]:
    """Yield the text with each line-end hyphen removed or kept, removed first."""
    pieces = _LINE_END_HYPHEN.split(text.replace("\u00ad\n", "\u2010\n").replace("\u00ad", ""))
    bodies, hyphens = pieces[::2], pieces[1::2]
    choice_count = min(len(hyphens), _MAX_HYPHENS)
    for choice in product(("", "-"), repeat=choice_count):
        joints = [*choice, *[""] * (len(hyphens) - choice_count), ""]
        yield "".join(body + joint for body, joint in zip(bodies, joints, strict=True))


def _tidy(words: str) -> str:
    """Return words in the form of templates.

    Ligatures, indentation and blank lines at the ends are removed.
    """
    for ligature, letters in _LIGATURES.items():
        words = words.replace(ligature, letters)
    lines = [line.rstrip() for line in words.strip().split("\n")]
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    indent = min(indents, default=0)
    text = "\n".join([lines[0], *[line[indent:] for line in lines[1:]]]) + "\n"
    # A PDF separates the lines of a sentence by blank lines at a page's end.
    return _BLANK_LINE_IN_SENTENCE.sub("\n", text)
