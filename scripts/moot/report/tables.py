"""Tables as CSV (for further work), Excel workbook, LaTeX (booktabs) and HTML (one file, for reading)."""

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from moot.core.artifacts import atomic_path
from moot.report import escaping
from moot.report.content import EXPLORATORY, EXPLORATORY_NOTE, SIMULATED, StudyResults, Table, TableContent
from moot.report.latex import latex_table
from moot.report.published import why_not_compared, wording_notes
from moot.report.workbook import as_workbook

MISSING = "–"
DEFAULT_FORMAT = ".3f"
LARGE = 100  # from here on, tokens and words: thousandths mean nothing
DIGITS = 10  # of a number in CSV: sums in another order, on another machine, differ beyond them
NO_WIDTH = 1e-9
NO_DIFFERENCE = 1e-12
_P_VALUES = re.compile(r"p\b")
FLAT_NOTE = (
    "An interval without width says that the evaluated cases are all alike in this value: resampling them cannot vary. "
    "With few cases that is no certainty."
)
WITHOUT_NOTE = "A value without an interval rests on a single case or debate, or none is computed for it."
NONE_PUBLISHED_NOTE = "The paper prints no value that stands beside these rows: the columns for it are empty."
PUBLISHED_NOTE = (
    "Published values are those of data/published/published_results.csv; they come without intervals. One stands "
    "beside ours only where a run repeats the paper's experiment as config/paper.yaml states it: the same data, "
    "settings and model of the same provider, and at least as many cases and repeats. All others stand by themselves."
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as shown: heading, published/ours/difference or "", whether it holds numbers, and its cells' text."""

    heading: str
    role: str
    numeric: bool
    cells: Sequence[str]


def write_table(entry: Table, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a table and write it, `paths` by format ("csv", "xlsx", "tex", "html")."""
    content = own_rows_first(entry.build(results))
    if content.exploratory:
        content = replace(content, frame=content.frame.assign(inference=EXPLORATORY))
    if results.simulated:
        entry, content = _marked(entry, content)
    files: dict[str, Callable[[], bytes]] = {
        "csv": lambda: as_csv(content).encode(),
        "xlsx": lambda: as_xlsx(entry, content, results),
        "tex": lambda: as_latex(entry, content, results).encode(),
        "html": lambda: as_html(entry, content, results).encode(),
    }
    for kind, path in paths.items():
        with atomic_path(path) as part:
            part.write_bytes(files[kind]())


def own_rows_first(content: TableContent) -> TableContent:
    """The rows that this run measured something of, and below them those that show published values alone.

    Rows with the same first key stay together.
    """
    if not (content.published and content.ours):
        return content
    frame = content.frame
    measured = frame[list(content.ours)].notna().any(axis=1)
    if content.keys:
        measured = measured.groupby(frame[content.keys[0]].fillna("").to_numpy()).transform("any")
    order = [*np.flatnonzero(measured), *np.flatnonzero(~measured)]
    return replace(content, frame=frame.iloc[order].reset_index(drop=True))


def _marked(entry: Table, content: TableContent) -> tuple[Table, TableContent]:
    """A table of a rehearsal: its title, its caption and each of its rows say so, in a file of any format.

    A row of published values alone is not simulated, and says what it is.
    """
    frame = content.frame.copy()
    theirs, own = (frame[list(columns)].notna().any(axis=1) for columns in (content.published, content.ours))
    frame.insert(0, "voices", np.where(theirs & ~own, "published", SIMULATED))
    said = f"{SIMULATED}. "
    return replace(entry, title=said + entry.title, caption=said + entry.caption), replace(content, frame=frame)


def as_xlsx(entry: Table, content: TableContent, results: StudyResults) -> bytes:
    """The frame as an Excel workbook, with the notes on a sheet of their own."""
    names = [str(name) for name in content.frame.columns]
    cells = [
        [plain_value(name, value) for name, value in zip(names, row, strict=True)]
        for row in content.frame.itertuples(index=False, name=None)
    ]
    notes = [escaping.without_code_marks(note) for note in notes_under(content, results)]
    return as_workbook(entry.title, [names, *cells], notes)


def as_csv(content: TableContent) -> str:
    """The frame as CSV: numbers with ten digits, text quoted and harmless in a spreadsheet, missing values empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    names = [str(name) for name in content.frame.columns]
    writer.writerow([escaping.csv_text(name) for name in names])
    for row in content.frame.itertuples(index=False, name=None):
        writer.writerow([_csv_cell(name, value) for name, value in zip(names, row, strict=True)])
    return stream.getvalue()


def _csv_cell(name: str, value: object) -> object:
    plain = plain_value(name, value)
    return escaping.csv_text(plain) if isinstance(plain, str) and plain else plain


def plain_value(name: str, value: object) -> str | int | float:
    """A cell of column `name` as whole number, number of ten digits or text; "" where it is missing.

    What is left of two sums that should be equal (-9.25e-17) is 0; a column of p values keeps its small ones.
    """
    if _is_missing(value):
        return ""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(f"{float(value):.{DIGITS}g}")
        return 0.0 if abs(number) < NO_DIFFERENCE and not _P_VALUES.match(name) else number
    return str(value)


def as_html(entry: Table, content: TableContent, results: StudyResults) -> str:
    """A page of its own with title, table and notes; it loads nothing."""
    columns = shown_columns(content)
    return _html_template().render(
        entry=entry,
        columns=columns,
        rows=range(len(content.frame)),
        starts=_starts(content, columns),
        notes=notes_under(content, results),
    )


def as_latex(entry: Table, content: TableContent, results: StudyResults) -> str:
    """A table for booktabs that keeps within the page, with its notes below: see `moot.report.latex`."""
    columns = shown_columns(content)
    cells = [[column.heading, *column.cells] for column in columns]
    label = f"tab:{entry.study}:{entry.name}"
    return latex_table(
        cells, [column.numeric for column in columns], entry.caption, label, notes_under(content, results)
    )


@cache
def _html_template() -> jinja2.Template:
    return escaping.page_template(_HTML)


def notes_under(content: TableContent, results: StudyResults) -> list[str]:
    """Everything that stands under a table: its own notes, those of the data, and the source of published values."""
    printed = content.frame[list(content.published)].notna().any(axis=None)
    source = [PUBLISHED_NOTE, *_not_compared(content, results)] if printed else [NONE_PUBLISHED_NOTE]
    source = source if content.published else []
    exploratory = [EXPLORATORY_NOTE] if content.exploratory else []
    return list(dict.fromkeys([*exploratory, *content.notes, *_notes_on_intervals(content), *source, *results.notes]))


def _not_compared(content: TableContent, results: StudyResults) -> list[str]:
    """Why runs in this table are not compared, or in our words: those that it names, or all where it names none."""
    named = content.frame.get("experiment")
    experiments = None if named is None else set(named) & set(results.experiments)
    return [*wording_notes(results, experiments), *why_not_compared(results, experiments)]


def _notes_on_intervals(content: TableContent) -> list[str]:
    """What intervals without width, and values without an interval, mean, where the table has some."""
    frame = content.frame
    ends = [frame[list(pair)].astype(float) for pair in content.intervals.values() if pair[0] not in content.published]
    widths = [(pair.iloc[:, 1] - pair.iloc[:, 0]).abs() for pair in ends]
    measured = frame[[name for name in content.ours if name in frame]].notna().any(axis=1)
    flat = any((width < NO_WIDTH).any() for width in widths)
    without = bool(widths) and any((measured & width.isna()).any() for width in widths[:1])
    return [note for note, holds in ((FLAT_NOTE, flat), (WITHOUT_NOTE, without)) if holds]


def shown_columns(content: TableContent) -> list[Column]:
    """The frame's columns as text: intervals joined in one column, repeated keys left blank, numbers formatted."""
    ends = {end: heading for heading, pair in content.intervals.items() for end in pair}
    shown: dict[str, Column] = {}
    for name in map(str, content.frame.columns):
        heading = ends.get(name, name)
        if heading in shown:
            continue
        numeric = heading in content.intervals or _is_numeric(content.frame[name])
        cells = _interval_cells(content, heading) if heading in content.intervals else _cells(content, name)
        shown[heading] = Column(heading, _role(content, name), numeric, cells)
    return list(shown.values())


def _starts(content: TableContent, columns: Sequence[Column]) -> list[str]:
    """For each row whether a value of the first key begins there ("first"), one of a later key ("group"), or none."""
    keys = [column.cells for column in columns if column.heading in content.keys]
    starts = [
        next(("group" if n else "first" for n, cells in enumerate(keys) if cells[row]), "") for row in _rows(keys)
    ]
    return ["", *starts[1:]] if starts else [""] * len(content.frame)


def _rows(keys: Sequence[Sequence[str]]) -> range:
    return range(len(keys[0])) if keys else range(0)


def _role(content: TableContent, name: str) -> str:
    roles = {"published": content.published, "ours": content.ours, "difference": content.difference}
    return next((role for role, names in roles.items() if name in names), "")


def _is_numeric(column: "pd.Series[Any]") -> bool:
    return all(_is_missing(value) or isinstance(value, Real) for value in column) and not column.isna().all()


def _cells(content: TableContent, name: str) -> list[str]:
    specification = content.formats.get(name, DEFAULT_FORMAT)
    cells = [_shown(value, specification) for value in content.frame[name]]
    if name not in content.keys:
        return cells
    before = list(content.keys)[: list(content.keys).index(name) + 1]
    repeated = (content.frame[before] == content.frame[before].shift()).all(axis=1)
    return ["" if again else cell for cell, again in zip(cells, repeated, strict=True)]


def _interval_cells(content: TableContent, heading: str) -> list[str]:
    low, high = content.intervals[heading]
    specification = content.formats.get(heading, DEFAULT_FORMAT)
    pairs = zip(content.frame[low], content.frame[high], strict=True)
    return [
        MISSING if _is_missing(a) or _is_missing(b) else f"[{_shown(a, specification)}, {_shown(b, specification)}]"
        for a, b in pairs
    ]


def _shown(value: object, specification: str) -> str:
    if _is_missing(value):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return format(int(value), specification if specification.endswith("d") else "d")
    if isinstance(value, Real):
        if abs(float(value)) >= LARGE:
            specification = specification.replace(DEFAULT_FORMAT, ".1f")
        number = format(round(float(value)) if specification.endswith("d") else float(value), specification)
        return f"−{number[1:]}" if number.startswith("-") and float(number) else number.lstrip("-")
    return str(value) or MISSING


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


_HTML = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ entry.title | text }}</title>
<style>
.moot { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto; max-width: 105rem;
        padding: 0 1rem; }
