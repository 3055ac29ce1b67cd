"""Write tables as CSV (for further work), Excel workbook, LaTeX (booktabs) and HTML (for
reading).
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, takewhile
from numbers import Integral, Real
from pathlib import Path

import numpy as np
import pandas as pd

from moot.core.artifacts import atomic_path
from moot.core.simulated_voice import REHEARSAL_MARK
from moot.core.types import Column as Values
from moot.report.columns import KEY, OURS, PUBLISHED
from moot.report.content import Column, Table, TableContent
from moot.report.escaping import csv_text, page_template, visible, without_code_marks
from moot.report.latex import latex_table
from moot.report.notes import EXPLORATORY, EXPLORATORY_NOTE
from moot.report.study_results import StudyResults

MISSING = "–"
DEFAULT_FORMAT = ".3f"
LARGE_VALUE = 100  # amounts of tokens and words from here on are shown without decimals
DIGITS = 10  # of a number in CSV; later digits depend on the order of summation
NO_WIDTH = 1e-9
NO_DIFFERENCE = 1e-12
_P_VALUES = re.compile(r"(?:^|\s)p\b")
ZERO_WIDTH_NOTE = (
    "An interval without width means that all evaluated cases have the same value, so that "
    "resamples do not vary. With few cases this does not mean certainty."
)
NO_INTERVAL_NOTE = (
    "A value without an interval rests on a single case or debate, or its interval is not computed."
)
NONE_PUBLISHED_NOTE = (
    "The paper prints no value for these rows, so the columns of published values are empty."
)
PUBLISHED_NOTE = (
    "Published values are read from data/published/published_results.csv; they have no intervals. A"
    " published value is shown next to ours only if a run repeats the paper's experiment as stated"
    " in config/papers/: the same data, settings and model of the same provider, and at least as"
    " many cases and repeats. All other published values have rows of their own."
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


def short_form(content: TableContent) -> TableContent:
    """Return the table with the columns of its short form.

    Empty columns and rows without a value in these columns are left out. A key with the same value
    in all rows is stated in a note instead. A key that is not in the short form is kept if rows
    could not be distinguished without it.
    """
    frame = content.frame.mask(content.frame == "")
    filled_names = set(frame.columns[frame.notna().any()])
    nonempty = [
        column
        for column in content.columns
        if frame.empty or not filled_names.isdisjoint(column.names)
    ]
    shared = [
        column
        for column in nonempty
        if column.role == KEY and len(frame) > 1 and frame[column.name].nunique(dropna=False) == 1
    ]
    candidates = [column for column in nonempty if column not in shared]
    described = list(takewhile(lambda column: column.role in (KEY, ""), content.columns))
    labels = {
        *described,
        *(column for column in nonempty if not column.ends and not _is_numeric(frame[column.name])),
    }

    def count_duplicates(columns: set[Column]) -> int:
        names = [column.name for column in labels & columns]
        return int(frame.duplicated(names).sum()) if names else len(frame) - 1

    selected = {column for column in candidates if column.in_short_form}
    for column in (column for column in candidates if column.role == KEY):
        if count_duplicates({*selected, column}) < count_duplicates(selected):
            selected.add(column)
    columns = [column for column in candidates if column in selected] or content.columns
    value_columns = (column for column in columns if column not in described)
    value_names = list(chain.from_iterable(column.names for column in value_columns))
    rows = frame[value_names].notna().any(axis=1) if value_names else slice(None)
    shared_text = ", ".join(f"{column.name} `{frame[column.name].iloc[0]}`" for column in shared)
    notes = [f"All rows: {shared_text}.", *content.notes] if shared_text else content.notes
    return replace(content, frame=content.frame[rows], columns=columns, notes=notes)


@dataclass(frozen=True)
class TableForms:
    """What several files of a table show, each worked out once."""

    full: TableContent

    @cached_property
    def short(self) -> TableContent:
        """The short form."""
        return short_form(self.full)

    @cached_property
    def columns(self) -> list[ShownColumn]:
        """The columns of the full form as text."""
        return shown_columns(self.full)


def write_table(entry: Table, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a table and write it to `paths`, by format ("csv", "xlsx", "tex", "full.tex",
    "html").
    """
    content = own_rows_first(entry.build(results))
    if content.exploratory:
        columns = (*content.columns, Column("inference", in_short_form=False))
        content = replace(
            content, frame=content.frame.assign(inference=EXPLORATORY), columns=columns
        )
    if results.is_rehearsal:
        entry, content = _mark_rehearsal(entry, content)
    forms = TableForms(content)
    files: dict[str, Callable[[], bytes]] = {
        "csv": lambda: as_csv(content).encode(),
        "xlsx": lambda: as_xlsx(entry, content, results),
        "tex": lambda: as_latex(entry, content, results, forms=forms).encode(),
        "full.tex": lambda: as_latex(entry, content, results, full=True, forms=forms).encode(),
        "html": lambda: as_html(entry, content, results, forms).encode(),
    }
    for kind, path in paths.items():
        with atomic_path(path) as part:
            part.write_bytes(files[kind]())


