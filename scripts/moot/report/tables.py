"""Write tables as CSV (for further work), LaTeX (for papers) and HTML (for reading)."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path

import pandas as pd

from moot.core.artifacts import atomic_path
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.core.types import Column as Values
from moot.report.columns import KEY, OURS, PUBLISHED
from moot.report.content import Column, Table, TableContent
from moot.report.escaping import csv_text, page_template
from moot.report.latex import LatexColumn, latex_table, table_label
from moot.report.notes import EXPLORATORY, EXPLORATORY_NOTE
from moot.report.study_results import StudyResults

MISSING = "–"
WHAT_IS_MISSING = "what is missing"
"""The column of tables that says why a row has no value."""
DEFAULT_FORMAT = ".3f"
LARGE_VALUE = 100  # amounts of tokens and words from here on are shown without decimals
DIGITS = 10  # of a number in CSV; later digits depend on the order of summation
NO_WIDTH = 1e-9
NO_DIFFERENCE = 1e-12
_P_VALUES = re.compile(r"(?:^|\s)p\b")
ZERO_WIDTH_NOTE = (
    "An interval without width means that all evaluated cases have the same value, so that "
    "nothing shows how far others may lie. With few cases this does not mean certainty."
)
NO_INTERVAL_NOTE = (
    "A value without an interval rests on a single case or debate, has no spread, or its interval"
    " is not computed."
)


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column as text.

    Attributes:
        heading, role: As of the `Column`.
        numeric: Whether it holds numbers.
        cells: The formatted cells.
    """

    heading: str
    role: str
    numeric: bool
    cells: Sequence[str]


