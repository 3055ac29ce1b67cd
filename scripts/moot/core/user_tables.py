"""Tables of users in CSV, JSON lines, Parquet or Excel, read as strings."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from moot.core.cell_text import (
    arrow_texts,
    canonical_word,
    cell_text,
    csv_texts,
    date_texts,
    printed_texts,
)
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import check_header, find_delimiter, has_tabs, read_csv, refuse_values
from moot.core.json_tables import (
    KEY_COLUMN,
    ExpandedTable,
    describe_nested_columns,
    expand_paths,
    read_objects,
)
from moot.core.text_files import quote_value

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

FILE_COLUMN = "(file)"
"""The column with the name of the file, without its ending."""
_MAX_UNPACKED_BYTES = 2**29
_ALWAYS_UNPACKED, _TIMES_UNPACKED = 2**25, 100
"""Limits of the unpacked size that a packed file may declare: bytes, and a factor on its size.

Tables unpack to some 20 times their size, bombs to 1,000 times.
"""
_MAX_SHEET_ROWS = 2**20
"""Maximum number of rows of an Excel sheet."""
_MAX_CELLS = 10**7
EXPANDED_COLUMN = "expanded"
"""The attribute of a frame that names the column whose lists gave several rows."""
_OTHER_SHEETS = "other sheets"
_ROWS_PER_BATCH = 64
_EXCEL_DIGITS = 15
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
_ESCAPED = re.compile(r"(?<!_x005F)_x(0009|000[Aa]|000[Dd])_")
"""A tab or an end of a line that Excel writes by its number, such as _x000D_."""
_MAX_ROWS_ABOVE_HEADER = 20
_EXCEL_ERRORS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}


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
    read_excel = partial(_read_excel, path, names, sheet, _list_alternatives(ids))
    readers: Mapping[str, Callable[[], pd.DataFrame]] = {
        ".csv": lambda: _read_delimited(path, "", faults),
        ".tsv": lambda: _read_delimited(path, "\t" if has_tabs(path) else "", faults),
        ".jsonl": read_json,
        ".ndjson": read_json,
        ".json": read_json,
        ".parquet": lambda: _read_parquet(path, names),
        ".xlsx": read_excel,
        ".xlsm": read_excel,
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


def select_rows(
    path: Path, frame: pd.DataFrame, where: Mapping[str, str | tuple[str, ...]]
) -> pd.DataFrame:
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


def _read_parquet(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a Parquet file by the types of its columns.

    A column of bytes that are not text is an error if `columns` needs it. Otherwise it is left out.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check_cells(path, file.metadata.num_rows * len(file.schema_arrow.names))
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            _check_declared(path, sum(group.total_byte_size for group in groups))
            names, parts, size = file.schema_arrow.names, [], 0
            for chunk in file.iter_batches(
                _ROWS_PER_BATCH
            ):  # a text that repeats is stored once, and unpacked each time
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


def _read_excel(path: Path, columns: Sequence[str], sheet: str, ids: Sequence[str]) -> pd.DataFrame:
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
                    " in"
                    " `sheet`."
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


def _describe_other_sheets(frame: pd.DataFrame) -> str:
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
            " rows"
            " and columns that are needed, or save it as .csv."
        )


def _check_cells(path: Path, cells: int) -> None:
    if cells > _MAX_CELLS:
        raise UserError(
            f"{path}: {cells} cells; expected {_MAX_CELLS} at most. Keep the rows and columns that"
            " are needed, and look for a stray cell far below or to the right of the table."
        )


def _check_table(path: Path, table: ExpandedTable, columns: Sequence[str]) -> pd.DataFrame:
    """Check the header, and return the cells as text without repeated columns."""
    frame = table.frame
    names = list(map(str, frame.columns))
    try:
        check_header(path, names, columns, allows_repeated_columns=True)
    except UserError as fault:
        missing = [name for name in columns if name not in names]
        hint = describe_nested_columns(frame, missing) or _describe_later_header(frame, missing)
        hint = hint or _describe_other_sheets(frame)
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
