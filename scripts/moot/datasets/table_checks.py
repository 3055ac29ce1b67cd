"""The checks of the rows of a user's table, column by column."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.evidence import EXPECTED, read_passages
from moot.core.log import LOG
from moot.core.types import Column
from moot.datasets.label_words import find_label
from moot.datasets.reading.checks import check_unique, find_repeated, leave_out, refuse_values
from moot.datasets.reading.tables import explain_row_numbers, numbered_rows
from moot.datasets.table_files import FileRows
from moot.datasets.table_options import SPLITS, TableOptions
from moot.datasets.table_texts import make_text

_SHORTENED_NUMBER = r"\d(?:[.,]\d+)?E\+\d{2,}"
"""A long number as a spreadsheet shows it: 1.23457E+15."""
_LONG_NUMBER = r"\d{6,}"
_DAMAGED_TEXT = "\ufffd|Ã[\u0080-¿]|â€[\u0080-¿œ™]|ï»¿"
"""Signs of a text that was read in another encoding than it was saved in."""


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
    options: TableOptions, file_rows: FileRows, labels: Mapping[str, str], faults: Faults
) -> pd.DataFrame:
    """Return the rows without a fault.

    Args:
        options: the options of the table.
        file_rows: the rows of the files.
        labels: the label of each value of the target column.
        faults: the messages for what cannot be read in the files.

    Raises:
        UserError: the share of rows with a fault exceeds the option `faulty`.
    """
    table, lacks_case, broken = file_rows
    path, is_faulty = options.path, lacks_case.copy()
    if options.case_table:
        expected = f"a case of {options.case_table.path}"
        remedy = "Add the case there, or correct the row."
        with faults.noting():
            refuse_values(path, table[options.id_column], lacks_case, expected, remedy)
    for check in _check_columns(options, table, labels):
        has_new_fault = check.is_faulty & ~lacks_case  # whose cells of the second file are blank
        with faults.noting():
            refuse_values(path, check.values, has_new_fault, check.expected, check.remedy)
        is_faulty |= has_new_fault
    if options.id_column:
        ids = table[options.id_column].str.strip()
        with faults.noting():
            check_unique(path, ids)
        is_faulty |= (ids == "") | find_repeated(ids)
    leave_out(
        faults.messages,
        int(is_faulty.sum()) + broken,
        len(table) + broken,
        options.faulty,
        f"Correct them, or allow more. {explain_row_numbers(path)}".strip(),
        "rows",
    )
    return table[~is_faulty]


def _check_columns(
    options: TableOptions, table: pd.DataFrame, labels: Mapping[str, str]
) -> Iterator[_ColumnCheck]:
    yield from _check_targets(table[options.target], labels)
    if options.id_column:
        yield _check_ids(options.path, table[options.id_column].str.strip())
    yield _check_texts(options, table)
    if options.evidence:
        yield _check_evidence(table[options.evidence])
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


def _check_ids(path: Path, ids: Column) -> _ColumnCheck:
    """Check that no spreadsheet has shortened an id.

    An id such as 5E+12 may also be a name. It is a number if it comes from a sheet or from CSV, and
    all other ids of the column are long numbers.
    """
    is_shortened = ids.str.fullmatch(_SHORTENED_NUMBER)
    full_ids = ids[~is_shortened & (ids != "")]
    are_numbers = not full_ids.empty and full_ids.str.fullmatch(_LONG_NUMBER).all()
    is_faulty = is_shortened & (bool(explain_row_numbers(path)) and bool(are_numbers))
    expected = "an id; a spreadsheet has shortened the number"
    remedy = "Format the column as text, and enter the number again."
    return _ColumnCheck(ids, is_faulty, expected, remedy)


def _check_texts(options: TableOptions, table: pd.DataFrame) -> _ColumnCheck:
    text_of_row = {row: make_text(options, cells) for row, cells in numbered_rows(table)}
    texts = pd.Series(text_of_row, table.index, dtype="str")
    _warn_of_damaged_texts(options.path, texts)
    first_column = table[options.text_columns[0]]
    remedy = "Fill it in, or remove the row."
    return _ColumnCheck(first_column, texts == "", "a text about the case", remedy)


def _warn_of_damaged_texts(path: Path, texts: "pd.Series[str]") -> None:
    is_damaged = texts.str.contains(_DAMAGED_TEXT)
    if is_damaged.any():
        LOG.warning(
            "%s: the texts of %d rows, first of row %d, hold signs of a wrong encoding, such as"
            " '\ufffd' or 'Ã©'. Save the table as UTF-8 from its source.",
            path,
            int(is_damaged.sum()),
            int(texts.index[is_damaged][0]),
        )


def _check_evidence(cells: Column) -> _ColumnCheck:
    problems = {cell: _describe_evidence_fault(cell) for cell in cells.unique()}
    is_unreadable = cells.map(lambda cell: bool(problems[cell]))
    reasons = [reason for reason in problems.values() if reason]
    expected = f"{EXPECTED} ({reasons[0]})" if reasons else EXPECTED
    return _ColumnCheck(cells, is_unreadable, expected, "Correct it, or leave the cell blank.")


def _describe_evidence_fault(cell: str) -> str:
    """Return the fault of a cell of evidence; "" if there is none."""
    try:
        read_passages(cell)
    except ValueError as error:
        return str(error)
    return ""


def _check_split_names(names: Column) -> _ColumnCheck:
    is_unknown = ~names.str.strip().str.casefold().isin(list(SPLITS))
    remedy = "Correct the row, or set `split` to all or hash."
    return _ColumnCheck(names, is_unknown, f"one of {', '.join(SPLITS)}", remedy)
