"""Text in one plain form, shortened for messages, and the errors of text that cannot be read."""

import re
import unicodedata
from functools import lru_cache

WRAPPING = " \t\r\n\"'`´*_~“”‘’„«»「」『』【】《》()[]{}<>（）|$.,;:!。，；：！、"
CUT = "…"
"""Ends a text that was cut off."""
_CACHED_CHARS = 100
"""Longer texts are not labels; their folded form is not cached."""
_INVISIBLE = re.compile("[\\u00ad\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]")
_DASHES = str.maketrans("‐‑−", "---")
_SMALL_DIGIT = re.compile("(?=[¼-¾⅐-⅞↉])|(?<=[0-9])(?=[²³¹⁰-⁹₀-₉])")
"""The place before a fraction or an exponent; compatibility forms would join it to a number."""
_SEPARATOR = re.compile(r"(?P<sign>(?<![\w-])-(?=\.?\d)|(?<=\b[a-z])-(?=\s*$))|[_-]")
"""A hyphen or underscore, but not a sign as in -1 or in the grade B-."""


class UnreadableError(ValueError):
    """The words do not state one value."""


class EchoError(UnreadableError):
    """The words repeat the choice that was put to the model, and choose nothing."""


def clean_text(text: str) -> str:
    """Replace unpaired surrogates in `text`, and drop a byte order mark."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").lstrip("\ufeff")


def fold_text(text: str) -> str:
    """Return `text` in the form in which labels are compared: one width, one case, one separator.

    A sign is part of a label.

    >>> fold_text("Not_Guilty") == fold_text("not guilty")
    True
    >>> fold_text("-1") == fold_text("1")
    False
    """
    return (_cached_fold if len(text) <= _CACHED_CHARS else _fold_text)(text)


def _fold_text(text: str) -> str:
    folded = normalize_width(text).casefold().strip()
    return " ".join(_SEPARATOR.sub(lambda match: match["sign"] or " ", folded).split())


_cached_fold = lru_cache(maxsize=4096)(_fold_text)


def normalize_width(text: str) -> str:
    """Return `text` with letters, digits and hyphens of one width, and no invisible characters.

    A fraction or exponent stays apart from the digits before it: "7½" is not 71/2.

    >>> normalize_width("７½")
    '7^1⁄2'
    """
    plain = _INVISIBLE.sub("", text).translate(_DASHES)
    return unicodedata.normalize("NFKC", _SMALL_DIGIT.sub("^", plain))


def shorten(text: str, width: int = 60) -> str:
    """Return `text` on one line of at most `width` characters, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
