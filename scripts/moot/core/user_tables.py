"""Tables that users bring in any of these files: CSV, JSON lines, Parquet or Excel, read as
strings.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from moot.core.errors import UserError
from moot.core.input_files import (
    check_header,
    find_delimiter,
    quote_value,
    read_csv,
    read_jsonl,
    read_text,
)

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

_ANY_JSON = (str, int, float, bool, type(None), list, dict)
_MAX_UNPACKED_BYTES = 2**29
_ALWAYS_UNPACKED, _TIMES_UNPACKED = 2**25, 100
"""Bytes, and times of its size, that a packed file may declare: tables unpack to some 20 times,
bombs to 1,000.
"""
_MAX_SHEET_ROWS = 2**20
"""Of an Excel sheet."""
_MAX_CELLS = 10**7
_ROWS_PER_BATCH = 64
ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")
"""Of the files that can be read."""
_EXCEL_ERRORS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}


def read_user_table(
    path: Path, columns: Sequence[str], sheet: str = "", kind: str = ""
) -> pd.DataFrame:
    """Read a table whose kind follows from the file's ending; nothing is converted, a missing cell
    is "".

    Args:
        columns: the columns that must be there; others are read too, of JSON lines only those
            of the first if none is named.
        sheet: of an Excel file; "" for its first.
        kind: what the file is, where its ending does not say it (csv, tsv, ...).

    Returns:
        A frame of strings, indexed by 1-based row.

    Raises:
        UserError: no such file, an ending that is not known, a column that is missing or
            repeated, no rows; for CSV and JSON lines as `read_csv` and `read_jsonl`.
    """
    readers: Mapping[str, Callable[[], pd.DataFrame]] = {
        ".csv": lambda: read_csv(path, columns, delimiter=find_delimiter(path)),
        ".tsv": lambda: read_csv(path, columns, delimiter="\t"),
        ".jsonl": lambda: _as_strings(
            read_jsonl(path, dict.fromkeys(columns or _fields(path), _ANY_JSON))
        ),
        ".json": lambda: _check_table(path, _read_array(path), columns),
        ".parquet": lambda: _check_table(path, _read_parquet(path), columns),
        ".xlsx": lambda: _check_table(path, _read_excel(path, sheet), columns),
    }
    reader = readers.get(f".{kind}" if kind else path.suffix.casefold())
    if reader is None:
        description = (
            "a folder without any" if path.is_dir() else f"a file ending in '{path.suffix}'"
        )
        raise UserError(f"{path}: {description}; expected one of {', '.join(readers)}.")
    if not path.is_file():
        raise UserError(
            f"{path}: no such file; put it there, or correct `path` (from the working directory)."
        )
    return reader()


def numbered_rows(frame: pd.DataFrame) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a frame that `read_table` gave: 1-based row, and column to cell."""
    for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        yield int(row), {str(name): cell for name, cell in cells.items()}


def _fields(path: Path) -> list[str]:
    """The fields of the first of JSON lines; none where it is no object, which `read_jsonl`
    refuses.
    """
    try:
        return list(json.loads(read_text(path).strip().partition("\n")[0]))
    except (ValueError, TypeError, RecursionError):
        return []


def _read_array(path: Path) -> pd.DataFrame:
    """A JSON array of objects; a field that one of them lacks is missing."""
    try:
        rows = json.loads(read_text(path))
    except (ValueError, RecursionError) as fault:
        raise UserError(
            f"{path}: not JSON ({fault}); expected an array of objects. Save it again."
        ) from None
    faulty_element = (
        next((number for number, row in enumerate(rows, 1) if not isinstance(row, dict)), 0)
        if rows
        else 1
    )
    if not isinstance(rows, list) or faulty_element:
        place = f"element {faulty_element}" if isinstance(rows, list) and rows else "the whole"
        raise UserError(
            f"{path}: {place} is no object; expected an array of objects, one a row. For one object"
            " a line, name the file .jsonl."
        )
    return pd.DataFrame(rows, dtype="object")


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        with pq.ParquetFile(path) as file:
            _check_cells(path, file.metadata.num_rows * len(file.schema_arrow.names))
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            _check_declared(path, sum(group.total_byte_size for group in groups))
            names, parts, size = file.schema_arrow.names, [], 0
            for chunk in file.iter_batches(
                _ROWS_PER_BATCH
            ):  # a text that repeats is stored once, and unpacked each time
                columns = [
                    column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                    for column in chunk
                ]
                parts.append(pa.RecordBatch.from_arrays(columns, names))
                size += parts[-1].nbytes
                _check_unpacked(path, size)
            frame: pd.DataFrame = (
                pa.Table.from_batches(parts).to_pandas() if parts else pd.DataFrame(columns=names)
            )
            return frame
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:
        raise UserError(
            f"{path}: not a Parquet file that can be read"
            f" ({quote_value(' '.join(str(fault).split()))})."
            " Save it again, as .parquet or .csv."
        ) from None


