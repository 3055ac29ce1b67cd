"""Tables that users bring in whatever file they have: CSV, JSON lines, Parquet or Excel, read as strings."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.input_files import quoted, read_csv, read_jsonl

_ANYTHING = (str, int, float, bool, type(None), list, dict)
_DELIMITERS = ",;\t"


def read_table(path: Path, columns: Sequence[str], sheet: str = "") -> pd.DataFrame:
    """Read a table whose kind follows from the file's ending; nothing is converted, a missing cell is "".

    Args:
        path: .csv, .tsv, .jsonl, .parquet or .xlsx.
        columns: the columns that must be there; others are read too, except from JSON lines.
        sheet: of an Excel file; "" for its first.

    Returns:
        A frame of strings, indexed by 1-based row.

    Raises:
        UserError: no such file, an ending that is not known, a column that is missing or repeated, no rows; for CSV
            and JSON lines as `read_csv` and `read_jsonl`.
    """
    readers: Mapping[str, Callable[[], pd.DataFrame]] = {
        ".csv": lambda: read_csv(path, columns, delimiter=_delimiter(path)),
        ".tsv": lambda: read_csv(path, columns, delimiter="\t"),
        ".jsonl": lambda: _as_strings(read_jsonl(path, dict.fromkeys(columns, _ANYTHING))),
        ".parquet": lambda: _checked(path, pd.read_parquet(path), columns),
        ".xlsx": lambda: _checked(path, _read_excel(path, sheet), columns),
    }
    reader = readers.get(path.suffix.casefold())
    if reader is None:
        raise UserError(f"{path}: a file ending in '{path.suffix}'; expected one of {', '.join(readers)}.")
    if not path.is_file():
        raise UserError(f"{path}: no such file; put it there, or correct `path` (from the working directory).")
    return reader()


def numbered_rows(frame: pd.DataFrame) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a frame that `read_table` gave: 1-based row, and column to cell."""
    for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        yield int(row), {str(name): cell for name, cell in cells.items()}


def _delimiter(path: Path) -> str:
    """What stands between the header's fields: a comma, a semicolon (European Excel) or a tab."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline()
        return csv.Sniffer().sniff(header, _DELIMITERS).delimiter
    except (csv.Error, OSError):
        return ","


def _read_excel(path: Path, sheet: str) -> pd.DataFrame:
    try:
        return pd.read_excel(path, sheet_name=sheet or 0, dtype="str", keep_default_na=False)
    except ValueError as fault:
        raise UserError(f"{path}: {fault}. Name one of the file's sheets in `sheet`.") from None
    except Exception as fault:
        raise UserError(f"{path}: not an Excel file that can be read ({fault}). Save it as .xlsx or .csv.") from None


def _checked(path: Path, frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    names = list(map(str, frame.columns))
    repeated = [name for name in columns if names.count(name) > 1]
    missing = [name for name in columns if name not in names]
    if repeated or missing:
        fault = f"column '{repeated[0]}' occurs twice" if repeated else f"missing column '{missing[0]}'"
        raise UserError(f"{path}: {fault}; found {quoted(', '.join(names))}. Correct the file or the configuration.")
    if frame.empty:
        raise UserError(f"{path}: no rows; expected at least one row of data.")
    frame.columns = pd.Index(names)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return _as_strings(frame)


def _as_strings(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.map(lambda cell: "" if cell is None or cell != cell else str(cell)).astype("str")  # noqa: PLR0124 - NaN
