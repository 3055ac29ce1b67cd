r"""LaTeX tables that fit the page, with booktabs, or longtable for several pages.

Each column gets a share of the line in proportion to the length of its text, which wraps. The short
form of a table is set upright. A full form is set upright if its columns then have enough width,
else on a sideways page (`pdflscape`). A table that fits on a page spans both columns of a
two-column document (`table*`). A longtable needs a one-column document; its first line says so.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from moot.core.types import Numbers
from moot.report.escaping import latex, latex_note

CHUNK = 12  # characters after which a word that is too long for its column may break
ROOMY = 24  # characters of a column of text if the page has room


class Layout(NamedTuple):
    """A way to set a table.

    Attributes:
        size: The font size.
        is_sideways: Whether the page is turned.
        line: The approximate number of characters in a line of an `article`.
        chunk: The number of characters after which a word may break.
        min_characters: The minimum width of a column of text; above 0, intervals stay on one line.
    """

    size: str
    is_sideways: bool
    line: int
    chunk: int
    min_characters: int


LAYOUTS = (
    Layout("footnotesize", False, 72, CHUNK, ROOMY),
    Layout("scriptsize", True, 122, CHUNK, ROOMY),
    Layout("tiny", True, 147, CHUNK, 0),
    Layout("tiny", True, 147, 5, 0),
    Layout("tiny", True, 147, 3, 0),
)
"""Layouts in the order in which they are tried."""
UPRIGHT_LAYOUTS = (
    Layout("footnotesize", False, 72, CHUNK, ROOMY),
    Layout("footnotesize", False, 72, CHUNK, CHUNK),
    Layout("footnotesize", False, 72, 7, 7),
    Layout("footnotesize", False, 72, 7, 0),
    Layout("footnotesize", False, 72, 4, 0),
    Layout("footnotesize", False, 72, 3, 0),
)
"""Layouts of tables that may not be turned."""
GAP = 1.2  # characters between two columns
MAX_LINES = 36
"""Maximum number of lines of rows of a table on one page."""
MAX_FLOAT_LINES, NOTE_LINE = 49, 92
"""Maximum number of lines of rows and notes on one page, and characters per line of notes."""
MAX_COLUMNS = 24
"""Maximum number of columns on a sideways page. A table with more becomes two tables."""
LONGEST_CELL = 400  # characters; a row cannot break over pages, so longer text is cut
_NUMBER = re.compile(r"[\[\]()−+\d.,%]+")


def latex_table(
    columns: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    caption: str,
    label: str,
    notes: Sequence[str],
    *,
    upright: bool = False,
    key_count: int = 1,
) -> str:
    """Return the source of a table, or of two tables if it has many columns.

    Args:
        columns: The heading of each column, followed by its cells.
        numeric: Whether each column is set flush right.
        caption, label: The table's caption and label.
        notes: Sentences under the table.
        upright: Whether the page must not be turned.
        key_count: How many columns identify a row. A second table repeats them.
    """
    if len(columns) > MAX_COLUMNS:
        return _two_tables(columns, numeric, caption, label, notes, key_count)
    if any(max(map(len, cells)) > LONGEST_CELL for cells in columns):
        notes = [
            *notes,
            ("Long texts are shortened here; the CSV and HTML files contain the full text."),
        ]
        columns = [list(map(_cut, cells)) for cells in columns]
    layout, shares = choose_layout(columns, UPRIGHT_LAYOUTS if upright else LAYOUTS)
    lines = sum(_row_lines(row, layout.line * shares) for row in zip(*columns, strict=True))
    spans_pages = layout.is_sideways or lines > MAX_LINES
    note_lines = sum(math.ceil(len(note) / NOTE_LINE) for note in notes)
    is_one_float = not spans_pages and lines + note_lines <= MAX_FLOAT_LINES
    body = _tabular(columns, numeric, layout, shares, caption, label, spans_pages=spans_pages)
    source = [_first_line(spans_pages, layout.is_sideways)]
    if layout.is_sideways:
        source.append(r"\begin{landscape}")
    size = rf"\{layout.size}\setlength{{\tabcolsep}}{{2pt}}"
    if spans_pages:
        source += [r"\begingroup", size + r"\setlength{\LTcapwidth}{\linewidth}"]
    else:
        source += [r"\begin{table*}", size]
        source.append(rf"\caption{{{latex_note(caption)}}}\label{{{label}}}")
    source.append(body)
    if not spans_pages and not is_one_float:
        source += [r"\end{table*}", rf"\begingroup\noindent Notes to Table~\ref{{{label}}}:\par"]
    source.append(r"\footnotesize\raggedright")
    source += [rf"\noindent {latex_note(note)}\par" for note in notes]
    source.append(r"\end{table*}" if is_one_float else r"\endgroup")
    if layout.is_sideways:
        source.append(r"\end{landscape}")
    return "\n".join(source) + "\n"


def _two_tables(
    columns: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    caption: str,
    label: str,
    notes: Sequence[str],
    key_count: int,
) -> str:
    """Return the source of two tables, each with half of the columns that are not keys."""
    middle = (key_count + len(columns)) // 2
    second = [*range(key_count), *range(middle, len(columns))]
    first_source = latex_table(columns[:middle], numeric[:middle], caption, label, [])
    second_source = latex_table(
        [columns[index] for index in second],
        [numeric[index] for index in second],
        f"{caption} (further columns)",
        f"{label}:further",
        notes,
    )
    return first_source + second_source


def _first_line(spans_pages: bool, is_sideways: bool) -> str:
    """Return the comment that names the packages of a table."""
    packages = ["booktabs", "array"]
    packages += ["longtable"] if spans_pages else []
    packages += ["pdflscape"] if is_sideways else []
    columns_note = " Only for documents of one column." if spans_pages else ""
    return (
        f"% Needs \\usepackage{{{','.join(packages)}}}; compile as UTF-8 (use LuaLaTeX for "
        f"scripts other than Latin).{columns_note}"
    )


def _row_lines(row: Sequence[str], widths: Numbers) -> int:
    """Return how many lines a row takes, given the characters in a line of each column."""
    lines: list[int] = [
        math.ceil(len(cell) / width) for cell, width in zip(row, widths, strict=True)
    ]
    return max(lines)


def _tabular(
    columns: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    layout: Layout,
    shares: Numbers,
    caption: str,
    label: str,
    *,
    spans_pages: bool,
) -> str:
    """Return the tabular of a table, or a longtable with caption and label."""
    widths = []
    for is_numeric, share in zip(numeric, shares, strict=True):
        side = r"\raggedleft" if is_numeric else r"\raggedright"
        width = rf"\dimexpr{share:.4f}\linewidth-2\tabcolsep"
        widths.append(rf">{{{side}\arraybackslash}}p{{{width}}}")
    sources: dict[str, list[str]] = {}
    for column in columns:
        heading, *cells = (_cell(text, layout.chunk) for text in column)
        sources[heading] = cells or [""]
    return (
        pd.DataFrame(sources)
        .style.hide(axis="index")
        .to_latex(
            column_format=f"@{{}}{''.join(widths)}@{{}}",
            caption=latex_note(caption) if spans_pages else None,
            label=label if spans_pages else None,
            environment="longtable" if spans_pages else None,
            hrules=True,
        )
    )


def choose_layout(
    columns: Sequence[Sequence[str]], layouts: Sequence[Layout] = LAYOUTS
) -> tuple[Layout, Numbers]:
    """Return the first layout that leaves each column room for its longest word.

    If none does, the last layout is used.

    Returns:
        The layout, and the share of a line that each column takes with the gap after it.
    """
    # a heading wraps, so it does not count
    cell_lengths = np.array([max(map(len, cells[1:]), default=1) for cells in columns])
    for layout in layouts:
        longest = [_longest_piece(cells, layout) for cells in columns]
        widths = np.maximum(longest, np.minimum(cell_lengths, layout.min_characters)) + 0.6
        free_width = layout.line - GAP * len(columns) - widths.sum()
        if free_width >= 0:
            break
    missing_width = np.maximum(cell_lengths - widths, 0)
    widths = widths + missing_width * np.clip(free_width / max(missing_width.sum(), 1), 0, 1)
    shares = (widths + GAP) / layout.line
    return layout, shares / max(1, shares.sum())


def _longest_piece(cells: Sequence[str], layout: Layout) -> int:
    """Return the length of the longest piece of a column that does not break in a layout."""
    longest = 1
    for cell in cells:
        for word in _words(cell, keep_intervals=layout.min_characters > 0):
            longest = max(longest, *map(len, _pieces(word, layout.chunk)))
    return longest


def _words(cell: str, *, keep_intervals: bool) -> list[str]:
    """Return the words of a cell; with `keep_intervals` an interval is one word."""
    is_interval = cell.startswith("[") and cell.endswith("]")
    return [cell] if keep_intervals and is_interval else cell.split()


def _pieces(word: str, chunk: int) -> list[str]:
    """Return the pieces between which a word may break.

    A word breaks after a hyphen or another joint, and after each `chunk` characters. Numbers do not
    break.
    """
    if len(word) <= chunk or _NUMBER.fullmatch(word.replace(" ", "")):
        return [word]
    pieces: list[str] = []
    for segment in re.findall(r"[^\-_/=]*[\-_/=]|[^\-_/=]+$", word):
        pieces += [segment[start : start + chunk] for start in range(0, len(segment), chunk)]
    return pieces


def _cut(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL].rstrip()} […]"


def _cell(text: str, chunk: int) -> str:
    """Return a cell's source with the breaks that long words need.

    Braces protect a "[" or "*" at the start, which LaTeX would read as an option of the last row.
    """
    words = [r"\allowbreak{}".join(map(latex, _pieces(word, chunk))) for word in text.split()]
    source = " ".join(words)
    return f"{{}}{source}" if source.startswith(("[", "*")) else source
