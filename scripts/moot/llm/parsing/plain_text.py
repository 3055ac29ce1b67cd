"""Text in one plain form, shortened for messages, and the errors of text that cannot be read."""

import re
import unicodedata
from functools import lru_cache

WRAPPING = " \t\r\n\"'`´*_~“”‘’„«»「」『』【】《》()[]{}<>（）|$.,;:!。，；：！、"
CUT = "…"
"""Ends a text that was cut off."""
_CACHED_CHARS = 100
"""Longer texts are not labels; their folded form is not cached."""


class UnreadableError(ValueError):
    """The words do not state one value."""


class EchoError(UnreadableError):
    """The words repeat the choice that was put to the model, and choose nothing."""


def fold_text(text: str) -> str:
    """Return `text` in the form in which labels are compared: one width, one case, one separator.

    >>> fold_text("Not_Guilty") == fold_text("not guilty")
    True
    """
    return (_cached_fold if len(text) <= _CACHED_CHARS else _fold_text)(text)


def _fold_text(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()


_cached_fold = lru_cache(maxsize=4096)(_fold_text)


def shorten(text: str, width: int = 60) -> str:
    """Return `text` on one line of at most `width` characters, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
