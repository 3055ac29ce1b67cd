"""Tables in packed files, Parquet and Excel, whose unpacked size is limited."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from moot.core.cell_text import arrow_texts, cell_text, printed_texts
from moot.core.errors import UserError
from moot.core.input_files import refuse_values
from moot.core.text_files import quote_value

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

_MAX_UNPACKED_BYTES = 2**29
_ALWAYS_UNPACKED, _TIMES_UNPACKED = 2**25, 100
"""Limits of the unpacked size that a packed file may declare: bytes, and a factor on its size.

Tables unpack to some 20 times their size, bombs to 1,000 times.
"""
_MAX_SHEET_ROWS = 2**20
"""Maximum number of rows of an Excel sheet."""
_MAX_CELLS = 10**7
_ROWS_PER_BATCH = 64
_EXCEL_DIGITS = 15
_OTHER_SHEETS = "other sheets"
_ESCAPED = re.compile(r"(?<!_x005F)_x(0009|000[Aa]|000[Dd])_")
"""A tab or an end of a line that Excel writes by its number, such as _x000D_."""
_EXCEL_ERRORS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}


def read_parquet(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a Parquet file by the types of its columns.

    A column of bytes that are not text is an error if `columns` needs it. Otherwise it is left out.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check_cells(path, file.metadata.num_rows * len(file.schema_arrow.names))
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            _check_declared(path, sum(group.total_byte_size for group in groups))
            names, parts, size = file.schema_arrow.names, [], 0
            # A text that repeats is stored once, and unpacked each time.
            for chunk in file.iter_batches(_ROWS_PER_BATCH):
                arrays = [
                    column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                    for column in chunk
                ]
                parts.append(pa.RecordBatch.from_arrays(arrays, names))
                size += parts[-1].nbytes
                _check_unpacked(path, size)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:
        raise UserError(
            f"{path}: not a Parquet file that can be read"
            f" ({quote_value(' '.join(str(fault).split()))})."
            " Save it again, as .parquet or .csv."
        ) from None
    if not parts:
        return pd.DataFrame(columns=pd.Index(names))
    return _parquet_frame(path, pa.Table.from_batches(parts), columns)


def _parquet_frame(path: Path, table: pa.Table, columns: Sequence[str]) -> pd.DataFrame:
    names: list[str] = []
    texts: list[pd.Series] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            texts.append(arrow_texts(column))
        except UnicodeDecodeError:
            if name in columns:
                raise UserError(
                    f"{path}: column {quote_value(name)} holds bytes that are not UTF-8 text;"
                    " expected text. Save the column as text, or name another column."
                ) from None
            continue
        names.append(name)
    frame = pd.concat(texts, axis="columns") if texts else pd.DataFrame()
    frame.columns = pd.Index(names)
    return frame


class _RoundedNumber(str):
    """The text of a whole number that Excel rounds, since it keeps 15 digits."""

    __slots__ = ()


def read_excel(path: Path, columns: Sequence[str], sheet: str, ids: Sequence[str]) -> pd.DataFrame:
    """Return the cells of a sheet.

    A file may declare any width and height, with any content.

    Args:
        path: the file.
        columns: the needed columns; a rounded number in one of them is an error.
        sheet: its name; "" for the first one.
        ids: the columns whose whole numbers keep the zeros in front that their format shows.
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
                    " in `sheet`."
                )
            rows = list(_excel_rows(path, book[sheet] if sheet else book.worksheets[0], ids))
            other_sheets = [] if sheet else book.sheetnames[1:]
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
    names = [name.strip() or f"(column {number})" for number, name in enumerate(header, 1)]
    frame = pd.DataFrame(table, columns=names, dtype="object")
    frame.attrs[_OTHER_SHEETS] = other_sheets
    if frame.columns.has_duplicates:
        return frame
    for name in frame.columns.intersection(list(columns)):
        is_rounded = frame[name].map(lambda cell: isinstance(cell, _RoundedNumber))
        cells = frame[name].set_axis(pd.RangeIndex(1, len(frame) + 1))
        expected = "text, because Excel rounds numbers of more than 15 digits"
        remedy = "Format the column as text, and enter the number again."
        refuse_values(path, cells, is_rounded.set_axis(cells.index), expected, remedy)
    return frame.astype("str").apply(printed_texts)


def describe_other_sheets(frame: pd.DataFrame) -> str:
    """Describe the sheets below the first one of an Excel file; "" if there are none."""
    sheets = ", ".join(map(quote_value, frame.attrs.get(_OTHER_SHEETS, [])))
    return f" The first sheet was read; name another one ({sheets}) in `sheet`." if sheets else ""


def _excel_rows(path: Path, sheet: "ReadOnlyWorksheet", ids: Sequence[str]) -> Iterator[list[str]]:
    """Yield the rows down to the last one with content, without empty cells at their ends."""
    sheet.reset_dimensions()  # declared sizes may be wrong, and rows would be filled up to them
    id_positions = list[int]()
    blank = height = width = 0
    for cells in sheet.iter_rows():
        row = [
            _excel_text(cell.value, cell.number_format if position in id_positions else "")
            for position, cell in enumerate(cells)
        ]
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
            if not height:
                id_positions = [
                    position for position, name in enumerate(row) if name.strip() in ids
                ]
            height, width = height + blank + 1, max(width, len(row))
            _check_cells(path, height * width)
            yield from ([] for _ in range(blank))
            yield row
            blank = 0


def _excel_text(value: object, number_format: str) -> str:
    """Return a cell as text; the failed result of a formula is blank.

    A whole number has the zeros in front that a format such as 000 shows.
    """
    if value is None or (isinstance(value, str) and value in _EXCEL_ERRORS):
        return ""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value).replace("\r\n", "\n")
    text = cell_text(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if is_count and len(text) <= _EXCEL_DIGITS and re.fullmatch(r"0{2,15}", number_format):
        return text.zfill(len(number_format))
    if isinstance(value, int | float) and float(value).is_integer():
        return _RoundedNumber(text) if abs(value) >= 10**_EXCEL_DIGITS else text
    return text


def _check_declared(path: Path, size: int) -> None:
    """Refuse the size that a packed file declares, before anything is unpacked."""
    _check_unpacked(
        path,
        size,
        min(_MAX_UNPACKED_BYTES, max(_ALWAYS_UNPACKED, _TIMES_UNPACKED * path.stat().st_size)),
    )


def _check_unpacked(path: Path, size: int, max_bytes: int = _MAX_UNPACKED_BYTES) -> None:
    if size > max_bytes:
        raise UserError(
            f"{path}: at least {size} bytes when unpacked; expected {max_bytes} at most. Keep the"
            " rows and columns that are needed, or save it as .csv."
        )


def _check_cells(path: Path, cells: int) -> None:
    if cells > _MAX_CELLS:
        raise UserError(
            f"{path}: {cells} cells; expected {_MAX_CELLS} at most. Keep the rows and columns that"
            " are needed, and look for a stray cell far below or to the right of the table."
        )