def _read_excel(path: Path, sheet: str) -> pd.DataFrame:
    """A sheet as it is, cell by cell: its file may declare any width and height, with any
    content.
    """
    import openpyxl  # few tables are Excel files

    try:
        with ZipFile(path) as archive:
            _check_declared(path, sum(member.file_size for member in archive.infolist()))
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            if sheet and sheet not in book.sheetnames:
                sheet_names = ", ".join(map(quote_value, book.sheetnames))
                raise UserError(
                    f"{path}: no sheet {quote_value(sheet)}; found {sheet_names}. Name one of them"
                    " in"
                    " `sheet`."
                )
            rows = list(_excel_rows(path, book[sheet] if sheet else book.worksheets[0]))
    except (UserError, MemoryError):
        raise
    except Exception as fault:
        cause = (
            "the file is empty"
            if not path.stat().st_size
            else quote_value(" ".join(str(fault).split()))
        )
        raise UserError(
            f"{path}: not an Excel file that can be read ({cause}). Save it as .xlsx or .csv."
        ) from None
    width = max(map(len, rows), default=0)
    header, *table = ([*row, *[""] * (width - len(row))] for row in rows or [[]])
    names = [name or f"(column {number})" for number, name in enumerate(header, 1)]
    return pd.DataFrame(table, columns=names, dtype="object")


def _excel_rows(path: Path, sheet: "ReadOnlyWorksheet") -> Iterator[list[str]]:
    """The rows down to the last one that holds anything, without the empty cells at their ends."""
    sheet.reset_dimensions()  # what they say need not be so, and rows would be filled up to it
    blank = height = width = 0
    for cut in sheet.iter_rows(values_only=True):
        row = [_excel_text(value) for value in cut]
        while row and not row[-1]:
            row.pop()
        if height + blank >= _MAX_SHEET_ROWS:
            raise UserError(
                f"{path}: more than {_MAX_SHEET_ROWS} rows, which no sheet can have. Save it as"
                " .csv."
            )
        if not row:
            blank += 1
        else:
            height, width = height + blank + 1, max(width, len(row))
            _check_cells(path, height * width)
            yield from ([] for _ in range(blank))
            yield row
            blank = 0


def _excel_text(value: object) -> str:
    """A cell as text; what a formula could not work out is blank."""
    if value is None or (isinstance(value, str) and value in _EXCEL_ERRORS):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _check_declared(path: Path, size: int) -> None:
    """Refuse what a packed file says that it unpacks to, before any of it is unpacked."""
    _check_unpacked(
        path,
        size,
        min(_MAX_UNPACKED_BYTES, max(_ALWAYS_UNPACKED, _TIMES_UNPACKED * path.stat().st_size)),
    )


def _check_unpacked(path: Path, size: int, max_bytes: int = _MAX_UNPACKED_BYTES) -> None:
    if size > max_bytes:
        raise UserError(
            f"{path}: at least {size} bytes when unpacked; expected {max_bytes} at most. Keep the"
            " rows"
            " and columns that are needed, or save it as .csv."
        )


def _check_cells(path: Path, cells: int) -> None:
    if cells > _MAX_CELLS:
        raise UserError(
            f"{path}: {cells} cells; expected {_MAX_CELLS} at most. Keep the rows and columns that"
            " are needed, and look for a stray cell far below or to the right of the table."
        )


def _check_table(path: Path, frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    names = list(map(str, frame.columns))
    check_header(path, names, columns)
    if frame.empty:
        raise UserError(f"{path}: no rows; expected at least one row of data.")
    frame.columns = pd.Index(names)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return _as_strings(frame)


def _as_strings(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.map(_as_string).astype("str")


def _as_string(cell: object) -> str:
    if isinstance(cell, np.ndarray | dict | list):  # of Parquet, or JSON
        return json.dumps(cell, ensure_ascii=False, default=_as_json)
    return "" if cell is None or cell != cell else str(cell)  # noqa: PLR0124 - NaN


def _as_json(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
