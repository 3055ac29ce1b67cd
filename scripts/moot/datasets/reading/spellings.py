"""Words of a column that may be misspelt: spelt nearly like a more frequent word."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

_MIN_WORD_CHARS = 5
"""Shorter words, such as won and not, have too many neighbours."""
_MIN_RATIO = 0.8
_DISTINCTIVE_PARTS = re.compile(r"\d+|[+<>=*#%]|^\W*[-−]|[-−]$")
"""Numbers and signs, which tell labels such as +1 and -1 apart."""


def find_misspelt(rows_by_word: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return each word that is spelt nearly like a more frequent one, with the most frequent such
    word.
    """
    words = sorted(rows_by_word, key=lambda word: -len(rows_by_word[word]))
    misspelt: dict[str, str] = {}
    for position, word in enumerate(words):
        frequent_words = [other for other in words[:position] if other not in misspelt]
        similar_words = [other for other in frequent_words if are_spelt_alike(word, other)]
        if similar_words:
            misspelt[word] = similar_words[0]
    return misspelt


def are_spelt_alike(first: str, second: str) -> bool:
    """Return whether two different words could be one word with typing errors.

    They could if they differ in case, accents, spaces or punctuation alone, or in few letters of a
    long word. Numbers, signs, short words, first letters (as in legal, illegal) and other scripts
    distinguish words.
    """
    if _DISTINCTIVE_PARTS.findall(first) != _DISTINCTIVE_PARTS.findall(second):
        return False
    words, other_words = _plain_words(first), _plain_words(second)
    if not words or not other_words:
        return False
    if "".join(words) == "".join(other_words):
        return True
    return len(words) == len(other_words) and all(map(_is_same_word, words, other_words))


def _plain_words(text: str) -> list[str]:
    """Return the words of a text without case, accents and punctuation."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    visible = "".join(char for char in letters if unicodedata.category(char) not in ("Mn", "Cf"))
    return re.findall(r"[^\W_]+", visible)


def _is_same_word(word: str, other_word: str) -> bool:
    if word == other_word:
        return True
    both = word + other_word
    if min(len(word), len(other_word)) < _MIN_WORD_CHARS or word[0] != other_word[0]:
        return False
    is_latin = both.isascii() and both.isalpha()
    return is_latin and SequenceMatcher(None, word, other_word).ratio() >= _MIN_RATIO