def has_rows(path: Path) -> bool:
    """Return whether the CSV file of a table has a row below its header."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return len(list(islice(csv.reader(file), 2))) > 1


def own_rows_first(content: TableContent) -> TableContent:
    """Return the table with the rows of this run above those that have only published values.

    Rows with the same first key stay together.
    """
    published, ours, keys = (content.names(role) for role in (PUBLISHED, OURS, KEY))
    if not (published and ours):
        return content
    frame = content.frame
    measured = frame[ours].notna().any(axis=1)
    if keys:
        measured = measured.groupby(frame[keys[0]].fillna("").to_numpy()).transform("any")
    order = [*np.flatnonzero(measured), *np.flatnonzero(~measured)]
    return replace(content, frame=frame.iloc[order].reset_index(drop=True))


def _mark_rehearsal(entry: Table, content: TableContent) -> tuple[Table, TableContent]:
    """Mark the title, the caption and each row of the table of a rehearsal.

    Rows of published values alone are marked as published.
    """
    frame = content.frame.copy()
    published, ours = (frame[content.names(role)].notna().any(axis=1) for role in (PUBLISHED, OURS))
    frame.insert(0, "voices", np.where(published & ~ours, "published", REHEARSAL_MARK))
    prefix = f"{REHEARSAL_MARK}. "
    marked = replace(content, frame=frame, columns=(Column("voices"), *content.columns))
    return replace(entry, title=prefix + entry.title, caption=prefix + entry.caption), marked


def as_xlsx(entry: Table, content: TableContent, results: StudyResults) -> bytes:
    """Return a workbook with the table and its notes in two sheets.

    Numbers are stored as numbers, and text is never a formula. A CSV file cannot ensure this: where
    the decimal sign is a comma, Excel expects semicolons between cells and reads 0.853 as text and
    1.5 as a date. Files written for such an Excel cannot be read by pandas and R.
    """
    notes = [entry.title, *map(without_code_marks, notes_under(content, results))]
    stream = io.BytesIO()
    with pd.ExcelWriter(stream, engine="openpyxl") as writer:
        _plain(content.frame, visible).to_excel(
            writer, sheet_name="table", index=False, freeze_panes=(1, 0)
        )
        pd.DataFrame(map(visible, notes)).to_excel(
            writer, sheet_name="notes", index=False, header=False
        )
        for sheet in writer.book.worksheets:
            for cell in chain.from_iterable(sheet.iter_rows()):
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # "=1+1" stays text
    return _without_dates(stream.getvalue())


def _without_dates(book: bytes) -> bytes:
    """Return the workbook without the time of writing, so that equal results give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(stream, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "docProps/core.xml":
                content = re.sub(
                    rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"1980-01-01T00:00:00Z", content
                )
            new.writestr(zipfile.ZipInfo(entry.filename), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


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


def as_html(
    entry: Table, content: TableContent, results: StudyResults, forms: TableForms | None = None
) -> str:
    """Return a page with title, table and notes, which loads no other file.

    It shows the short form and a checkbox that unfolds all columns.
    """
    forms = forms or TableForms(content)
    columns, brief = forms.columns, forms.short
    keys = [column.cells for column in columns if column.role == KEY]
    starts = [
        "first" if first else "group" if any(more_keys) else ""
        for first, *more_keys in zip(*keys, strict=True)
    ]
    return page_template("table.html").render(
        entry=entry,
        columns=columns,
        short=[column.name for column in brief.columns],
        short_rows=set(brief.frame.index),
        rows=len(content.frame),
        starts=starts,
        notes=notes_under(replace(content, notes=brief.notes), results),
        banner=results.made_up_about(_texts_in(content)),
    )


def as_latex(
    entry: Table,
    content: TableContent,
    results: StudyResults,
    *,
    full: bool = False,
    forms: TableForms | None = None,
) -> str:
    """Return a LaTeX table for booktabs that fits the page, with its notes below.

    See `moot.report.latex`.

    `full` selects all columns, if necessary on a sideways page, instead of the short form.
    """
    forms = forms or TableForms(content)
    visible = content if full else forms.short
    columns = forms.columns if full else shown_columns(visible)
    notes = notes_under(visible, results)
    cells = [[column.heading, *column.cells] for column in columns]
    numeric = [column.numeric for column in columns]
    label = f"tab:{entry.study}:{entry.name}{':full' * full}"
    row_gap, column_gap = (
        len(content.frame) - len(visible.frame),
        len(content.columns) - len(visible.columns),
    )
    if row_gap or column_gap:
        notes.append(
            f"{entry.name}.full.tex has {column_gap} more"
            f" columns{f' and {row_gap} more rows' * bool(row_gap)}."
        )
    key_count = sum(column.role == KEY for column in columns)
    return latex_table(
        cells, numeric, entry.caption, label, notes, upright=not full, key_count=key_count
    )


def notes_under(content: TableContent, results: StudyResults) -> list[str]:
    """Return all notes of the table and its data, and on the source of published values."""
    published = content.names(PUBLISHED)
    source = [PUBLISHED_NOTE]
    if not content.frame[published].notna().any(axis=None):
        source = [NONE_PUBLISHED_NOTE] if published else []
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
                *source,
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
