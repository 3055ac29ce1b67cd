"""A table in the paper's form: published values, this run's values below them, own rows last."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from moot.papers.items import CellSpec, PaperColumn, PaperItem, PaperRow
from moot.papers.parts import Fact, OwnRow, Part
from moot.report.published import Published, PublishedValues, replication_range
from moot.report.study_results import NOT_MEASURED, Measurement
from moot.stats.intervals import NOTHING
from moot.stats.replication import all_defined

Interval = tuple[float, float]
ORIGIN = ("n", "n_invalid", "data", "cases", "wording")
"""Columns of own rows in files of tables."""
DIGITS = 10
"""Decimals in files of intervals and scores; later ones depend on the order of summation."""


@dataclass(frozen=True, slots=True)
class OwnCell:
    """This run's value in a cell.

    Attributes:
        text: The value with the paper's digits.
        value: The value with its interval and its counts; not measured in a cell of several.
        interval_text: The interval in brackets with the paper's digits; "" without one.
        replication: The interval in which a replication falls in 95 of 100 cases; NaN if unknown.
        is_outside: Whether the published value lies outside of that interval.
        strict_text: The value that counts invalid answers as wrong; "" with few of them.
    """

    text: str = ""
    value: Measurement = NOT_MEASURED
    interval_text: str = ""
    replication: Interval = NOTHING
    is_outside: bool = False
    strict_text: str = ""


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell with its published value and this run's value."""

    published: str = ""
    published_value: float = math.nan
    own_value: OwnCell = OwnCell()
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of the paper, or an additional row of this run.

    Attributes:
        heads: The head cells.
        cells: The other cells.
        own_row: The own values.
        starts_block: Whether a row is the first of a source.
    """

    heads: tuple[str, ...]
    cells: tuple[GridCell, ...]
    own_row: OwnRow | None = None
    starts_block: bool = False

    @property
    def source(self) -> str:
        """The origin of this run's values; "" if there are none."""
        return self.own_row.source if self.own_row else ""

    @property
    def description(self) -> str:
        """Data, cases, invalid answers and wording of the own values; "" without any."""
        return self.own_row.description if self.own_row else ""

    @property
    def has_own_values(self) -> bool:
        """Whether this run has a value in any cell."""
        return any(cell.own_value.text for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a paper with this run's values.

    Attributes:
        paper_rows: The paper's rows.
        own_rows: The rows that the paper does not have.
    """

    item: PaperItem
    paper_rows: Sequence[GridRow]
    own_rows: Sequence[GridRow]

    @property
    def has_own_values(self) -> bool:
        """Whether this run has a value in any cell."""
        return any(row.has_own_values for row in (*self.paper_rows, *self.own_rows))


def build_grid(item: PaperItem, published: PublishedValues, parts: Sequence[Part]) -> Grid:
    """Build a table from the published values and the parts computed by studies."""
    parts_with_values = [part for part in parts if isinstance(part, OwnRow)]
    facts = {part.row: part.text for part in parts if isinstance(part, Fact)}
    repeats: dict[str, OwnRow] = {}
    for part in parts_with_values:
        if part.row and not part.has_no_answer:
            repeats.setdefault(part.row, part)
    if item.is_one_system and repeats:
        repeats = dict.fromkeys([row.key for row in item.rows], next(iter(repeats.values())))
    paper_rows = [
        _paper_row(item, row, published, repeats.get(row.key), facts) for row in item.rows
    ]
    own_rows: list[GridRow] = []
    for part in parts_with_values:
        if all(part is not shown for shown in repeats.values()):
            own_rows += _own_rows(item, part)
    return Grid(item, paper_rows, own_rows)


def _paper_row(
    item: PaperItem,
    row: PaperRow,
    published: PublishedValues,
    own_row: OwnRow | None,
    facts: Mapping[str, str],
) -> GridRow:
    cells = []
    for column in item.columns:
        spec = item.cell(row, column)
        text, published_value = spec.text, math.nan
        values = _published_values(item, row, spec, published)
        if values:
            text = spec.form.format(*(cell_text(value, spec) for value in values))
            published_value = values[0] if len(values) == 1 else math.nan
        own_value = OwnCell(facts.get(row.key, "")) if spec.fact else own_cell(row, spec, own_row)
        is_bold = column.name in row.entry.get("bold", ())
        cells.append(GridCell(text, published_value, own_value, is_bold))
    return GridRow(row.heads, tuple(cells), own_row)


def _published_values(
    item: PaperItem, row: PaperRow, spec: CellSpec, published: PublishedValues
) -> list[Published]:
    """Return the published values of a cell; none if one of them is missing."""
    values = []
    for name in spec.published:
        other_table, _, metric = name.rpartition(":")
        value = published.get((other_table or item.published_table, row.key, metric))
        if value is None:
            return []
        values.append(value)
    return values


def _own_rows(item: PaperItem, own_row: OwnRow) -> Iterator[GridRow]:
    """Yield the row of a source that the paper does not have, or its block of rows."""
    has_started = False
    for row in item.rows if item.is_one_system else item.rows[:1]:
        entry = {key: value for key, value in row.entry.items() if key != "cells"}
        plain_row = replace(row, entry=entry)
        cells = []
        for column in item.columns:
            value = own_cell(plain_row, item.cell(plain_row, column), own_row)
            cells.append(GridCell(own_value=value))
        if any(cell.own_value.text for cell in cells) or own_row.has_no_answer:
            heads = row.own_heads if item.is_one_system else own_row.heads
            yield GridRow(heads, tuple(cells), own_row, starts_block=not has_started)
            has_started = True


def own_cell(row: PaperRow, spec: CellSpec, own_row: OwnRow | None) -> OwnCell:
    """Return this run's value of a cell."""
    own_cells = own_row.cells if own_row else {}
    values = [own_cells.get((spec.part, score), NOT_MEASURED) for score in spec.scores]
    if own_row is None or not values or any(math.isnan(value.value) for value in values):
        return OwnCell()
    texts = [cell_text(value.value, spec) for value in values]
    text = spec.form.format(*texts)
    if len(values) > 1:
        return OwnCell(text)
    value = values[0]
    published = own_row.published.get((row.key, spec.published[0] if spec.published else ""))
    low, high = replication = _replication(published, value)
    is_replication = published is not None and not published.our_wording
    strict = own_row.strict_cells.get((spec.part, spec.scores[0]), NOT_MEASURED)
    return OwnCell(
        text,
        value,
        f"[{cell_text(value.low, spec)}, {cell_text(value.high, spec)}]"
        if all_defined(value.interval)
        else "",
        replication,
        is_replication and all_defined(replication) and not low <= value.value <= high,
        cell_text(strict.value, spec),
    )


def _replication(published: Published | None, ours: Measurement) -> Interval:
    """Return the interval in which a replication of our size would fall.

    It is NaN if the paper's n is unknown.
    """
    if published is None:
        return NOTHING
    factor = 1.0
    # this is a count of answers
    if published.share and published > 1 and published.n > 0 and ours.n > 0:
        factor = ours.n
        published = published.as_share_of(published.n)
        value, low, high = (number / factor for number in (ours.value, ours.low, ours.high))
        ours = replace(ours, value=value, low=low, high=high)
    low, high = replication_range(published, ours)
    return low * factor, high * factor


def cell_text(value: float, spec: CellSpec) -> str:
    """Return a value with the paper's digits; "" for none.

    >>> cell_text(0.63, CellSpec(digits=2, is_percent=True, is_trimmed=True))
    '63%'
    """
    if math.isnan(value):
        return ""
    text = f"{100 * value if spec.is_percent else value:.{spec.digits}f}"
    if spec.is_trimmed and "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text}%" if spec.is_percent else text


def values_frame(grid: Grid) -> pd.DataFrame:
    """Return a table for CSV: `source`, the paper's head cells and its columns; plain numbers.

    A row of the paper has `source` `published`. Own values follow it in a row of their experiment,
    which ends with `n` (answers), `n_invalid` (invalid or missing ones), `data`, `cases` and
    `wording` (whose words the prompts have).
    """
    item = grid.item
    names = [*item.row_heads, *(_name_with_unit(item, column) for column in item.columns)]
    lines: list[list[str]] = []
    for row in grid.paper_rows:
        published = [cell.published.removesuffix("%") for cell in row.cells]
        lines.append(["published", *row.heads, *published, *_origin(None)])
        lines += _own_lines(row)
    for row in grid.own_rows:
        lines += _own_lines(row)
    return pd.DataFrame(lines, columns=["source", *names, *ORIGIN])


def _own_lines(row: GridRow) -> Iterator[list[str]]:
    if row.has_own_values:
        texts = [cell.own_value.text.removesuffix("%") for cell in row.cells]
        yield [row.source or "configured", *row.heads, *texts, *_origin(row.own_row)]


def _origin(row: OwnRow | None) -> list[str]:
    """Return the columns `ORIGIN` of a row; empty ones without own values."""
    if row is None:
        return [""] * len(ORIGIN)
    answers = row.answers
    counts = [str(answers.n), str(answers.n_invalid + answers.n_missing)]
    cases = "" if math.isnan(row.cases) else f"{row.cases:.0f}"
    return [*(counts if answers.n else ["", ""]), row.data, cases, row.wording]


def _is_percent(item: PaperItem, column: PaperColumn) -> bool:
    return item.cell(item.rows[0], column).is_percent


def _name_with_unit(item: PaperItem, column: PaperColumn) -> str:
    return f"{column.name} (%)" if _is_percent(item, column) else column.name


def intervals_frame(grid: Grid) -> pd.DataFrame:
    """Return the intervals of a table's own values, one row a cell, in the unit of the table.

    Columns: `source`, the head cells, `column`, `published`, `value`, `low`, `high`,
    `replication_low`, `replication_high`, `n` (all answers), `n_invalid`, `published_is_outside`,
    `invalid_as_wrong` (the value that counts invalid answers as wrong), `data`, `cases`.
    """
    item = grid.item
    heads = list(item.row_heads)
    lines: list[list[object]] = []
    for row in (*grid.paper_rows, *grid.own_rows):
        for column, cell in zip(item.columns, row.cells, strict=True):
            own = cell.own_value
            if math.isnan(own.value.value):
                continue
            name = _name_with_unit(item, column)
            factor = 100 if _is_percent(item, column) else 1
            shares = (cell.published_value, *own.value.interval, *own.replication)
            numbers = [round(share * factor, DIGITS) for share in shares]
            numbers += [own.value.n_answers, own.value.n_invalid]
            marks = ["yes" if own.is_outside else "no", own.strict_text.removesuffix("%")]
            data = [row.own_row.data, row.own_row.cases] if row.own_row else ["", math.nan]
            lines.append([row.source, *row.heads, name, *numbers, *marks, *data])
    columns = ["source", *heads, "column", "published", "value", "low", "high"]
    columns += ["replication_low", "replication_high", "n", "n_invalid", "published_is_outside"]
    columns += ["invalid_as_wrong", "data", "cases"]
    return pd.DataFrame(lines, columns=columns)
