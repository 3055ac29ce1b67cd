"""Tables as Excel workbooks, which open right everywhere: numbers are numbers, and text is never a formula.

A CSV cannot be that: where the decimal sign is a comma, Excel expects semicolons between cells, and reads 0.853 as text
and 1.5 as a day in May. What would please it there breaks pandas and R.
"""

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import datetime
from typing import Any

# The same results give the same bytes, so no file knows when it was made.
FIRST_DAY = datetime(1980, 1, 1)
ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
LONGEST = 32_767  # characters of a cell in Excel


def as_workbook(title: str, rows: Sequence[Sequence[str | int | float]], notes: Sequence[str]) -> bytes:
    """A workbook of two sheets, the table and its notes.

    Args:
        title: of the table, above the notes.
        rows: the headings, then cells as numbers or text; "" for missing ones.
        notes: one a row.
    """
    from openpyxl import Workbook  # registries are read at every start of Snakemake
    from openpyxl.styles import Font

    book = Workbook()
    sheets = [book.active, book.create_sheet("notes")]
    sheets[0].title = "table"
    for sheet, content in zip(sheets, (rows, [[title], *([note] for note in notes)]), strict=True):
        for row_number, row in enumerate(content, start=1):
            for column_number, value in enumerate(row, start=1):
                if value != "":
                    _fill(sheet.cell(row_number, column_number), value)
    for cell in sheets[0][1]:
        cell.font = Font(bold=True)
    sheets[0].freeze_panes = "A2"
    stream = io.BytesIO()
    book.save(stream)
    return _without_dates(stream.getvalue())


def _fill(cell: Any, value: str | float) -> None:
    cell.value = ILLEGAL.sub("", value)[:LONGEST] if isinstance(value, str) else value
    if isinstance(value, str):
        cell.data_type = "s"  # "=1+1" stays what it says


def _without_dates(book: bytes) -> bytes:
    """The same workbook, without the moment at which it was written."""
    stream = io.BytesIO()
    first_day = FIRST_DAY.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(stream, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first_day, content)
            new.writestr(zipfile.ZipInfo(entry.filename), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
