"""Text in one plain form, shortened for messages, and the error of text that cannot be read."""

import re
import unicodedata

from moot.core.spelling import INVISIBLE

WRAPPING = " \t\r\n\"'`´*_#>~|$\\“”‘’„«»「」『』【】《》()[]{}<（）.,;:!。，；：！、•–—"
"""Marks around an answer that do not belong to it."""
MESSAGE_WIDTH = 60
_SEPARATOR = re.compile(r"(?<=\w)[\s_-]+(?=\w)")
_DASHES = str.maketrans("‐‑−", "---")


class UnreadableError(ValueError):
    """The words do not state one value."""


def clean_text(text: str) -> str:
    """Replace unpaired surrogates in `text`, and drop a byte order mark."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").lstrip("\ufeff")


def fold_text(text: str) -> str:
    """Return `text` in the form in which labels are compared: one width, one case, one separator.

    >>> fold_text("Not_Guilty") == fold_text("not guilty")
    True
    >>> fold_text("-1") == fold_text("1")
    False
    """
    return _SEPARATOR.sub(" ", normalize_width(text).casefold().strip())


def normalize_width(text: str) -> str:
    """Return `text` with letters, digits and hyphens of one width, and no invisible characters."""
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", text).translate(_DASHES))


def shorten(text: str) -> str:
    """Return `text` on one line of at most `MESSAGE_WIDTH` characters, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_WIDTH else f"{line[: MESSAGE_WIDTH - 1]}…"