.moot .scroll { overflow-x: auto; }
.moot table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.moot table { border-top: 2px solid; border-bottom: 2px solid; }
.moot caption { text-align: left; padding-bottom: .6rem; max-width: 60rem; caption-side: top; }
.moot th { border-bottom: 1px solid; text-align: left; vertical-align: bottom; position: sticky; top: 0; }
.moot th { white-space: normal; background: #fff; }
.moot th, .moot td { padding: .22rem .6rem; vertical-align: top; }
.moot td { white-space: nowrap; }
.moot td.wide { white-space: normal; min-width: 16rem; }
.moot .number { text-align: right; }
.moot th.published, .moot td.published { background: #f1f1f1; }
.moot th.ours, .moot td.ours { background: #e8f2fa; }
.moot th.difference, .moot td.difference { background: #fdf3e0; }
.moot tbody tr.group td { border-top: 1px solid #ddd; }
.moot tbody tr.first td { border-top: 1px solid #888; }
.moot tbody tr:hover td { outline: 1px solid #999; }
.moot .notes { font-size: .87em; max-width: 60rem; padding-left: 1.2rem; }
@media print { .moot .scroll { overflow: visible; } .moot th { position: static; } }
</style>
</head>
<body>
<div class="moot">
<h1>{{ entry.title | text }}</h1>
<div class="scroll">
<table>
<caption>{{ entry.caption | note }}</caption>
<thead>
<tr>
{% for column in columns %}
<th scope="col" class="{{ column.role }}{{ ' number' if column.numeric }}">{{ column.heading | text }}</th>
{% endfor %}
</tr>
</thead>
<tbody>
{% for row in rows %}
<tr{{ ' class="%s"' % starts[row] if starts[row] }}>
{% for column in columns %}
<td class="{{ column.role }}{{ ' number' if column.numeric }}{{ ' wide' if column.cells[row] | length > 40 }}">
{{- column.cells[row] | text -}}
</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
</div>
<h2>Notes</h2>
<ul class="notes">
{% for note in notes %}
<li>{{ note | note }}</li>
{% endfor %}
</ul>
</div>
</body>
</html>
"""
