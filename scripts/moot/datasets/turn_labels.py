"""Finds the meanings of the words in the columns with answers."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets.label_words import find_label, is_listed
from moot.datasets.turn_checker import TurnChecker
from moot.datasets.turn_columns import TranscriptsOptions, TurnColumns

_MAX_LABELS = 50
_MAX_WORDS_SHOWN = 5
_ADD_OR_CORRECT = "Correct the row, or add its value to `labels` or `no_answer`."


class WordLabels(NamedTuple):
    """The meanings of words.

    Attributes:
        label_of_word: the label that each answer means; None for a word that means no answer.
        label_of_truth: the label that each true answer means.
        words_of_cell: each cell with a JSON object of answers, as name to word.
        labels: all labels; of two, the negative one first.
    """

    label_of_word: Mapping[str, str | None]
    label_of_truth: Mapping[str, str | None]
    words_of_cell: Mapping[str, Mapping[str, str]]
    labels: tuple[str, ...]


def read_labels(rows: pd.DataFrame, check: TurnChecker, options: TranscriptsOptions) -> WordLabels:
    """Find the meanings of the words in the columns with answers and true labels."""
    names = options.columns
    words, truth_words = set[str](), set[str]()
    if names.answer:
        rows[names.answer] = rows[names.answer].str.strip()
        words |= set(rows[names.answer].unique())
    if names.truth:
        rows[names.truth] = rows[names.truth].str.strip()
        truth_words |= set(rows[names.truth].unique())
    words_of_cell = _read_json_answers(rows, check, options.columns)
    for words_of_name in words_of_cell.values():
        words |= set(words_of_name.values())
    label_of_word = {word: _label(word, options, options.labels) for word in sorted(words)}
    truth_labels = options.truth_labels or options.labels
    label_of_truth = {word: _label(word, options, truth_labels) for word in sorted(truth_words)}
    labels = _list_labels({**label_of_word, **label_of_truth}, options)
    _check_labels(labels, options)
    unknown_words = _list_unknown(label_of_word, options)
    if names.answer:
        expected = ", ".join(options.labels) or "a label"
        is_unknown = rows[names.answer].isin(unknown_words)
        check.refuse(rows[names.answer], is_unknown, f"one of {expected}", _ADD_OR_CORRECT)
    if names.truth:
        expected = ", ".join(truth_labels) or "a label"
        is_unknown = rows[names.truth].isin(_list_unknown(label_of_truth, options))
        check.refuse(rows[names.truth], is_unknown, f"one of {expected}", _ADD_OR_CORRECT)
    _refuse_unknown_answers(rows, check, options, unknown_words, words_of_cell)
    return WordLabels(label_of_word, label_of_truth, words_of_cell, labels)


def _list_unknown(
    label_of_word: Mapping[str, str | None], options: TranscriptsOptions
) -> list[str]:
    """Return the words that mean neither a label nor a missing answer."""
    return [
        word
        for word, label in label_of_word.items()
        if label is None and not is_listed(word, options.no_answer)
    ]


def _read_json_answers(
    rows: pd.DataFrame, check: TurnChecker, names: TurnColumns
) -> dict[str, Mapping[str, str]]:
    """Return the readable cells of the column `answers`, each as name to word."""
    if not names.answers:
        return {}
    words_of_cell: dict[str, Mapping[str, str]] = {}
    for cell in rows[names.answers].unique():
        words_of_name = _parse_answers(cell)
        if words_of_name is not None:
            words_of_cell[cell] = words_of_name
    is_faulty = ~rows[names.answers].isin(list(words_of_cell))
    expected = 'a JSON object of names and answers, such as {"Ann": "yes"}, or blank'
    check.refuse(rows[names.answers], is_faulty, expected)
    return words_of_cell


def _parse_answers(cell: str) -> Mapping[str, str] | None:
    """Return the names and answers of a JSON object; empty for a blank cell, None for anything
    else.
    """
    try:
        content = json.loads(cell) if cell.strip() else {}
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return {
        str(name): ",".join(sorted(map(str, answer))) if isinstance(answer, list) else str(answer)
        for name, answer in content.items()
        if answer is not None
    }


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


def _refuse_unknown_answers(
    rows: pd.DataFrame,
    check: TurnChecker,
    options: TranscriptsOptions,
    unknown: Sequence[str],
    words_of_cell: Mapping[str, Mapping[str, str]],
) -> None:
    """Note the cells of several answers with a word that means neither a label nor none."""
    names = options.columns
    expected = ", ".join(options.labels) or "a label"
    if names.answers and unknown:
        cells = [
            cell
            for cell, words_of_name in words_of_cell.items()
            if not set(words_of_name.values()).isdisjoint(unknown)
        ]
        shown = ", ".join(map(quote_value, unknown[:_MAX_WORDS_SHOWN]))
        is_unknown = rows[names.answers].isin(cells)
        expected = f"{expected} instead of {shown}"
        check.refuse(rows[names.answers], is_unknown, expected, _ADD_OR_CORRECT)
