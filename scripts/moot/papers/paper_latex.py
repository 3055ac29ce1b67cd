r"""A paper's table as LaTeX, for documents of one and of two columns.

A table that is too wide for a column of text spans both columns (`table*`). In a one-column
document this is an ordinary table. A table that is still too wide is scaled to the line.
"""

from collections.abc import Sequence
from itertools import groupby

from moot.papers.examples import ExampleTable
from moot.papers.grid import Grid, GridCell, GridRow
from moot.papers.items import Paper, PaperItem
from moot.papers.parts import ExampleRow
from moot.report.escaping import latex, latex_note

MAX_NARROW_COLUMNS = 4
"""Maximum number of columns that fit one column of a two-column document."""
MAX_OWN_CHARS, MAX_CHARS_OF_LINE = 160, 400
"""Characters of this run in a cell and in all cells of a row of an example's LaTeX source."""
SOURCE_SHARE, SPACE_SHARE = 0.09, 0.02
"""The shares of a line that the first column of an example and the space of a column take."""


def latex_source(paper: Paper, grid: Grid, notes: list[str]) -> str:
    """Return the source of a table: published values, this run's below them, own rows last."""
    item = grid.item
    count = len(item.row_heads) + len(item.columns)
    environment = "table" if count <= MAX_NARROW_COLUMNS else "table*"
    lines = [
        r"% Needs \usepackage{booktabs,graphicx}; compile as UTF-8.",
        rf"\begin{{{environment}}}",
        r"\centering\small\setlength{\tabcolsep}{4pt}",
        *_caption_lines(paper, item),
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{@{{}}{'l' * len(item.row_heads)}{'r' * len(item.columns)}@{{}}}}",
        r"\toprule",
        *_head_lines(grid),
        r"\midrule",
    ]
    for row, span in zip(grid.paper_rows, grid.head_spans(grid.paper_rows), strict=True):
        heads = row.heads if span else ("", *row.heads[1:])
        lines.append(_line(heads, [latex(cell.published) for cell in row.cells]))
        if any(cell.own_value.text for cell in row.cells):
            lines.append(
                _line((f"  {_describe_source(row)}",), _own_texts(row), len(item.row_heads))
            )
    if grid.own_rows:
        lines.append(r"\midrule")
    for row in grid.own_rows:
        if item.is_one_system and row.starts_block:
            lines.append(rf"\multicolumn{{{count}}}{{@{{}}l}}{{{latex(_describe_source(row))}}} \\")
        heads = row.heads if item.is_one_system else _heads_with_data(row)
        lines.append(_line(heads, _own_texts(row)))
    lines += [r"\bottomrule", r"\end{tabular}}"]
    lines += [rf"\par\footnotesize\raggedright {latex_note(note)}" for note in notes]
    return "\n".join([*lines, rf"\end{{{environment}}}"]) + "\n"


def example_latex(paper: Paper, item: PaperItem, table: ExampleTable, notes: Sequence[str]) -> str:
    """Return the source of an example; texts of this run are cut, so that it fits on a page."""
    seat_count = len(table.seats)
    width = _width_of_seats(table) / seat_count
    columns = rf"p{{{SOURCE_SHARE}\linewidth}}" + rf"p{{{width:.3f}\linewidth}}" * seat_count
    heads = ["Source", *(latex(seat.capitalize()) for seat in table.seats)]
    lines = [
        r"% Needs \usepackage{booktabs}; compile as UTF-8.",
        r"\begin{table*}",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        *_caption_lines(paper, item),
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
    ]
    for step in table.steps:
        lines += [
            r"\midrule",
            rf"\multicolumn{{{seat_count + 1}}}{{@{{}}l}}{{{latex(step.head)}}} \\",
        ]
        lines += [_example_line(table, row, "Paper") for row in step.published]
        lines += [_example_line(table, row, "This run", is_cut=True) for row in step.own]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if table.title:
        notes = [f"This run: {table.title}. Long texts are cut.", *notes]
    lines += [rf"\par\raggedright {latex_note(note)}" for note in notes]
    return "\n".join([*lines, r"\end{table*}"]) + "\n"


def _caption_lines(paper: Paper, item: PaperItem) -> list[str]:
    return [
        rf"\caption{{{latex_note(f'{paper.short}, {item.number}: {item.title}')}}}",
        rf"\label{{tab:{item.paper.replace('_', '-')}-{item.key}}}",
    ]


def _width_of_seats(table: ExampleTable) -> float:
    """Return the share of a line that the columns of the debaters take."""
    return 1 - SOURCE_SHARE - SPACE_SHARE * len(table.seats)


def _example_line(table: ExampleTable, row: ExampleRow, source: str, is_cut: bool = False) -> str:
    texts = table.row_texts(row)
    if is_cut:
        max_chars = min(MAX_OWN_CHARS, MAX_CHARS_OF_LINE // len(texts))
        texts = [_shortened(text, max_chars) for text in texts]
    cells = [rf"\raggedright {latex(' '.join(text.split()))}" for text in texts]
    if len(cells) == 1:
        column = rf"p{{{_width_of_seats(table):.3f}\linewidth}}@{{}}"
        cells = [rf"\multicolumn{{{len(table.seats)}}}{{{column}}}{{{cells[0]}}}"]
    return " & ".join([source, *cells]) + r" \tabularnewline"


def _shortened(text: str, max_chars: int) -> str:
    """Return the paragraphs of a text in one line, cut if it is longer than `max_chars`."""
    line = "; ".join(" ".join(part.split()) for part in text.split("\n\n") if part.strip())
    return line if len(line) <= max_chars else f"{line[:max_chars]} ..."


def _head_lines(grid: Grid) -> list[str]:
    """Return the line of the headings, after the line of the groups if there are any."""
    item = grid.item
    column_heads = [column.head for column in item.columns]
    headings = [latex(text) for text in (*item.row_heads, *column_heads)]
    lines = [" & ".join(headings) + r" \\"]
    if not any(column.group for column in item.columns):
        return lines
    cells, rules = [""] * len(item.row_heads), []
    position = len(item.row_heads) + 1
    for group, columns in groupby(item.columns, lambda column: column.group):
        width = len(list(columns))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
        position += width
    return [" & ".join(cells) + r" \\", "".join(rules), *lines]


def _line(heads: tuple[str, ...], cells: list[str], width: int = 0) -> str:
    texts = [latex(head) for head in heads]
    texts += [""] * (width - len(texts))
    return " & ".join([*texts, *cells]) + r" \\"


def _own_texts(row: GridRow) -> list[str]:
    return [_own_text(cell) for cell in row.cells]


def _own_text(cell: GridCell) -> str:
    mark = r"$^{*}$" if cell.own_value.is_outside else ""
    interval = cell.own_value.interval_text
    text = latex(cell.own_value.text) + mark
    strict = f"; {cell.own_value.strict_text}" if cell.own_value.strict_text else ""
    return rf"{text} {{\scriptsize {latex(interval + strict)}}}" if interval or strict else text


def _heads_with_data(row: GridRow) -> tuple[str, ...]:
    return (f"{row.heads[0]} ({row.description})", *row.heads[1:])


def _describe_source(row: GridRow) -> str:
    return f"{row.source or 'configured'} ({row.description})" if row.own_row else row.source
