"""A table of the user, read by pandas as text: CSV, JSON, Excel or Parquet.

A frame is indexed by the 1-based row (record) of its file, so that every later message can name the
row. What pandas cannot read is refused, with the line of pandas that would convert it.
"""

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.log import warn_of_file
from moot.core.natural_order import natural_key
from moot.core.text_files import GZIP, quote_value, read_content
from moot.core.types import Column, Json, JsonObject
from moot.datasets.reading.checks import SHEETS, DataFaults, check_header
from moot.datasets.reading.conversions import (
    check_orientation,
    suggest_conversion,
    suggest_for_cells,
)
from moot.datasets.reading.delimited import read_delimited
from moot.datasets.reading.records import read_objects

FILE_COLUMN = "(file)"
"""The column with the name of the file, without its ending."""
ENDINGS = (*SHEETS, ".jsonl", ".ndjson", ".json", ".parquet")


def read_table(
    path: Path,
    columns: Sequence[str] = (),
    *,
    sheet: str = "",
    turns: str = "",
    faults: Faults | None = None,
) -> pd.DataFrame:
    """Read a table as text; a missing cell is "".

    A part of a nested object is a column such as `meta.side`; lists are JSON.

    Args:
        path: the file; its ending gives the format. `.gz` may follow it.
        columns: the required columns; others are read as well. `(file)` is the file's name.
        sheet: of an Excel file. Default: its first.
        turns: the column whose lists of objects become rows (`messages`, `log.turns`); their fields
            become columns such as `messages.content`.
        faults: gets a message for each row that cannot be read, which is left out. Default: such
            rows are an error.

    Returns:
        A frame of strings, indexed by the 1-based row of the file. A row that becomes several gives
        each of them its number.

    Raises:
        UserError: the file does not exist, its ending is unknown, a column is missing, repeated or
            not text, or there are no rows.
    """
    if not path.exists():
        raise UserError(f"{path}: no such file in {Path.cwd()}; put it there, or correct `path`.")
    ending, broken_rows = _ending(path), DataFaults()
    if ending not in ENDINGS:
        description = (
            "a folder without any" if path.is_dir() else f"a file ending in '{path.suffix}'"
        )
        raise UserError(
            f"{path}: {description}; expected one of {', '.join(ENDINGS)}, each perhaps with .gz."
            " Save it as one of them, such as pandas.read_...(FILE).to_csv(NEW, index=False)."
        )
    if ending in (".csv", ".tsv"):
        frame = read_delimited(path, broken_rows)
    elif ending in (".xlsx", ".xlsm"):
        frame = _read_excel(path, sheet)
    elif ending == ".parquet":
        frame = _as_frame(path, _read_parquet(path), turns, columns, broken_rows)
    else:
        frame = _as_frame(path, read_objects(path, broken_rows), turns, columns, broken_rows)
    if FILE_COLUMN in columns:
        frame[FILE_COLUMN] = Path(path.name.removesuffix(GZIP)).stem
    check_header(path, list(map(str, frame)), columns, suggest_conversion(frame, columns))
    check_orientation(path, frame, columns)
    if faults is None:
        broken_rows.check()
    else:
        faults.add_all(broken_rows)
    return _as_text(path, frame, columns, has_blank_rows=ending in SHEETS)


def _ending(path: Path) -> str:
    name = path.name.casefold()
    return Path(name.removesuffix(GZIP)).suffix


def _read_excel(path: Path, sheet: str) -> pd.DataFrame:
    """Read a sheet; its first row that is not blank is the heading."""
    content = io.BytesIO(read_content(path))
    try:
        # a book that is read as a stream does not say what is hidden
        with pd.ExcelFile(content, engine_kwargs={"read_only": False}) as book:
            name = sheet or book.sheet_names[0]
            frame = pd.read_excel(
                book, sheet_name=name, header=None, dtype="object", na_filter=False
            )
            peculiarities = _describe_sheet(book.book[name])
    except Exception as fault:  # openpyxl raises errors of many kinds on damaged files
        raise UserError(
            f"{path}: cannot be read ({fault}); expected an Excel file. Save it again, or correct"
            " `sheet`."
        ) from None
    for peculiarity in peculiarities:
        warn_of_file(f"{path}: sheet '{name}': {peculiarity}")
    is_blank = (frame.map(cell_text) == "").all(axis="columns")
    if is_blank.all():
        raise UserError(f"{path}: the sheet is blank; expected a heading and rows. Name `sheet`.")
    start = is_blank.tolist().index(False)
    heading = [cell_text(cell).strip() for cell in frame.iloc[start]]
    rows = frame.iloc[start + 1 :].set_axis(heading, axis="columns")
    return rows.set_axis(pd.RangeIndex(1, len(rows) + 1, name="row"))


def _describe_sheet(sheet: Any) -> Iterator[str]:
    """Yield a sentence on each thing in a worksheet that is read otherwise than it looks."""
    rows = [row for row, place in sheet.row_dimensions.items() if place.hidden]
    columns = [name for name, place in sheet.column_dimensions.items() if place.hidden]
    for noun, hidden in (("row", rows), ("column", columns)):
        if hidden:
            yield (
                f"hidden {noun}s (the first is {noun} {hidden[0]} of the sheet) are read like the"
                " others. Remove what should not count."
            )
    if merged := sheet.merged_cells.ranges:
        yield (
            f"merged cells ({next(iter(merged))}) are read as one cell with the value, and blank"
            " ones. Write the value into each of them."
        )


