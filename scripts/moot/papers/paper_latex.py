"""A paper's tables as LaTeX."""

from collections.abc import Sequence

from moot.papers.grid import Grid, GridCell, GridRow
from moot.papers.items import Paper, PaperItem
from moot.report.latex import Bold, LatexColumn, latex_table, table_label


def latex_source(
    paper: Paper, grid: Grid, notes: Sequence[str], remarks: Sequence[str] = ()
) -> str:
    """Return the source of a table: published values, this run's below them, own rows last.

    Notes stand under the table, remarks in the text after it.
    """
    item = grid.item
    columns = [LatexColumn(head) for head in item.row_heads]
    has_numbers = item.kind != "facts"
    columns += [LatexColumn(column.head, column.group, has_numbers) for column in item.columns]
    rows: list[tuple[str, ...]] = []
    for row in grid.paper_rows:
        rows.append((*row.heads, *map(_published_text, row.cells)))
        if row.has_own_values:
            no_heads = [""] * (len(item.row_heads) - 1)
            rows.append((_describe_source(row), *no_heads, *map(_own_text, row.cells)))
    if grid.own_rows:
        rows.append(())
    for row in grid.own_rows:
        if item.is_one_system and row.starts_block:
            rows.append((_describe_source(row),))
        heads = row.heads if item.is_one_system else _heads_with_data(row)
        rows.append((*heads, *map(_own_text, row.cells)))
    label = table_label(item.paper, item.key)
    return latex_table(columns, rows, _caption(paper, item), label, notes, remarks)


def _caption(paper: Paper, item: PaperItem) -> str:
    return f"{paper.short}, {item.number}: {item.title}"


def _published_text(cell: GridCell) -> str:
    return Bold(cell.published) if cell.is_bold else cell.published


def _own_text(cell: GridCell) -> str:
    own = cell.own_value
    mark = "*" if own.is_outside else ""
    strict = f"; {own.strict_text}" if own.strict_text else ""
    return f"{own.text}{mark} {own.interval_text}{strict}".strip()


def _heads_with_data(row: GridRow) -> tuple[str, ...]:
    return (f"{row.heads[0]} ({row.description})", *row.heads[1:])


def _describe_source(row: GridRow) -> str:
    return f"{row.source or 'configured'} ({row.description})" if row.own_row else row.source
