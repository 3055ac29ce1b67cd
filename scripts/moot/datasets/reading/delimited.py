"""A CSV file as text, whatever separates its fields."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.text_files import describe_remedy, read_text
from moot.datasets.reading.checks import DataFaults, check_header, check_unique
from moot.datasets.reading.conversions import SKIP_ROWS

_SEPARATORS = ",;\t|"
_SAMPLE_ROWS, _SAMPLE_CHARS = 100, 1_000_000
"""What of a file shows its separator."""
_SEPARATOR_LINE = "sep="
"""The start of a first line that names the separator for Excel."""
_FIELD_LIMIT = 2**31 - 1  # court opinions exceed the csv module's 128 kB


def read_csv(
    path: Path,
    columns: Sequence[str],
    *,
    unique: str = "",
    get: str = "",
) -> pd.DataFrame:
    """Read a CSV file with known columns as text; a blank cell is "".

    Args:
        path: the file.
        columns: the required columns; others are read as well.
        unique: a column whose values may not repeat or be blank.
        get: how to obtain the file, for messages.

    Raises:
        UserError: as `read_table`, and if an id is repeated or blank.
    """
    faults = DataFaults()
    frame = read_delimited(path, faults, get=get)
    faults.check()
    check_header(path, list(map(str, frame)), columns)
    if unique:
        check_unique(path, frame[unique])
    return frame.loc[:, ~frame.columns.duplicated(keep=False)]


def read_delimited(path: Path, faults: Faults, *, get: str = "") -> pd.DataFrame:
    """Read the rows of a CSV file below its heading.

    A row of another width than the heading is a fault, unless blank fields make the difference:
    spreadsheets end lines with delimiters.
    """
    text = read_text(path, get=get)
    csv.field_size_limit(_FIELD_LIMIT)
    first_line = _first_line(text)
    is_separator_line = first_line.casefold().startswith(_SEPARATOR_LINE)
    if is_separator_line:
        text = text.removeprefix(first_line).lstrip("\r\n")
        delimiter = first_line[len(_SEPARATOR_LINE) :]
    else:
        delimiter = _find_delimiter(text[:_SAMPLE_CHARS])
    # pandas.read_csv fills short rows silently, and drops a row with broken quotes at the end
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        heading, *records = filter(None, reader)
    except csv.Error as fault:
        raise UserError(
            f"{path}: line {reader.line_num}: {fault}; expected every quoted field to be closed,"
            f' and a quotation mark within quotes twice (""). {describe_remedy(get)} Where the'
            " marks are plain characters, convert it by `pandas.read_csv(FILE, quoting=3,"
            f" sep={delimiter!r}, dtype=str)`."
        ) from fault
    rows: dict[int, list[str]] = {}
    for number, fields in enumerate(records, start=1):
        row, problem = _fit_to_heading(fields, heading)
        if problem:
            faults.add(f"{path}: row {number}: {problem}. {describe_remedy(get)}")
        else:
            rows[number] = row
    if not rows and len(records) > 1:
        raise UserError(
            f"{path}: the first line has {len(heading)} fields, and no line below it as many;"
            f" expected a heading. {describe_remedy(get)}{SKIP_ROWS}"
        )
    if not rows:
        faults.check()
        raise UserError(
            f"{path}: found a header without rows; expected at least one row of data. "
            f"{describe_remedy(get)}"
        )
    index = pd.Index(list(rows), name="row")
    columns = [name.strip() for name in heading]
    return pd.DataFrame(list(rows.values()), index, columns, dtype="str")


def _fit_to_heading(fields: list[str], heading: Sequence[str]) -> tuple[list[str], str]:
    """Return the fields of a row fitted to the heading's width, and the problem if that fails.

    Blank fields that the heading lacks are removed. Missing fields are added if their columns have
    no name.
    """
    width = len(heading)
    missing = heading[len(fields) :]
    if missing and not any(missing):
        return [*fields, *missing], ""
    if missing:
        cause = "the row ends early (a truncated file?)"
    elif any(field.strip() for field in fields[width:]):
        cause = "a delimiter too many"
    else:
        return fields[:width], ""
    return fields, f"found {len(fields)} fields, expected {width}: {cause}"


def _first_line(text: str) -> str:
    return re.split("[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]


def _find_delimiter(sample: str) -> str:
    """Return the separator by which most rows have as many fields as the heading.

    Of equal ones it is that with most fields; a comma if none separates the heading. The heading
    alone does not tell: its names may have commas of their own.
    """
    ranks: dict[str, tuple[int, int]] = {}
    for delimiter in _SEPARATORS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        heading, *rows = filter(None, islice(reader, _SAMPLE_ROWS))
        if len(heading) > 1:
            fits = [not _fit_to_heading(fields, heading)[1] for fields in rows]
            ranks[delimiter] = (sum(fits), len(heading))
    return max(ranks, key=lambda delimiter: ranks[delimiter], default=",")
