"""Tables of users in CSV, JSON lines, Parquet or Excel, read as strings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field

from moot.core.cell_text import canonical_word, cell_text, csv_texts, date_texts
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import check_header, find_delimiter, has_tabs, read_csv
from moot.core.json_tables import (
    KEY_COLUMN,
    ExpandedTable,
    describe_nested_columns,
    describe_rows_by_key,
    expand_paths,
    read_objects,
)
from moot.core.packed_tables import describe_other_sheets, read_excel, read_parquet
from moot.core.text_files import quote_value

FILE_COLUMN = "(file)"
"""The column with the name of the file, without its ending."""
EXPANDED_COLUMN = "expanded"
"""The attribute of a frame that names the column whose lists gave several rows."""
ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xlsm")
"""The endings of readable files."""
_SHEETS = (".csv", ".tsv", ".xlsx", ".xlsm")
ROW_NUMBERS = "Row 1 is the first row below the heading; a spreadsheet calls it row 2."
"""How messages count the rows of a table that a spreadsheet can show."""
_REMEDY_OF_ENDING: Mapping[str, str] = {
    ".gz": "Unpack it (`gunzip FILE`), and name the file inside.",
    ".zip": "Unpack it, and name the file inside.",
    ".txt": "Rename it to .csv or .tsv if it is a table.",
    ".xls": "Save it as .xlsx or .csv.",
    ".ods": "Save it as .xlsx or .csv.",
    ".arrow": "Save it as .parquet.",
    ".feather": "Save it as .parquet.",
}
ALTERNATIVES = "|"
"""Separates the names of alternative columns; the first one with a value counts."""
_MAX_ROWS_ABOVE_HEADER = 20
RowFilter = Annotated[
    Mapping[str, str | tuple[str, ...]],
    Field(
        description=(
            "Value, or list of values, that a row must have in each of these columns ({condition:"
            " debate}); other rows are not read. Default: all rows are read."
        ),
    ),
]


def read_user_table(
    path: Path,
    columns: Sequence[str],
    sheet: str = "",
    kind: str = "",
    optional: Sequence[str] = (),
    last_only: Sequence[str] = (),
    ids: Sequence[str] = (),
    faults: Faults | None = None,
) -> pd.DataFrame:
    """Read a table as text.

    The file's ending gives its format, and a missing cell is "".

    Equal values have equal texts in every format: see `cell_text`. A column `(file)` holds the name
    of the file without its ending. A column such as `messages.content` holds a part of the nested
    values of the column `messages`; a list of objects gives one row for each object. Columns
    `(key)` and `(value)` hold the keys and values of a JSON object whose values are the rows. A
    column such as `name|source` holds the first of these that the file has and the row fills. Blank
    rows of CSV and Excel are left out.

    Args:
        columns: the required columns; others are read as well.
        sheet: of an Excel file; "" for its first.
        kind: the format, if the ending does not give it (csv, tsv, ...).
        optional: columns that may exist, perhaps as parts of nested ones.
        last_only: columns that belong to a whole record. If a record becomes several rows, only the
            last row has their values.
        ids: columns of ids. Their whole numbers have the zeros in front that Excel's format 000
            shows; numbers in other columns have their plain text.
        faults: gets a message for each row of CSV and each line of JSON that cannot be read, which
            is left out. Default: such a row is an error.

    Returns:
        A frame of strings, indexed by the 1-based row of the file. A row that becomes several gives
        each of them its number.

    Raises:
        UserError: the file does not exist, its ending is unknown, a column is missing, repeated or
            not text, or there are no rows; for CSV as in `read_csv`.
    """
    names = _list_alternatives([*columns, *optional])
    read_json = partial(
        read_objects,
        path,
        is_keyed=KEY_COLUMN in columns,
        columns=names,
        last_only=last_only,
        faults=faults,
    )
    read_sheet = partial(read_excel, path, names, sheet, _list_alternatives(ids))
    readers: Mapping[str, Callable[[], pd.DataFrame]] = {
        ".csv": lambda: _read_delimited(path, "", faults),
        ".tsv": lambda: _read_delimited(path, "\t" if has_tabs(path) else "", faults),
        ".jsonl": read_json,
        ".ndjson": read_json,
        ".json": read_json,
        ".parquet": lambda: read_parquet(path, names),
        ".xlsx": read_sheet,
        ".xlsm": read_sheet,
    }
    ending = f".{kind}" if kind else path.suffix.casefold()
    reader = readers.get(ending)
    if reader is None:
        description = (
            "a folder without any" if path.is_dir() else f"a file ending in '{path.suffix}'"
        )
        default_remedy = "Save it as one of them."
        remedy = _REMEDY_OF_ENDING.get(path.suffix.casefold(), default_remedy)
        raise UserError(f"{path}: {description}; expected one of {', '.join(readers)}. {remedy}")
    if not path.is_file():
        raise UserError(
            f"{path}: no such file; put it there, or correct `path` (from the working directory)."
        )
    frame = reader()
    if FILE_COLUMN in names:
        frame[FILE_COLUMN] = path.stem
    table = expand_paths(path, frame, names, last_only)
    _add_alternatives(table.frame, [*columns, *optional])
    checked_table = _check_table(path, table, columns)
    if ending in _SHEETS:
        checked_table = _without_blank_rows(path, checked_table)
    checked_table.attrs[EXPANDED_COLUMN] = table.expanded
    return checked_table


def _list_alternatives(columns: Sequence[str]) -> list[str]:
    """Return the names of columns, including each part of a name such as `name|source`."""
    names = list(columns)
    for name in columns:
        names += name.split(ALTERNATIVES) if ALTERNATIVES in name else []
    return list(dict.fromkeys(names))


def _add_alternatives(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Add each column such as `name|source`, filled from the first of these columns with a
    value.
    """
    for column in columns:
        names = [name for name in column.split(ALTERNATIVES) if name in frame]
        if column in frame or ALTERNATIVES not in column or not names:
            continue
        texts = _column_texts(frame[names[0]])
        for name in names[1:]:
            texts = texts.where(texts.str.strip() != "", _column_texts(frame[name]))
        frame[column] = texts


