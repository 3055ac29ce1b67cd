"""Labels of a table that may be misspelt: in a single row, or spelt nearly like another label."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from moot.core.text_files import quote_value

_MAX_LISTED_ROWS, _MAX_LISTED_LABELS = 20, 10
_MIN_WORD_CHARS = 4
"""Shorter words, such as won and not, have too many neighbours."""
_LONG_WORD_CHARS = 8
"""From this length on, two typing errors still leave the word recognisable."""
_FIRST_IDEOGRAPH = "\u2e80"
_DISTINCTIVE_PARTS = re.compile(r"\d+|[+<>=*#%]|^\W*[-−]|[-−]$")
"""Numbers and signs, which tell labels such as +1 and -1 apart."""


def list_rows(rows: Sequence[int]) -> str:
    """Return row numbers in words: `row 3`, or `rows 3, 7 and 12 more`."""
    listing = ", ".join(map(str, rows[:_MAX_LISTED_ROWS]))
    more = len(rows) - _MAX_LISTED_ROWS
    ending = f" and {more} more" if more > 0 else ""
    return f"{_row_noun(rows)} {listing}{ending}"


def describe_doubtful_labels(rows_by_label: Mapping[str, Sequence[int]]) -> list[str]:
    """Return a message for each label that may be another label misspelt, and one for all other
    labels of one row.

    Args:
        rows_by_label: each label with the numbers of its rows.
    """
    messages: list[str] = []
    doubtful_labels: set[str] = set()
    for rare_label, frequent_label in _similar_pairs(rows_by_label):
        doubtful_labels.add(rare_label)
        rows = rows_by_label[rare_label]
        frequent_rows = rows_by_label[frequent_label]
        rare_word, frequent_word = quote_value(rare_label), quote_value(frequent_label)
        messages.append(
            f"label {rare_word} ({list_rows(rows)}) is spelt nearly like {frequent_word}"
            f" ({len(frequent_rows)} {_row_noun(frequent_rows)}). If they are one label, correct"
            f" the {_row_noun(rows)}, or give both the same name in `labels`: {rare_word}:"
            f" {frequent_word}"
        )
    lone_labels = [
        f"{quote_value(label)} (row {rows[0]})"
        for label, rows in rows_by_label.items()
        if len(rows) == 1 and label not in doubtful_labels
    ]
    if lone_labels:
        more = len(lone_labels) - _MAX_LISTED_LABELS
        listing = ", ".join(lone_labels[:_MAX_LISTED_LABELS])
        listing += f" and {more} more" if more > 0 else ""
        subject = "a label of one row" if len(lone_labels) == 1 else "labels of one row each"
        messages.append(
            f"{subject}: {listing}. Is it misspelt, or the wrong column? Correct the row, or add"
            " rows with this label: one case measures nothing"
        )
    return messages


def _row_noun(rows: Sequence[int]) -> str:
    return "row" if len(rows) == 1 else "rows"


def _similar_pairs(rows_by_label: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, str]]:
    """Yield each label that is spelt nearly like a label of as many rows or more, with that one."""
    for first, second in combinations(rows_by_label, 2):
        if are_spelt_alike(first, second):
            pair = sorted((first, second), key=lambda label: len(rows_by_label[label]))
            yield pair[0], pair[1]


def are_spelt_alike(first: str, second: str) -> bool:
    """Return whether two different labels could be one label with typing errors.

    They could if they differ in case, accents, spaces or punctuation alone, or in one letter of a
    word (two of a long word). Numbers, signs, short words, first letters (as in legal, illegal) and
    ideographs distinguish labels.
    """
    if _DISTINCTIVE_PARTS.findall(first) != _DISTINCTIVE_PARTS.findall(second):
        return False
    words, other_words = _plain_words(first), _plain_words(second)
    if not words or not other_words:
        return False
    if "".join(words) == "".join(other_words):
        return True
    return len(words) == len(other_words) and all(map(_is_same_word, words, other_words))


def _plain_words(label: str) -> list[str]:
    """Return the words of a label without case, accents and punctuation."""
    letters = unicodedata.normalize("NFKD", label.casefold())
    visible = "".join(char for char in letters if unicodedata.category(char) not in ("Mn", "Cf"))
    return re.findall(r"[^\W_]+", visible)


def _is_same_word(word: str, other_word: str) -> bool:
    if word == other_word:
        return True
    length = max(len(word), len(other_word))
    if length < _MIN_WORD_CHARS or word[0] != other_word[0]:
        return False
    if not (word + other_word).isalpha() or max(word + other_word) >= _FIRST_IDEOGRAPH:
        return False
    return count_typing_errors(word, other_word) <= (2 if length >= _LONG_WORD_CHARS else 1)


def count_typing_errors(first: str, second: str) -> int:
    """Return the least number of letters to insert, remove, replace or swap with the next one.

    This is the optimal string alignment distance.
    """
    second_last_costs: list[int] = []
    last_costs = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        costs = [row]
        for column, other_letter in enumerate(second, start=1):
            replaced = last_costs[column - 1] + (letter != other_letter)
            cost = min(last_costs[column] + 1, costs[-1] + 1, replaced)
            is_swap = row > 1 and column > 1 and first[row - 2] == other_letter
            if is_swap and letter == second[column - 2]:
                cost = min(cost, second_last_costs[column - 2] + 1)
            costs.append(cost)
        second_last_costs, last_costs = last_costs, costs
    return last_costs[-1]
