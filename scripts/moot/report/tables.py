"""Tables as CSV (for further work), Excel workbook, LaTeX (booktabs) and HTML (one file, for
reading).
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from numbers import Integral, Real
from pathlib import Path

import numpy as np
import pandas as pd

from moot.core.artifacts import atomic_path
from moot.core.types import Column as Values
from moot.report.columns import KEY, OURS, PUBLISHED
from moot.report.content import (
    EXPLORATORY,
    EXPLORATORY_NOTE,
    SIMULATED,
    Column,
    StudyResults,
    Table,
    TableContent,
)
from moot.report.escaping import csv_text, page_template, visible, without_code_marks
from moot.report.latex import latex_table
from moot.report.published import unmatched_run_notes, wording_notes

MISSING = "–"
DEFAULT_FORMAT = ".3f"
LARGE = 100  # from here on, tokens and words: thousandths mean nothing
DIGITS = 10  # of a number in CSV: sums in another order, on another machine, differ beyond them
NO_WIDTH = 1e-9
NO_DIFFERENCE = 1e-12
_P_VALUES = re.compile(r"(?:^|\s)p\b")
FLAT_NOTE = (
    "An interval without width says that the evaluated cases are all alike in this value:"
    " resampling them cannot vary. With few cases that is no certainty."
)
WITHOUT_NOTE = (
    "A value without an interval rests on a single case or debate, or none is computed for it."
)
NONE_PUBLISHED_NOTE = (
    "The paper prints no value that stands beside these rows: the columns for it are empty."
)
PUBLISHED_NOTE = (
    "Published values are those of data/published/published_results.csv; they come without"
    " intervals. One stands beside ours only where a run repeats the paper's experiment as"
    " config/paper.yaml states it: the same data, settings and model of the same provider, and at"
    " least as many cases and repeats. All others stand by themselves."
)


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column as text: heading, role, whether it holds numbers, and its cells."""

    heading: str
    role: str
    numeric: bool
    cells: Sequence[str]


def short_form(content: TableContent) -> TableContent:
    """The table with the columns of the short form alone, and without the rows in which these are
    empty.

        Empty columns are left out, too. A key with the same value in all rows is told in a note
        instead. A key that the short form does not name stays where rows could not be told apart
        without it.
    """
    frame = content.frame.mask(content.frame == "")
    filled = [
        column
        for column in content.columns
        if frame.empty or frame[list(column.names)].notna().any(axis=None)
    ]
    shared = [
        column
        for column in filled
        if column.role == KEY and len(frame) > 1 and frame[column.name].nunique(dropna=False) == 1
    ]
    kept = [column for column in filled if column not in shared]
    described = list(takewhile(lambda column: column.role in (KEY, ""), content.columns))
    labels = {
        *described,
        *(column for column in filled if not column.ends and not _is_numeric(frame[column.name])),
    }

    def doubled(chosen: set[Column]) -> int:
        return int(frame.duplicated([column.name for column in labels & chosen]).sum())

    chosen = {column for column in kept if column.in_short_form}
    for column in (column for column in kept if column.role == KEY):
        if doubled({*chosen, column}) < doubled(chosen):
            chosen.add(column)
    columns = [column for column in kept if column in chosen] or content.columns
    says = [name for column in columns if column not in described for name in column.names]
    rows = frame[says].notna().any(axis=1) if says else slice(None)
    told = ", ".join(f"{column.name} `{frame[column.name].iloc[0]}`" for column in shared)
    notes = [f"All rows: {told}.", *content.notes] if told else content.notes
    return replace(content, frame=content.frame[rows], columns=columns, notes=notes)


