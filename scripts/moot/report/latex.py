r"""Tables as LaTeX: one template, and one rule for tables that are too wide or too long.

A table that is wider than its line is scaled to it. A table that would then be too small to read is
turned (`sidewaystable*` of the package rotating). Rows that do not fit on a page continue in a
further part with the same number.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

import jinja2

from moot.report.escaping import latex, latex_note

TEMPLATE = Path(__file__).parent / "page" / "table.tex"
LINE, NARROW = 90, 45
"""Characters of a small font in a line of a page, and in a column of a two-column page."""
SMALLEST_SCALE = 0.75
MAX_LINES, MAX_TURNED_LINES = 44, 28
"""Lines of rows on a page, upright and turned."""
WRAPPED, LONGEST = 34, 600
"""Characters of a line in a column of text, and of a cell, which cannot break over pages."""


class Bold(str):
    """The text of a cell in bold."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class LatexColumn:
    """A column: its heading, the heading above several columns, and whether it has numbers."""

    head: str
    group: str = ""
    is_number: bool = False


def table_label(*names: str) -> str:
    """Return the label of a table.

    >>> table_label("decision_conference", "table5")
    'tab:decision-conference-table5'
    """
    # hyperref and babel read further colons, and some classes underscores, in labels.
    return f"tab:{'-'.join(names)}".replace("_", "-")


def latex_table(
    columns: Sequence[LatexColumn],
    rows: Sequence[Sequence[str]],
    caption: str,
    label: str,
    notes: Iterable[str] = (),
    remarks: Sequence[str] = (),
) -> str:
    """Return the source of a table.

    Args:
        columns: its columns.
        rows: the texts of each row. A row with a single text is a heading across all columns, and
            one without a text a line.
        caption, label: its caption and label.
        notes: sentences under it.
        remarks: sentences in the text after it, which may take more room than a page has left.
    """
    wrapped = max(WRAPPED, LINE // len(columns))
    widths = [_width(column, place, rows, wrapped) for place, column in enumerate(columns)]
    characters = sum(widths) + 2 * len(widths)
    is_turned = characters * SMALLEST_SCALE > LINE
    star = "" if characters <= NARROW else "*"
    is_wrapped = [_longest_cell(place, rows) > width for place, width in enumerate(widths)]
    sides = []
    for column, width, wraps in zip(columns, widths, is_wrapped, strict=True):
        text_side = rf">{{\raggedright\arraybackslash}}p{{{width / 2:.0f}em}}" if wraps else "l"
        sides.append("r" if column.is_number else text_side)
    parts = list(_pages(rows, widths, MAX_TURNED_LINES if is_turned else MAX_LINES))
    return (
        _template().render(
            packages=["booktabs", "graphicx", "array", *(["rotating"] if is_turned else [])],
            environment=f"{'sidewaystable' if is_turned else 'table'}{star}",
            caption=caption,
            label=label,
            format="".join(sides),
            heads=_head_lines(columns),
            parts=[_lines(part, widths) for part in parts],
            notes=notes,
            remarks=remarks,
        )
        + "\n"
    )


def _lines(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    return [_line(row, widths) for row in rows]


def _width(column: LatexColumn, place: int, rows: Sequence[Sequence[str]], wrapped: int) -> int:
    """Return the characters of a line in a column; the words of a heading do not wrap."""
    longest = max(len(column.head), _longest_cell(place, rows))
    return longest if column.is_number else min(longest, max(wrapped, len(column.head)))


def _longest_cell(place: int, rows: Sequence[Sequence[str]]) -> int:
    return max((len(row[place]) for row in rows if len(row) > 1), default=0)


def _pages(
    rows: Sequence[Sequence[str]], widths: Sequence[int], max_lines: int
) -> Iterator[Sequence[Sequence[str]]]:
    """Yield the rows of each page."""
    page: list[Sequence[str]] = []
    lines = 0
    for row in rows:
        of_columns = widths if len(row) > 1 else [sum(widths)]
        heights = [
            ceil(min(len(text), LONGEST) / width)
            for text, width in zip(row, of_columns, strict=False)
        ]
        height = max([1, *heights])
        if page and lines + height > max_lines:
            yield page
            page, lines = [], 0
        page.append(row)
        lines += height
    yield page


def _head_lines(columns: Sequence[LatexColumn]) -> list[str]:
    """Return the line of the headings, after the line of the groups if there are any."""
    lines = [" & ".join(latex(column.head) for column in columns) + r" \\"]
    if not any(column.group for column in columns):
        return lines
    cells: list[str] = []
    rules: list[str] = []
    position = 1
    for group, width in column_groups(column.group for column in columns):
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
        position += width
    return [" & ".join(cells) + r" \\", "".join(rules), *lines]


def column_groups(names: Iterable[str]) -> list[tuple[str, int]]:
    """Return the headings above columns, each with its number of columns."""
    groups: list[tuple[str, int]] = []
    for name in names:
        if groups and groups[-1][0] == name:
            groups[-1] = (name, groups[-1][1] + 1)
        else:
            groups.append((name, 1))
    return groups


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    if not row:
        return r"\midrule"
    if len(row) == 1:
        column = "l" if len(row[0]) <= sum(widths) else f"p{{{sum(widths) / 2:.0f}em}}"
        return rf"\multicolumn{{{len(widths)}}}{{@{{}}{column}}}{{{_cell(row[0])}}} \\"
    return " & ".join(map(_cell, row)) + r" \\"


def _cell(text: str) -> str:
    r"""Return a cell's source.

    Braces protect a "[" or "*" at the start, which LaTeX would read as an option of the last row.
    """
    shortened = text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} [...]"
    source = latex_note(shortened)
    if isinstance(text, Bold):
        return rf"\textbf{{{source}}}"
    return f"{{}}{source}" if source.startswith(("[", "*")) else source


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 - the filters escape for LaTeX
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%",  # braces are LaTeX's
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
    )
    environment.filters.update(note=latex_note)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