def select_rows(path: Path, frame: pd.DataFrame, where: RowFilter) -> pd.DataFrame:
    """Return the rows that have the given value, or one of the values, in each column of `where`.

    Raises:
        UserError: no row is left.
    """
    is_selected = pd.Series(True, frame.index)
    for column, value in where.items():
        values = {value} if isinstance(value, str) else set(value)
        words = {canonical_word(word) for word in values}
        cells = frame[column]
        is_selected &= cells.map(canonical_word).isin(list(words))
        if not is_selected.any():
            examples = ", ".join(quote_value(cell) for cell in cells.unique()[:5])
            raise UserError(
                f"{path}: no row has {', '.join(map(quote_value, values))} in column"
                f" {quote_value(column)} (and the columns before it in `where`); found {examples}."
                " Correct `where`."
            )
    return frame[is_selected]


def explain_row_numbers(path: Path) -> str:
    """Return how messages count the rows of a file; "" if no spreadsheet counts them
    otherwise.
    """
    return ROW_NUMBERS if is_spreadsheet(path) else ""


def is_spreadsheet(path: Path) -> bool:
    """Return whether a spreadsheet may have written a file: CSV or Excel."""
    return path.suffix.casefold() in _SHEETS


def numbered_rows(frame: pd.DataFrame) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a frame from `read_user_table`: 1-based row number, and cells by column."""
    for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        yield int(row), {str(name): cell for name, cell in cells.items()}


def _read_delimited(path: Path, delimiter: str, faults: Faults | None) -> pd.DataFrame:
    """Read CSV; repeated columns are kept for the check in `_check_table`."""
    frame = read_csv(
        path,
        (),
        delimiter=delimiter or find_delimiter(path),
        allows_repeated_columns=True,
        faults=faults,
    )
    frame.columns = frame.columns.str.strip()
    if frame.columns.has_duplicates:
        return frame
    return frame.apply(csv_texts)


def _check_table(path: Path, table: ExpandedTable, columns: Sequence[str]) -> pd.DataFrame:
    """Check the header, and return the cells as text without repeated columns."""
    frame = table.frame
    names = list(map(str, frame.columns))
    try:
        check_header(path, names, columns, allows_repeated_columns=True)
    except UserError as fault:
        missing = [name for name in columns if name not in names]
        hint = (
            describe_rows_by_key(frame, missing)
            or describe_nested_columns(frame, missing)
            or _describe_later_header(frame, missing)
            or describe_other_sheets(frame)
        )
        raise UserError(f"{fault}{hint}") from None
    if frame.empty:
        raise UserError(f"{path}: no rows; expected at least one row of data.")
    frame.columns = pd.Index(names)
    frame = frame.loc[:, ~frame.columns.duplicated(keep=False)]
    texts = pd.DataFrame({name: _column_texts(frame[name]) for name in frame})
    return texts.set_axis(pd.Index(table.source_rows, name="row"))


def _without_blank_rows(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a sheet with any text, since spreadsheets may store blank rows below a
    table.
    """
    has_text = (table.drop(columns=FILE_COLUMN, errors="ignore") != "").any(axis="columns")
    if not has_text.any():
        raise UserError(f"{path}: all {len(table)} rows are blank; expected at least one row.")
    return table[has_text]


def _describe_later_header(frame: pd.DataFrame, missing: Sequence[str]) -> str:
    """Describe where the header is if titles are above it; "" if no row has the missing names."""
    for number, cells in enumerate(frame.head(_MAX_ROWS_ABOVE_HEADER).to_numpy(), 1):
        if missing and set(missing) <= {str(cell).strip() for cell in cells}:
            return f" Row {number} below the first line has these names: remove the lines above it."
    return ""


def _column_texts(cells: pd.Series) -> pd.Series:
    texts = cells if cells.dtype == "str" else cells.map(cell_text).astype("str")
    return date_texts(texts)
