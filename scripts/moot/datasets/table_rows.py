"""The rows of a table of the user: read from its files, then checked column by column."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.spelling import canonical_word
from moot.core.types import Column
from moot.datasets.label_words import find_label, spell_labels
from moot.datasets.reading.checks import check_unique, find_repeated, leave_out, refuse_values
from moot.datasets.reading.tables import (
    FILE_COLUMN,
    explain_row_numbers,
    numbered_rows,
    read_table,
)
from moot.datasets.table_options import SPLITS, TableOptions
from moot.datasets.table_texts import MISSING_WORDS, make_text

_MAX_LABELS = 50


class FileRows(NamedTuple):
    """The rows of a file.

    Attributes:
        path: the file.
        table: the rows that can be read, as text, by their number in the file, from 1.
        broken: the number of rows that cannot be read.
    """

    path: Path
    table: pd.DataFrame
    broken: int


def read_files(options: TableOptions, faults: Faults) -> list[FileRows]:
    """Read the rows of each file.

    Args:
        options: the options of the table.
        faults: gets a message for each row that cannot be read.

    Raises:
        UserError: a file or a column is missing.
    """
    return [_read_file(options, path, faults) for path in options.files]


def _read_file(options: TableOptions, path: Path, faults: Faults) -> FileRows:
    file_column = [FILE_COLUMN] if len(options.files) > 1 else []
    columns = list(dict.fromkeys([*options.case_columns, *options.id_columns, *file_column]))
    broken_rows = Faults()
    table = read_table(path, columns, sheet=options.sheet, faults=broken_rows)
    faults.add_all(broken_rows)
    if len(options.id_columns) > 1:
        table[options.id_column] = table[options.id_columns].agg("-".join, axis="columns")
    return FileRows(path, table, len(broken_rows.messages))


def list_labels(options: TableOptions, table: pd.DataFrame) -> Mapping[str, str]:
    """Return the label of each value of the target column.

    Raises:
        UserError: the values cannot be labels, or are too many.
    """
    if options.labels:
        return options.labels
    words = table[options.target].map(canonical_word)
    values = spell_labels(words[~words.isin([*MISSING_WORDS, ""])])
    if not values:
        raise UserError(
            f"{options.path}: column '{options.target}' holds no label in {len(table)} rows;"
            " expected a label in each. Fill it in, or name another column in `target`."
        )
    if len(values) > _MAX_LABELS:
        raise UserError(
            f"{options.path}: column '{options.target}' holds {len(values)} different values;"
            f" expected at most {_MAX_LABELS} labels. Is it the right column? If so, list the"
            " labels in `labels`."
        )
    return values


class _ColumnCheck(NamedTuple):
    """The result of a check.

    Attributes:
        values: the column.
        is_faulty: which of its values have a fault.
        expected: what a value should be.
        remedy: what the user can do.
    """

    values: Column
    is_faulty: "pd.Series[bool]"
    expected: str
    remedy: str


def leave_out_faulty_rows(
    options: TableOptions, files: Sequence[FileRows], labels: Mapping[str, str], faults: Faults
) -> pd.DataFrame:
    """Return the rows of all files without a fault.

    Args:
        options: the options of the table.
        files: the rows of each file.
        labels: the label of each value of the target column.
        faults: the messages for what cannot be read in the files.

    Raises:
        UserError: the share of rows with a fault exceeds the option `faulty`.
    """
    table = pd.concat([rows.table for rows in files])
    is_faulty = pd.concat([_find_faulty_rows(options, rows, labels, faults) for rows in files])
    if options.id_column:
        ids = table[options.id_column].str.strip()
        with faults.noting():
            check_unique(options.path, ids.set_axis(_name_rows(files)))
        is_faulty |= (ids == "") | find_repeated(ids)
    broken = sum(rows.broken for rows in files)
    leave_out(
        faults.messages,
        int(is_faulty.sum()) + broken,
        len(table) + broken,
        options.faulty,
        f"Correct them, or allow more. {explain_row_numbers(files[0].path)}".strip(),
        "rows",
    )
    return table[~is_faulty]


def _name_rows(files: Sequence[FileRows]) -> list[str]:
    """Return the number of each row, with the name of its file if there are several."""
    names: list[str] = []
    for rows in files:
        suffix = f" of {rows.path.name}" if len(files) > 1 else ""
        names += [f"{number}{suffix}" for number in rows.table.index]
    return names


def _find_faulty_rows(
    options: TableOptions, file_rows: FileRows, labels: Mapping[str, str], faults: Faults
) -> "pd.Series[bool]":
    """Return which rows of a file have a fault, and note each."""
    path, table, _ = file_rows
    is_faulty = pd.Series(False, table.index)
    for check in _check_columns(options, table, labels):
        with faults.noting():
            refuse_values(path, check.values, check.is_faulty, check.expected, check.remedy)
        is_faulty |= check.is_faulty
    return is_faulty


def _check_columns(
    options: TableOptions, table: pd.DataFrame, labels: Mapping[str, str]
) -> Iterator[_ColumnCheck]:
    yield from _check_targets(table[options.target], labels)
    yield _check_texts(options, table)
    if options.has_split_column:
        yield _check_split_names(table[options.split])


def _check_targets(targets: Column, labels: Mapping[str, str]) -> Iterator[_ColumnCheck]:
    label_of_word = {word: find_label(word, labels) for word in targets.unique()}
    is_unknown = targets.map(lambda word: label_of_word[word] is None)
    is_blank = targets.str.strip() == ""
    expected = f"one of {', '.join(labels)}"
    remedy = "Correct the row: fill in the label, or remove the row."
    yield _ColumnCheck(targets, is_unknown & is_blank, expected, remedy)
    remedy = "Correct the row, or add this value to `labels`."
    yield _ColumnCheck(targets, is_unknown & ~is_blank, expected, remedy)


def _check_texts(options: TableOptions, table: pd.DataFrame) -> _ColumnCheck:
    text_of_row = {row: make_text(options, cells) for row, cells in numbered_rows(table)}
    texts = pd.Series(text_of_row, table.index, dtype="str")
    first_column = table[options.text_columns[0]]
    remedy = "Fill it in, or remove the row."
    return _ColumnCheck(first_column, texts == "", "a text about the case", remedy)


def _check_split_names(names: Column) -> _ColumnCheck:
    is_unknown = ~names.str.strip().str.casefold().isin(list(SPLITS))
    remedy = "Correct the row, or set `split` to all or hash."
    return _ColumnCheck(names, is_unknown, f"one of {', '.join(SPLITS)}", remedy)
