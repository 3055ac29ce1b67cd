"""Spellings of words that a reader takes for the same word."""

import re
import unicodedata

_WHOLE_FLOAT = re.compile(r"([+-]?[0-9]+)\.0+")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters that a reader cannot see."""


def plain_spelling(text: str) -> str:
    """Return a text without differences that a reader cannot see.

    These are spaces around it, repeated and no-break spaces, invisible characters, and accents
    that are characters of their own.

    >>> plain_spelling(" not\u00a0\u200bguilty ")
    'not guilty'
    """
    plain = text if text.isascii() else unicodedata.normalize("NFC", INVISIBLE.sub("", text))
    return " ".join(plain.split())


def canonical_word(word: str) -> str:
    """Return a word in its plain spelling, without `.0`, and truth values in lower case.

    Spreadsheets and pandas write 1.0 for 1 in a column with a gap, and True or TRUE for true.
    """
    stripped = plain_spelling(word)
    match = _WHOLE_FLOAT.fullmatch(stripped)
    if match:
        return match[1]
    folded = stripped.casefold()
    return folded if folded in ("true", "false") else stripped
