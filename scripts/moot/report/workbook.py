"""Excel workbooks: numbers are stored as numbers, and text is never a formula.

A CSV file cannot ensure this: where the decimal sign is a comma, Excel reads 0.853 as text and 1.5
as a date.
"""

import re
import zipfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from moot.core.artifacts import atomic_path
from moot.core.log import LOG
from moot.report.escaping import visible

# The limits of an Excel sheet, by Microsoft's specification.
MAX_ROWS, MAX_CELL_CHARS, MAX_NAME_CHARS = 1_048_575, 32_767, 31
NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\]")
# Excel keeps 15 digits of a number; a longer one is an identifier.
NUMBER = re.compile(r"-?(0|[1-9]\d{,14})(\.\d+)?(e[+-]\d+)?")
PROPERTIES, TIME = "docProps/core.xml", re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def write_workbook(frames: Mapping[str, pd.DataFrame], path: Path) -> None:
    """Write frames as the sheets of a workbook; equal frames give equal bytes."""
    with atomic_path(path) as part:
        with pd.ExcelWriter(part, engine="openpyxl") as writer:
            for name, frame in frames.items():
                _add_sheet(writer, name, frame)
        _remove_dates(part)


def write_tables(tables: Sequence[Path], path: Path) -> None:
    """Write the CSV files of tables as sheets; the first sheet lists their names and files."""
    frames: dict[str, pd.DataFrame] = {}
    contents: list[tuple[str, str]] = []
    for table in tables:
        # pandas' own readers take a model named "None" for a missing value, and 007 for 7.
        frame = pd.read_csv(table, dtype=str, keep_default_na=False).map(_read_cell)
        if frame.empty:
            continue
        base = NOT_IN_NAMES.sub(" ", f"{table.parent.name} {table.stem}")[: MAX_NAME_CHARS - 3]
        name = base
        while name.casefold() in {"contents", *map(str.casefold, frames)}:
            name = f"{base} {len(frames)}"
        frames[name] = frame
        contents.append((name, str(table)))
    listed = pd.DataFrame(contents, columns=["sheet", "file"])
    write_workbook({"contents": listed, **frames}, path)


def _read_cell(text: str) -> float | str | None:
    """Return the number that a text states, or the text; None for an empty one."""
    return float(text) if NUMBER.fullmatch(text) else text or None


def _add_sheet(writer: pd.ExcelWriter, name: str, frame: pd.DataFrame) -> None:
    if len(frame) > MAX_ROWS:
        LOG.warning("sheet %s has %d rows, Excel shows %d", name, len(frame), MAX_ROWS)
    shown = frame.head(MAX_ROWS).map(
        lambda cell: visible(cell)[:MAX_CELL_CHARS] if isinstance(cell, str) else cell
    )
    shown.to_excel(writer, sheet_name=name, index=False, freeze_panes=(1, 0))
    for cell in chain.from_iterable(writer.sheets[name].iter_rows()):
        if isinstance(cell.value, str):
            cell.data_type = "s"  # "=1+1" stays text


def _remove_dates(path: Path) -> None:
    """Remove the time of writing from a workbook."""
    with zipfile.ZipFile(path) as old:
        files = {entry.filename: old.read(entry) for entry in old.infolist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, content in files.items():
            undated = TIME.sub(b"1980-01-01T00:00:00Z", content) if name == PROPERTIES else content
            new.writestr(zipfile.ZipInfo(name), undated, zipfile.ZIP_DEFLATED)
