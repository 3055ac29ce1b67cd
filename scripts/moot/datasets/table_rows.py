"""The rows of a table of the user: read from its files, then checked column by column."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import NamedTuple

import pandas as pd

from moot.core.errors import UserError
from moot.core.spelling import canonical_word
from moot.datasets.reading.checks import RowChecker
from moot.datasets.reading.tables import FILE_COLUMN, read_table
from moot.datasets.table_options import SPLITS, TableOptions
from moot.datasets.words_in_files import check_label_count, find_label, spell_labels

TEXT, LABEL, ID = "(text)", "(label)", "(id)"
"""The columns with the text, the label and the id of the case of a row."""
MISSING_WORDS = {
    *("NaN", "nan", "NaT", "<NA>"),
    *("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!"),
}
"""What programs write for a missing value, or for the failed result of a formula.

Words that people write, too (N/A, null, NA, None), are labels and texts.
"""
BLANK_PARTS = "cells left out of texts as missing (NaN, #N/A)"


class TableRows(NamedTuple):
    """The rows of a table, with their faults.

    Attributes:
        rows: all rows that can be read, as text, with the columns in brackets. The index is the
            number of the file and of the row in it, from 1.
        labels: the label of each value of the target column.
        check: the faults of the rows.
    """

    rows: pd.DataFrame
    labels: Mapping[str, str]
    check: RowChecker


def read_rows(options: TableOptions) -> TableRows:
    """Read the rows of all files, and note their faults.

    Raises:
        UserError: a file or a column is missing, or the values of the target cannot be labels.
    """
    check = RowChecker(options.files, options.faulty, "rows")
    file_column = [FILE_COLUMN] if len(options.files) > 1 else []
    columns = list(dict.fromkeys([*options.case_columns, *options.id_columns, *file_column]))
    rows = check.read(
        partial(read_table, columns=columns, sheet=options.sheet, faults=check.faults)
    )
    labels = _list_labels(options, rows)
    label_of_word = {word: find_label(word, labels) for word in rows[options.target].unique()}
    texts = [make_text(options, cells) for cells in rows.to_dict("records")]
    rows[TEXT] = pd.Series(texts, rows.index, dtype="str")
    rows[LABEL] = rows[options.target].map(label_of_word)
    rows[ID] = _name_cases(options, rows)
    _check_rows(options, rows, labels, check)
    return TableRows(rows, labels, check)


def make_text(options: TableOptions, cells: Mapping[Hashable, str]) -> str:
    """Return the text that models read for a row; "" if its columns are blank."""
    parts = {name: _read_part(cells[name]) for name in options.text_columns}
    if not isinstance(options.text, str):
        sentences = [
            f"{name.replace('_', ' ')}: {part.rstrip('.')}." for name, part in parts.items() if part
        ]
        return " ".join(sentences)
    if options.text_columns == [options.text]:
        text = cells[options.text].strip()
        return "" if text in MISSING_WORDS else text
    return options.text.format(**parts).strip() if any(parts.values()) else ""


def _read_part(cell: str) -> str:
    """Return the text of a cell on one line; "" for what programs write for a missing value."""
    text = " ".join(cell.split())
    return "" if text in MISSING_WORDS else text


def _list_labels(options: TableOptions, table: pd.DataFrame) -> Mapping[str, str]:
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
    check_label_count(options.path, options.target, len(values))
    return values


def _name_cases(options: TableOptions, rows: pd.DataFrame) -> "pd.Series[str]":
    """Return the id of each row: by its columns, else by its number, which each file counts."""
    if options.id_columns:
        return rows[options.id_columns].agg("-".join, axis="columns").str.strip()
    numbers = rows.index.get_level_values("row").astype("str")
    names = rows[FILE_COLUMN] if FILE_COLUMN in rows else pd.Series("row", rows.index)
    return names + "-" + numbers


def _check_rows(
    options: TableOptions, rows: pd.DataFrame, labels: Mapping[str, str], check: RowChecker
) -> None:
    targets = rows[options.target]
    is_blank = targets.str.strip() == ""
    expected = f"one of {', '.join(labels)}"
    for is_wrong, remedy in (
        (is_blank, "Correct the row: fill in the label, or remove the row."),
        (~is_blank, "Correct the row, or add this value to `labels`."),
    ):
        check.refuse(targets, rows[LABEL].isna() & is_wrong, expected, remedy)
    first_column = rows[options.text_columns[0]]
    remedy = "Fill it in, or remove the row."
    check.refuse(first_column, rows[TEXT] == "", "a text about the case", remedy)
    if options.has_split_column:
        names = rows[options.split]
        is_unknown = ~names.str.strip().str.casefold().isin(list(SPLITS))
        remedy = "Correct the row, or set `split` to all or hash."
        check.refuse(names, is_unknown, f"one of {', '.join(SPLITS)}", remedy)
    if options.id_columns:
        check.refuse_repeated(rows[ID].rename(" + ".join(options.id_columns)))


def count_blank_parts(options: TableOptions, rows: pd.DataFrame) -> int:
    """Return how many cells of usable rows are left out of the texts as missing."""
    cells = rows[options.text_columns].apply(lambda column: column.str.strip())
    return int(cells.isin(list(MISSING_WORDS)).sum().sum())
