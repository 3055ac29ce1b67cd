"""Citations of passages by number in a statement, such as `[2]`, `[1, 3]` or `[1-3]`.

Wide brackets are read as well.
"""

import re
import unicodedata

_CITATION = re.compile(r"\[(\d{1,4}(?:\s*[,;、–-]\s*\d{1,4})*)\]")
_PART = re.compile(r"(\d+)\s*(?:[–-]\s*(\d+))?")
MAX_RANGE = 50
"""A range of more passages counts as its two ends, so that hostile numbers cost no time."""


def cited_numbers(statement: str) -> list[int]:
    """Return the numbers that a statement cites, in their order, each as often as it is cited.

    >>> cited_numbers("As [2] shows, and [1, 3-4]; 【5】 too. See [a] and 12.")
    [2, 1, 3, 4, 5]
    """
    text = unicodedata.normalize("NFKC", statement).replace("【", "[").replace("】", "]")
    numbers: list[int] = []
    for citation in _CITATION.findall(text):
        for first, last in _PART.findall(citation):
            start, end = int(first), int(last or first)
            if 0 <= end - start < MAX_RANGE:
                numbers += range(start, end + 1)
            else:
                numbers += [start, end]
    return numbers