def write_table(entry: Table, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a table and write it to `paths`, by format ("csv", "tex", "html")."""
    content = entry.build(results)
    if content.exploratory:
        columns = (*content.columns, Column("inference"))
        content = replace(
            content, frame=content.frame.assign(inference=EXPLORATORY), columns=columns
        )
    if results.is_rehearsal:
        entry, content = _mark_rehearsal(entry, content)
    files: dict[str, Callable[[], str]] = {
        "csv": lambda: as_csv(content),
        "tex": lambda: as_latex(entry, content, results),
        "html": lambda: as_html(entry, content, results),
    }
    for kind, path in paths.items():
        with atomic_path(path) as part:
            part.write_text(files[kind](), encoding="utf-8", newline="\n")


def missing_values(path: Path) -> str:
    """Return why the CSV file of a table holds no value, "" if it holds one.

    A row that states what is missing has no value.
    """
    reason = "no rows"
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            reason = row.get(WHAT_IS_MISSING) or ""
            if not reason:
                return ""
    return reason


def _mark_rehearsal(entry: Table, content: TableContent) -> tuple[Table, TableContent]:
    """Mark the title, the caption and each row of the table of a rehearsal."""
    frame = content.frame.copy()
    frame.insert(0, "voices", REHEARSAL_MARK)
    prefix = f"{REHEARSAL_MARK}. "
    marked = replace(content, frame=frame, columns=(Column("voices"), *content.columns))
    return replace(entry, title=prefix + entry.title, caption=prefix + entry.caption), marked


def as_csv(content: TableContent) -> str:
    """Return the frame as CSV.

    Numbers have ten digits, text is quoted and harmless in a spreadsheet, missing values are empty.
    """
    return _plain(content.frame, csv_text).to_csv(
        index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )


def _plain(frame: pd.DataFrame, harmless: Callable[[object], str]) -> pd.DataFrame:
    """Return the frame with cells as `plain_value` gives them and with harmless text."""
    columns: dict[str, list[object]] = {}
    for name in frame.columns:
        cells: list[object] = []
        for cell in frame[name]:
            value = plain_value(str(name), cell)
            cells.append(harmless(value) if isinstance(value, str) and value else value)
        columns[harmless(name)] = cells
    return pd.DataFrame(columns, dtype=object)


def plain_value(name: str, value: str | float | None) -> str | int | float:
    """Return a cell of column `name` as an integer, a number of ten digits or text.

    A missing cell is "". A rounding error of equal sums (-9.25e-17) becomes 0, except in a column
    of p values.
    """
    if pd.isna(value):
        return ""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(f"{float(value):.{DIGITS}g}")
        return 0.0 if abs(number) < NO_DIFFERENCE and not _P_VALUES.search(name) else number
    return str(value)


def as_html(entry: Table, content: TableContent, results: StudyResults) -> str:
    """Return a page with title, table and notes, which loads no other file."""
    columns = shown_columns(content)
    keys = [column.cells for column in columns if column.role == KEY]
    starts = [
        "first" if first else "group" if any(more_keys) else ""
        for first, *more_keys in zip(*keys, strict=True)
    ]
    return page_template("table.html").render(
        entry=entry,
        columns=columns,
        rows=len(content.frame),
        starts=starts,
        notes=notes_under(content, results),
        banner=results.made_up_about(_texts_in(content)),
    )


def as_latex(entry: Table, content: TableContent, results: StudyResults) -> str:
    """Return a LaTeX table with its notes below."""
    columns = shown_columns(content)
    heads = [LatexColumn(column.heading, is_number=column.numeric) for column in columns]
    rows = list(zip(*(column.cells for column in columns), strict=True))
    label = table_label(entry.study, entry.name)
    return latex_table(heads, rows, entry.caption, label, notes_under(content, results))


def notes_under(content: TableContent, results: StudyResults) -> list[str]:
    """Return all notes of the table and its data, and on the source of published values."""
    exploratory = [EXPLORATORY_NOTE] if content.exploratory else []
    texts = _texts_in(content)
    data_notes = results.notes_about(texts)
    made_up = results.made_up_about(texts)
    return list(
        dict.fromkeys(
            [
                *made_up,
                *exploratory,
                *content.notes,
                *_notes_on_intervals(content),
                *data_notes,
            ]
        )
    )


def _texts_in(content: TableContent) -> set[str]:
    cells = content.frame.to_numpy().flat
    return {*content.frame.columns, *(cell for cell in cells if isinstance(cell, str))}


def _notes_on_intervals(content: TableContent) -> list[str]:
    """Return the notes on intervals without width and on values without an interval."""
    ends = [column.ends for column in content.columns if column.ends and column.role != PUBLISHED]
    frame = content.frame
    widths = [(frame[high].astype(float) - frame[low].astype(float)).abs() for low, high in ends]
    measured = frame[content.names(OURS)].notna().any(axis=1)
    has_zero_width = any((width < NO_WIDTH).any() for width in widths)
    has_no_interval = bool(widths) and (measured & widths[0].isna()).any()
    return [
        note
        for note, holds in ((ZERO_WIDTH_NOTE, has_zero_width), (NO_INTERVAL_NOTE, has_no_interval))
        if holds
    ]


def shown_columns(content: TableContent) -> list[ShownColumn]:
    """Return the columns as text.

    An interval is one column, repeated keys are blank, and numbers are formatted.
    """
    return [
        ShownColumn(
            column.name,
            column.role,
            bool(column.ends) or _is_numeric(content.frame[column.name]),
            _cells(content, column),
        )
        for column in content.columns
    ]


def _is_numeric(column: Values) -> bool:
    return (
        all(pd.isna(value) or isinstance(value, Real) for value in column)
        and not column.isna().all()
    )


def _cells(content: TableContent, column: Column) -> list[str]:
    frame, digits = content.frame, column.digits or DEFAULT_FORMAT
    if column.ends:
        pairs = frame[list(column.ends)].itertuples(index=False, name=None)
        return [
            (
                MISSING
                if pd.isna(low) or pd.isna(high)
                else f"[{_format_cell(low, digits)}, {_format_cell(high, digits)}]"
            )
            for low, high in pairs
        ]
    cells = [_format_cell(value, digits) for value in frame[column.name]]
    if _P_VALUES.search(column.name):
        cells = ["< 0.001" if cell == "0.000" else cell for cell in cells]
    if column.role != KEY:
        return cells
    keys = content.names(KEY)
    key_columns = frame[keys[: keys.index(column.name) + 1]]
    repeated = (key_columns == key_columns.shift()).all(axis=1)
    return ["" if is_repeated else cell for cell, is_repeated in zip(cells, repeated, strict=True)]


def _format_cell(value: str | float | None, specification: str) -> str:
    if pd.isna(value):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return format(int(value), specification if specification.endswith("d") else "d")
    if isinstance(value, Real):
        if abs(float(value)) >= LARGE_VALUE:
            specification = specification.replace(DEFAULT_FORMAT, ".1f")
        number = format(
            round(float(value)) if specification.endswith("d") else float(value), specification
        )
        return f"−{number[1:]}" if number.startswith("-") and float(number) else number.lstrip("-")
    return str(value) or MISSING
