"""Find citations, and replace statutes, dockets, dates, addresses and personal numbers."""

import re
from collections.abc import Iterator

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.legal.citations import find_citations

_PATTERNS = dict(w.read_patterns("references.yaml"))
_DROPPED = _PATTERNS.pop("dropped")
_REPORTER = _PATTERNS.pop("reporters")
WORD_JOINER = "\u2060"
"""Joins the noun of a reference and its lower-case letter until names are replaced.

Otherwise "date A." would not end a sentence.
"""


def format_letter(number: int) -> str:
    """Return the letters of a number: A, B, ..., Z, AA, AB, ...

    >>> [format_letter(1), format_letter(26), format_letter(27)]
    ['A', 'Z', 'AA']
    """
    letters = ""
    while number:
        number, remainder = divmod(number - 1, 26)
        letters = chr(ord("A") + remainder) + letters
    return letters


def cites_cases(sentence: str) -> bool:
    """Return whether a sentence cites a case, a journal or a reporter, or names a case.

    Neither of the two searches finds all citations: eyecite's misses reporters that OCR has broken.
    """
    kinds = {type(citation).__name__ for citation in find_citations(sentence)}
    is_case = not kinds <= {"FullLawCitation", "UnknownCitation"}
    return is_case or _REPORTER.search(sentence) is not None


def iter_references(text: str) -> Iterator[tuple[str, str]]:
    """Iterate over the references of a text, each with its noun ("docket")."""
    for noun, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            yield noun, match[0]


def replace_references(text: str) -> str:
    """Replace statutes, dockets, dates, addresses and personal numbers by a noun and a letter.

    Equal words share a letter. The letter is in lower case and joined to the noun; `show_letters`
    gives it its final form.
    """
    text = _DROPPED.sub("", text)
    for noun, pattern in _PATTERNS.items():
        letters: dict[str, str] = {}
        pieces, position = [], 0
        for match in pattern.finditer(text):
            words = match[0].strip().rstrip(".:;,")
            key = re.sub(r"\s+", " ", words).lower()
            letter = letters.setdefault(key, format_letter(len(letters) + 1).lower())
            preposition = "on " if key.startswith("on ") else ""
            rest = match[0].strip()[len(words) :]
            pieces += [text[position : match.start()], preposition, noun, WORD_JOINER, letter, rest]
            position = match.end()
        text = "".join([*pieces, text[position:]])
    return text


def show_letters(text: str) -> str:
    """Write each reference in its final form: "date A".

    >>> show_letters(replace_references("He left on May 3, 1994."))
    'He left on date A.'
    """
    text = re.sub(rf"({WORD_JOINER}[a-z]{{1,2}}\.?)(?=[A-Z])", r"\1 ", text)
    return re.sub(rf"{WORD_JOINER}([a-z]{{1,2}})", lambda match: f" {match[1].upper()}", text)
