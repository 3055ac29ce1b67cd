"""Finds the meanings of the words in the columns with answers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets.label_words import find_label, is_listed
from moot.datasets.reading.checks import RowChecker
from moot.datasets.turn_columns import TranscriptsOptions

_MAX_LABELS = 50
_ADD_OR_CORRECT = "Correct the row, or add its value to `labels` or `no_answer`."


class WordLabels(NamedTuple):
    """The meanings of words.

    Attributes:
        label_of_word: the label that each answer means; None for a word that means no answer.
        label_of_truth: the label that each true answer means.
        labels: all labels; of two, the negative one first.
    """

    label_of_word: Mapping[str, str | None]
    label_of_truth: Mapping[str, str | None]
    labels: tuple[str, ...]


def read_labels(rows: pd.DataFrame, check: RowChecker, options: TranscriptsOptions) -> WordLabels:
    """Find the meanings of the words in the columns with answers and true labels."""
    names = options.columns
    label_of_word = _read_column(rows, check, options, names.answer, options.labels)
    truth_labels = options.truth_labels or options.labels
    label_of_truth = _read_column(rows, check, options, names.truth, truth_labels)
    labels = _list_labels({**label_of_word, **label_of_truth}, options)
    _check_labels(labels, options)
    return WordLabels(label_of_word, label_of_truth, labels)


def _read_column(
    rows: pd.DataFrame,
    check: RowChecker,
    options: TranscriptsOptions,
    column: str,
    labels: Mapping[str, str],
) -> dict[str, str | None]:
    """Return the label of each word of a column, and note the words that mean neither a label nor
    a missing answer.
    """
    if not column:
        return {}
    rows[column] = rows[column].str.strip()
    label_of_word = {word: _label(word, options, labels) for word in sorted(rows[column].unique())}
    unknown_words = [
        word
        for word, label in label_of_word.items()
        if label is None and not is_listed(word, options.no_answer)
    ]
    expected = f"one of {', '.join(labels) or 'a label'}"
    check.refuse(rows[column], rows[column].isin(unknown_words), expected, _ADD_OR_CORRECT)
    return label_of_word


def _list_labels(
    label_of_word: Mapping[str, str | None], options: TranscriptsOptions
) -> tuple[str, ...]:
    """Return the labels of the options, else the labels in the table, sorted.

    Of two labels, `positive` is the last.
    """
    present = {label for label in label_of_word.values() if label is not None}
    labels = list(dict.fromkeys(options.labels.values() or sorted(present)))
    if len(labels) == 2:
        labels.sort(key=lambda label: label == options.positive)
    return tuple(labels)


def _label(word: str, options: TranscriptsOptions, labels: Mapping[str, str]) -> str | None:
    """Return the label that a word means; None if it means none."""
    if is_listed(word, options.no_answer):
        return None
    return find_label(word, labels) if labels else word.strip().casefold()


def _check_labels(labels: Sequence[str], options: TranscriptsOptions) -> None:
    """Require some labels but not too many, and that `positive` and `truth` are labels."""
    if len(labels) > _MAX_LABELS:
        raise UserError(
            f"{options.path}: the answers hold {len(labels)} different words; expected at most"
            f" {_MAX_LABELS} labels. Is it the right column? If so, state the meaning of each word"
            " in `labels`."
        )
    if not labels:
        raise UserError(
            f"{options.path}: no answers, and no labels. List the possible answers in `labels`."
        )
    for option, label in (("positive", options.positive), ("truth", options.truth)):
        if label and label not in labels:
            raise UserError(
                f"{options.path}: {option} is {quote_value(label)}; expected one of"
                f" {', '.join(labels)}."
            )