def _read_parquet(path: Path) -> dict[int, JsonObject]:
    content = io.BytesIO(read_content(path))
    try:
        # with numpy's types a whole number beside a gap becomes a float
        frame = pd.read_parquet(content, dtype_backend="pyarrow")
    except Exception as fault:  # pyarrow raises errors of many kinds on damaged files
        raise UserError(
            f"{path}: cannot be read ({fault}); expected a Parquet file. Save it again."
        ) from None
    if any(frame.index.names):
        frame = frame.reset_index()
    frame.columns = frame.columns.map(str)
    records: list[JsonObject] = [*frame.to_dict("records")]  # pyrefly: ignore[bad-assignment]
    return dict(enumerate(records, start=1))


def _as_frame(
    path: Path,
    objects: Mapping[int, JsonObject],
    turns: str,
    columns: Sequence[str],
    faults: Faults,
) -> pd.DataFrame:
    """Return objects as rows, with a column for each part of a nested object.

    An object that is in `columns` itself stays one cell. With `turns`, each item of its list is a
    row; an object with an empty list is one row.
    """
    rows, numbers = [], []
    for number, record in objects.items():
        parts = [record]
        with faults.noting():
            if turns:
                parts = list(_split_turns(f"{path}: record {number}", record, turns.split(".")))
            rows += parts
            numbers += [number] * len(parts)
    if not rows:
        faults.check()
    flat_rows = [dict(_flatten(row, columns)) for row in rows]
    index = pd.Index(numbers, name="row")
    # json_normalize would make floats of whole numbers beside a gap
    return pd.DataFrame(flat_rows, index, dtype="object")


def _flatten(
    record: JsonObject, columns: Sequence[str], prefix: str = ""
) -> Iterator[tuple[str, Json]]:
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and name not in columns:
            yield from _flatten(value, columns, f"{name}.")
        else:
            yield name, value


def _split_turns(place: str, record: Json, keys: Sequence[str]) -> Iterator[JsonObject]:
    """Yield a record for each item of its list, with the item instead of the list."""
    key, *inner_keys = keys
    value = record.get(key) if isinstance(record, dict) else None
    if inner_keys and isinstance(value, dict):
        for part in _split_turns(place, value, inner_keys):
            yield {**record, key: part}
        return
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UserError(
            f"{place}, field '{key}': found {quote_value(value)}, expected a list of objects, one a"
            f" turn. Correct the record or `turns`.{suggest_for_cells(key, [value], [f'{key}.'])}"
        )
    for item in value or [{}]:
        yield {**record, key: item}


def _as_text(
    path: Path, frame: pd.DataFrame, columns: Sequence[str], *, has_blank_rows: bool
) -> pd.DataFrame:
    """Return the cells as text, without repeated columns and blank rows of a sheet."""
    frame = frame.loc[:, ~frame.columns.duplicated(keep=False)]
    texts: dict[str, Column] = {}
    for name in frame:
        try:
            texts[str(name)] = frame[name].map(cell_text).astype("str")
        except UnicodeDecodeError:
            if name in columns:
                raise UserError(
                    f"{path}: column '{name}' holds bytes that are not text in UTF-8; expected"
                    " text. Save it as text."
                ) from None
    table = pd.DataFrame(texts, frame.index)
    if has_blank_rows:
        cells = table.drop(columns=FILE_COLUMN, errors="ignore")
        table = table[(cells != "").any(axis="columns")]
    if table.empty:
        raise UserError(f"{path}: no rows; expected at least one row of data.")
    return table


def list_files(path: Path) -> list[Path]:
    """Return the tables of a folder or a pattern in the order of their names, without hidden ones.

    The path itself if it is a file, or if there are no files.
    """
    if path.is_dir():
        candidates = [file for file in path.iterdir() if _ending(file) in ENDINGS]
    else:
        candidates = [*Path(path.anchor).glob(str(path.relative_to(path.anchor)))]
    files = [file for file in candidates if file.is_file() and not file.name.startswith(".")]
    return sorted(files, key=lambda file: natural_key(str(file))) or [path]


def numbered_rows(frame: pd.DataFrame) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table: 1-based row number, and cells by column."""
    for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        yield int(row), {str(name): cell for name, cell in cells.items()}


_MAX_EXACT_FLOAT = 2.0**53
"""The largest float up to which all whole numbers are exact."""


def cell_text(value: object) -> str:
    """Return the text of a value: "" if missing, `true` or `false`, 3 for 3.0, JSON if nested.

    Raises:
        UnicodeDecodeError: the value holds bytes that are not UTF-8.
    """
    for types, as_text in _TEXT_OF_TYPES:
        if isinstance(value, types):
            return as_text(value)
    return "" if value is None or value is pd.NA else str(value)


def _float_text(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return ""
    if math.isfinite(number) and number.is_integer() and abs(number) < _MAX_EXACT_FLOAT:
        return str(int(number))
    return str(value)


def _plain_part(value: object) -> object:
    """Return a part of a nested value that JSON has no form for."""
    return value.tolist() if isinstance(value, np.ndarray) else cell_text(value)


def _nested_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain_part)


def _time_text(value: Any) -> str:
    """Return a date and time; midnight is a date alone."""
    if value is pd.NaT:
        return ""
    is_date = value.tzinfo is None and value.time() == time.min
    return str(value.date() if is_date else value.isoformat(sep=" "))


_TEXT_OF_TYPES: Sequence[tuple[tuple[type, ...], Callable[[Any], str]]] = (
    ((str,), str),
    ((dict, list, tuple, np.ndarray), _nested_text),
    ((bool, np.bool_), lambda value: str(bool(value)).lower()),
    ((bytes,), bytes.decode),
    ((float, np.floating), _float_text),
    ((Decimal,), lambda value: f"{value:f}"),
    ((datetime, type(pd.NaT)), _time_text),
)
"""The function that writes a value of each type; other values are written by `str`."""
