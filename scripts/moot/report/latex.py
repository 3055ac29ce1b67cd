r"""Tables for LaTeX that keep within the page.

Every column has a width of its own and wraps its text, so that a table is as wide as the text at most. It stands
upright if that leaves its columns room enough, and on a page turned sideways (`pdflscape`) if not, in the largest size
that fits. Long tables run over pages (`longtable`). Widths are those of a standard `article` of one column; a wider
page has room to spare.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

from moot.report import escaping

UPRIGHT, TURNED = 345.0, 550.0  # points: \textwidth and \textheight of article at 10 points on letter paper
GAP = 6.0  # points between two columns
ROOMY = 110.0  # points: text wraps from here on, where columns need not be narrower
LINES_UPRIGHT = 45
LINES_OF_NOTES = 18
LONGEST_CELL = 400  # characters: a row breaks over no page, so longer prose is cut
CHUNK, SHORT_CHUNK = 12, 5  # characters after which a word may break that is too long for its column; at the worst
SIZES = {"footnotesize": 8.5, "scriptsize": 8.0, "tiny": 6.8}
"""Size to the effective points of an em: the small sizes of Computer Modern are drawn wider."""
_WIDE = re.compile(r"[A-Zmw%@—]")
_NARROW = re.compile(r"[ijl.,;:!|'()\[\]\-/ ]")
_NUMBER = re.compile(r"[\[\]()−+\d.,%]+")
_FOREIGN = re.compile(r"[^\x00-\u024f‐-―−…’“”–]")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is set: size, whether the page is turned, whether it runs over pages, widths of columns in points.

    `chunk` is the number of characters after which a very long word may break.
    """

    size: str
    turned: bool
    long: bool
    chunk: int
    widths: tuple[float, ...]


def latex_table(
    columns: Sequence[Sequence[str]], numeric: Sequence[bool], caption: str, label: str, notes: Sequence[str]
) -> str:
    """The source of a table.

    Args:
        columns: of each column the heading, then its cells.
        numeric: whether each column is set flush right.
        caption, label: of the table.
        notes: sentences under the table.
    """
    cut = [[_cut(cell) for cell in cells] for cells in columns]
    layout = layout_of(cut, notes)
    any_cut = any(len(cell) > LONGEST_CELL for cells in columns for cell in cells)
    told = ["Long texts are cut here; the CSV and HTML files have them whole."] if any_cut else []
    sides = [r"\raggedleft" if right else r"\raggedright" for right in numeric]
    packages = ["booktabs", "array", *["longtable"] * layout.long, *["pdflscape"] * layout.turned]
    return _template().render(
        packages=packages,
        layout=layout,
        caption=caption,
        label=label,
        specification="".join(
            rf">{{{side}\arraybackslash}}p{{{width:.1f}pt}}" for side, width in zip(sides, layout.widths, strict=True)
        ),
        rows=[[_cell(cell, layout.chunk) for cell in row] for row in zip(*cut, strict=True)],
        notes=[*notes, *told],
        gap=GAP / 2,
    )


