"""The checks of the rows of a user's table, column by column."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.evidence import EXPECTED, read_passages
from moot.core.types import Column
from moot.datasets.label_words import find_label
from moot.datasets.reading.checks import check_unique, find_repeated, leave_out, refuse_values
from moot.datasets.reading.tables import explain_row_numbers, numbered_rows
from moot.datasets.table_files import FileRows
from moot.datasets.table_options import SPLITS, TableOptions
from moot.datasets.table_texts import make_text


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


def _check_texts(options: TableOptions, table: pd.DataFrame) -> _ColumnCheck:
    text_of_row = {row: make_text(options, cells) for row, cells in numbered_rows(table)}
    texts = pd.Series(text_of_row, table.index, dtype="str")
    first_column = table[options.text_columns[0]]
    remedy = "Fill it in, or remove the row."
    return _ColumnCheck(first_column, texts == "", "a text about the case", remedy)


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