def write_table(entry: Table, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a table and write it, `paths` by format ("csv", "xlsx", "tex", "html")."""
    content = own_rows_first(entry.build(results))
    content = replace(
        content, notes=[*results.findings.get(f"{entry.study}/{entry.name}", ()), *content.notes]
    )
    if content.exploratory:
        columns = (*content.columns, Column("inference", in_short_form=False))
        content = replace(
            content, frame=content.frame.assign(inference=EXPLORATORY), columns=columns
        )
    if results.simulated:
        entry, content = _marked(entry, content)
    files: dict[str, Callable[[], bytes]] = {
        "csv": lambda: as_csv(content).encode(),
        "xlsx": lambda: as_xlsx(entry, content, results),
        "tex": lambda: as_latex(entry, content, results).encode(),
        "full.tex": lambda: as_latex(entry, content, results, full=True).encode(),
        "html": lambda: as_html(entry, content, results).encode(),
    }
    for kind, path in paths.items():
        with atomic_path(path) as part:
            part.write_bytes(files[kind]())


def own_rows_first(content: TableContent) -> TableContent:
    """Rows with a value of this run first, rows with published values alone below them.

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


def _marked(entry: Table, content: TableContent) -> tuple[Table, TableContent]:
    """A table of a rehearsal: its title, its caption and each of its rows say so, in a file of any
    format.

        A row of published values alone is not simulated, and says what it is.
    """
    frame = content.frame.copy()
    theirs, own = (frame[content.names(role)].notna().any(axis=1) for role in (PUBLISHED, OURS))
    frame.insert(0, "voices", np.where(theirs & ~own, "published", SIMULATED))
    said = f"{SIMULATED}. "
    marked = replace(content, frame=frame, columns=(Column("voices"), *content.columns))
    return replace(entry, title=said + entry.title, caption=said + entry.caption), marked


def as_xlsx(entry: Table, content: TableContent, results: StudyResults) -> bytes:
    """A workbook of two sheets, the table and its notes: numbers are numbers, and text is never a
    formula.

        A CSV cannot be that: where the decimal sign is a comma, Excel expects semicolons between
        cells, and reads 0.853 as text and 1.5 as a day in May. What would please it there breaks
        pandas and R.
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
            for cell in (
                cell for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)
            ):
                cell.data_type = "s"  # "=1+1" stays what it says
    return _without_dates(stream.getvalue())


def _without_dates(book: bytes) -> bytes:
    """The same workbook without the moment at which it was written: the same results give the same
    bytes.
    """
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
    """The frame as CSV: numbers with ten digits, text quoted and harmless in a spreadsheet, missing
    values empty.
    """
    return _plain(content.frame, csv_text).to_csv(
        index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )


def _plain(frame: pd.DataFrame, harmless: Callable[[object], str]) -> pd.DataFrame:
    """The frame with cells as `plain_value` gives them, and text, that of headings too, made
    harmless.
    """
    columns = {
        harmless(name): [
            harmless(value) if isinstance(value, str) and value else value
            for value in (plain_value(str(name), value) for value in frame[name])
        ]
        for name in frame.columns
    }
    return pd.DataFrame(columns, dtype=object)


def plain_value(name: str, value: str | float | None) -> str | int | float:
    """A cell of column `name` as whole number, number of ten digits or text; "" where it is
    missing.

        What is left of two sums that should be equal (-9.25e-17) is 0; a column of p values keeps
        its small ones.
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
    """A page of its own with title, table and notes; it loads nothing.

    It shows the short form, and unfolds.
    """
    columns, short = shown_columns(content), short_form(content)
    keys = [column.cells for column in columns if column.role == KEY]
    starts = [
        "first" if first else "group" if any(others) else ""
        for first, *others in zip(*keys, strict=True)
    ]
    return page_template("table.html").render(
        entry=entry,
        columns=columns,
        short=[column.name for column in short.columns],
        short_rows=set(short.frame.index),
        rows=len(content.frame),
        starts=starts,
        notes=notes_under(replace(content, notes=short.notes), results),
    )


def as_latex(
    entry: Table, content: TableContent, results: StudyResults, *, full: bool = False
) -> str:
    """A table for booktabs that keeps within the page, with its notes below: see
    `moot.report.latex`.

        full: with all columns, on a turned page if need be; else the short form.
    """
    shown = content if full else short_form(content)
    columns, notes = shown_columns(shown), notes_under(shown, results)
    cells = [[column.heading, *column.cells] for column in columns]
    numeric = [column.numeric for column in columns]
    label = f"tab:{entry.study}:{entry.name}{':full' * full}"
    rows, more = (len(content.frame) - len(shown.frame), len(content.columns) - len(shown.columns))
    if rows or more:
        notes.append(
            f"{entry.name}.full.tex has {more} more columns{f' and {rows} more rows' * bool(rows)}."
        )
    return latex_table(cells, numeric, entry.caption, label, notes, upright=not full)


def notes_under(content: TableContent, results: StudyResults) -> list[str]:
    """All notes under a table: its own, those of the data, and the source of published values."""
    published = content.names(PUBLISHED)
    source = [PUBLISHED_NOTE, *_not_compared(content, results)]
    if not content.frame[published].notna().any(axis=None):
        source = [NONE_PUBLISHED_NOTE] if published else []
    exploratory = [EXPLORATORY_NOTE] if content.exploratory else []
    texts = {
        *content.frame.columns,
        *(cell for cell in content.frame.to_numpy().flat if isinstance(cell, str)),
    }
    of_data = results.notes_about(texts)
    return list(
        dict.fromkeys(
            [*exploratory, *content.notes, *_notes_on_intervals(content), *source, *of_data]
        )
    )


def _not_compared(content: TableContent, results: StudyResults) -> list[str]:
    """Why runs in this table are not compared, or in our words: those that it names, or all where
    it names none.
    """
    named = content.frame.get("experiment")
    experiments = set(results.experiments) & set(results.experiments if named is None else named)
    return [*wording_notes(results, experiments), *unmatched_run_notes(results, experiments)]


def _notes_on_intervals(content: TableContent) -> list[str]:
    """What intervals without width, and values without an interval, mean, where the table has some."""
    ends = [column.ends for column in content.columns if column.ends and column.role != PUBLISHED]
    frame = content.frame
    widths = [(frame[high].astype(float) - frame[low].astype(float)).abs() for low, high in ends]
    measured = frame[content.names(OURS)].notna().any(axis=1)
    flat = any((width < NO_WIDTH).any() for width in widths)
    without = bool(widths) and (measured & widths[0].isna()).any()
    return [note for note, holds in ((FLAT_NOTE, flat), (WITHOUT_NOTE, without)) if holds]


def shown_columns(content: TableContent) -> list[ShownColumn]:
    """The columns as text: intervals joined in one column, repeated keys left blank, numbers
    formatted.
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
                else f"[{_shown(low, digits)}, {_shown(high, digits)}]"
            )
            for low, high in pairs
        ]
    cells = [_shown(value, digits) for value in frame[column.name]]
    if _P_VALUES.search(column.name):
        cells = ["< 0.001" if cell == "0.000" else cell for cell in cells]
    if column.role != KEY:
        return cells
    keys = content.names(KEY)
    above = frame[keys[: keys.index(column.name) + 1]]
    repeated = (above == above.shift()).all(axis=1)
    return ["" if again else cell for cell, again in zip(cells, repeated, strict=True)]


def _shown(value: str | float | None, specification: str) -> str:
    if pd.isna(value):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return format(int(value), specification if specification.endswith("d") else "d")
    if isinstance(value, Real):
        if abs(float(value)) >= LARGE:
            specification = specification.replace(DEFAULT_FORMAT, ".1f")
        number = format(
            round(float(value)) if specification.endswith("d") else float(value), specification
        )
        return f"−{number[1:]}" if number.startswith("-") and float(number) else number.lstrip("-")
    return str(value) or MISSING
