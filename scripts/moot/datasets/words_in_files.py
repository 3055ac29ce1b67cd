"""The label that a word of a file means."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from moot.core.errors import UserError
from moot.core.spelling import canonical_word, plain_spelling
from moot.core.text_files import quote_value

_MAX_LABELS = 50


def find_label(word: str, labels: Mapping[str, str]) -> str | None:
    """Return the label of a word, or None.

    A word of `labels` counts first literally, then in its plain spelling, as a number or as a truth
    value (1.0 is 1, True is true), then as a regular expression between slashes that matches the
    whole word.
    """
    word = word.strip()
    if word in labels:
        return labels[word]
    canonical = canonical_word(word)
    for name, label in labels.items():
        if canonical_word(name) == canonical:
            return label
    for name, label in labels.items():
        if is_pattern(name) and re.fullmatch(name[1:-1], plain_spelling(word)):
            return label
    return None


def spell_labels(words: Iterable[str]) -> dict[str, str]:
    """Return the label of each word: its most frequent spelling, where only the case differs."""
    spellings: dict[str, str] = {}
    counts = Counter(words)
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        spellings.setdefault(word.casefold(), word)
    return {word: spellings[word.casefold()] for word in sorted(counts)}


def check_label_count(path: Path, column: str, count: int) -> None:
    """Require that a column has not too many different values for labels."""
    if count > _MAX_LABELS:
        raise UserError(
            f"{path}: column '{column}' holds {count} different values; expected at most"
            f" {_MAX_LABELS} labels. Is it the right column? If so, list the labels in `labels`."
        )


def is_listed(word: str, listed: Collection[str]) -> bool:
    """Return whether a word is listed, literally or by a regular expression between slashes."""
    word = word.strip()
    return word in listed or any(
        re.fullmatch(pattern[1:-1], plain_spelling(word)) for pattern in filter(is_pattern, listed)
    )


def is_pattern(word: str) -> bool:
    """Return whether a word of `labels` is a regular expression between slashes."""
    return len(word) > len("//") and word.startswith("/") and word.endswith("/")


def _as_mapping(value: object) -> object:
    """Return a list of labels as a mapping of each label to itself."""
    return {str(name): str(name) for name in value} if isinstance(value, (list, tuple)) else value


def _check_patterns(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return `labels`, whose patterns among the words must be regular expressions.

    Raises:
        ValueError: a pattern is not a regular expression.
    """
    for word in labels:
        if is_pattern(word):
            compile_pattern(word[1:-1])
    return labels


LabelsByWord = Annotated[
    Mapping[str, str], BeforeValidator(_as_mapping), AfterValidator(_check_patterns)
]
"""An option: the label of each word, or of each regular expression between slashes; or a list of
labels.
"""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression of the configuration.

    Raises:
        ValueError: it is not a regular expression.
    """
    try:
        return re.compile(pattern)
    except re.error as fault:
        raise ValueError(f"{quote_value(pattern)} is not a regular expression ({fault})") from None
