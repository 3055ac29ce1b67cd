"""The words of a text, without case and typography."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_LETTERS = r"[^\W\d_一-鿿]+"
_WORD = re.compile(
    rf"[一-鿿]|\d+(?:[.,]\d+)*|{_LETTERS}(?=[nN]['’][tT]\b)|{_LETTERS}(?:\u00ad+{_LETTERS})*"
)
_CONTRACTION = re.compile(r"\w['’]\w|\w(?=[nN]['’][tT]\b)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word without case and typography, with its position in a text."""

    form: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Return the words of a text without punctuation.

    Each Chinese character is a word. So is each part of a contraction, since some texts write the
    parts separately.

    >>> [word.form for word in split_words("The “Court’s” re-\\u00adport of 1,250")]
    ['the', 'court', 's', 're', 'port', 'of', '1250']
    """
    return [Word(_normal_form(match[0]), *match.span()) for match in _WORD.finditer(text)]


def count_words(text: str) -> int:
    """Return the number of words of a text; a contraction is one word."""
    return len(split_words(text)) - len(_CONTRACTION.findall(text))


def _normal_form(word: str) -> str:
    form = unicodedata.normalize("NFKC", word).casefold()
    form = form.replace("\u00ad", "")
    return f"{number_value(form):f}" if number_value(form) is not None else form


def number_value(text: str) -> Decimal | None:
    """Return the value of a number; None if it cannot be read."""
    try:
        return Decimal(text.replace(",", "")).normalize() if text[0].isdigit() else None
    except InvalidOperation:
        return None