def layout_of(columns: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> Layout:
    """The first way of setting a table that leaves each column room for its longest word, roomy ways first."""
    ways = [(size, turned, True, CHUNK) for turned in (False, True) for size in ("footnotesize", "scriptsize")]
    ways += [("scriptsize", True, False, CHUNK), ("tiny", True, False, CHUNK), ("tiny", True, False, SHORT_CHUNK)]
    for size, turned, roomy, chunk in ways:
        ems = [_column_ems(cells, chunk) for cells in columns]
        room = (TURNED if turned else UPRIGHT) - GAP * (len(ems) - 1)
        needs = [tuple(em * SIZES[size] for em in column) for column in ems]
        wanted = [max(least, min(most, ROOMY)) if roomy else least for least, most in needs]
        if sum(wanted) <= room:
            break
    widths = _spread([most for _, most in needs], wanted, room)
    long = turned or _lines(columns, widths, size) > LINES_UPRIGHT or _note_lines(notes) > LINES_OF_NOTES
    return Layout(size, turned, long, chunk, widths)


def _spread(most: Sequence[float], wanted: Sequence[float], room: float) -> tuple[float, ...]:
    """Widths that fill the room at most: what is left goes to the columns that wrap; what lacks is taken from all."""
    left = room - sum(wanted)
    if left < 0:
        return tuple(width * room / sum(wanted) for width in wanted)
    lacking = [max(full - width, 0.0) for full, width in zip(most, wanted, strict=True)]
    share = min(1.0, left / sum(lacking)) if sum(lacking) else 0.0
    return tuple(width + lack * share for width, lack in zip(wanted, lacking, strict=True))


def _column_ems(cells: Sequence[str], chunk: int) -> tuple[float, float]:
    """The widths in em of a column's longest word and longest cell; of a heading the words alone, since it wraps."""
    words = [piece for cell in cells for word in cell.split() for piece in _pieces(word, chunk)]
    least = max((_ems(word) for word in words), default=1.0)
    return least + 0.2, max(least, *(_ems(cell) for cell in cells[1:]), 0.0) + 0.2


def _ems(text: str) -> float:
    """About how wide a text is, in em."""
    wide, narrow, foreign = (len(pattern.findall(text)) for pattern in (_WIDE, _NARROW, _FOREIGN))
    return 0.53 * (len(text) - wide - narrow - foreign) + 0.82 * wide + 0.36 * narrow + 1.0 * foreign


def _pieces(word: str, chunk: int) -> list[str]:
    """Where a word may break: after a hyphen or another joint, and after every so many characters; numbers never do."""
    if len(word) <= chunk or _NUMBER.fullmatch(word):
        return [word]
    joined = re.findall(r"[^\-_/=]*[\-_/=]|[^\-_/=]+$", word)
    return [piece[start : start + chunk] for piece in joined for start in range(0, len(piece), chunk)]


def _cut(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL].rstrip()} […]"


def _cell(text: str, chunk: int) -> str:
    """A cell's source, with the breaks that long words need; a row that begins with "[" is no option of the last."""
    source = " ".join(r"\allowbreak{}".join(map(escaping.latex, _pieces(word, chunk))) for word in text.split())
    return f"{{}}{source}" if source.startswith(("[", "*")) else source


def _lines(columns: Sequence[Sequence[str]], widths: Sequence[float], size: str) -> int:
    lines = (
        max(math.ceil(_ems(cell) * SIZES[size] / width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    )
    return sum(max(1, count) for count in lines)


def _note_lines(notes: Sequence[str]) -> int:
    return sum(math.ceil(_ems(note) * SIZES["footnotesize"] / UPRIGHT) for note in notes)


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 - texts go through the filters
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
    )
    environment.filters["note"] = escaping.latex_note
    return environment.from_string(_LATEX)


_LATEX = r"""% Needs \usepackage{<< packages | join(",") >>}; compile as UTF-8 (LuaLaTeX for other than Latin scripts).
<% macro heading() %>
\toprule
<< rows[0] | join(" & ") >> \\
\midrule
<% endmacro %>
<% if layout.turned %>
\begin{landscape}
<% endif %>
<% if layout.long %>
\begingroup\<< layout.size >>\setlength{\tabcolsep}{<< gap >>pt}\setlength{\LTcapwidth}{\linewidth}
\begin{longtable}{@{}<< specification >>@{}}
\caption{<< caption | note >>}\label{<< label >>} \\
<< heading() | trim >>
\endhead
\bottomrule
\endfoot
<% else %>
\begin{table}
\caption{<< caption | note >>}\label{<< label >>}
\<< layout.size >>\setlength{\tabcolsep}{<< gap >>pt}
\begin{tabular}{@{}<< specification >>@{}}
<< heading() | trim >>
<% endif %>
<% for row in rows[1:] %>
<< row | join(" & ") >> \\
<% endfor %>
<% if layout.long %>
\end{longtable}
<% else %>
\bottomrule
\end{tabular}

<% endif %>
<% if not layout.long %>
\begin{minipage}{\linewidth}
<% endif %>
\footnotesize\raggedright
<% for note in notes %>
\noindent << note | note >>\par
<% endfor %>
<< "\\end{minipage}" if not layout.long >>
<< "\\endgroup" if layout.long else "\\end{table}" >>
<% if layout.turned %>
\end{landscape}
<% endif %>
"""
