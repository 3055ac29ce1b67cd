r"""Tables for LaTeX that keep within the page: booktabs, and longtable where they run over pages.

Each column has a share of the line, by the number of its characters, and wraps its text. The short
form of a table is set upright. A full form is too if that leaves its columns room enough, and on a
page turned sideways (`pdflscape`) if not.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from moot.core.types import Numbers
from moot.report.escaping import latex, latex_note

CHUNK = 12  # characters after which a word may break that is too long for its column
ROOMY = 24  # characters of a column of text, where there is room
WAYS = (
    ("footnotesize", False, 72, CHUNK, ROOMY),
    ("scriptsize", True, 122, CHUNK, ROOMY),
    ("tiny", True, 147, CHUNK, 0),
    ("tiny", True, 147, 5, 0),
    ("tiny", True, 147, 3, 0),
)
UPRIGHT = (
    WAYS[0],
    *(
        ("footnotesize", False, 72, *room)
        for room in ((CHUNK, CHUNK), (7, 7), (7, 0), (4, 0), (3, 0))
    ),
)
"""How a table may be set: size, whether on a turned page, about how many characters of it an
`article`'s line holds, after how many characters a word may break, and how many a column of text
gets at least. Where it gets some, intervals stay on one line.
"""
GAP = 1.2  # characters between two columns
MOST_LINES, MOST_NOTES = 36, 1200  # lines of rows, and characters of notes, of a table on one page
LONGEST_CELL = 400  # characters: a row breaks over no page, so longer prose is cut
_NUMBER = re.compile(r"[\[\]()−+\d.,%]+")


def latex_table(
    columns: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    caption: str,
    label: str,
    notes: Sequence[str],
    *,
    upright: bool = False,
) -> str:
    """The source of a table.

    Args:
        columns: of each column the heading, then its cells.
        numeric: whether each column is set flush right.
        caption, label: of the table.
        notes: sentences under the table.
        upright: whether the page must not be turned.
    """
    if any(len(cell) > LONGEST_CELL for cells in columns for cell in cells):
        notes = [*notes, "Long texts are cut here; the CSV and HTML files have them whole."]
        columns = [[_cut(cell) for cell in cells] for cells in columns]
    size, turned, chunk, shares = layout_of(columns, UPRIGHT if upright else WAYS)
    line = next(way[2] for way in WAYS if way[0] == size)
    height = sum(
        max(math.ceil(len(cell) / (line * share)) for cell, share in zip(row, shares, strict=True))
        for row in zip(*columns, strict=True)
    )
    long = turned or height > MOST_LINES or sum(map(len, notes)) > MOST_NOTES
    widths = [
        rf">{{{side}\arraybackslash}}p{{\dimexpr{share:.4f}\linewidth-2\tabcolsep}}"
        for side, share in zip(
            (r"\raggedleft" if right else r"\raggedright" for right in numeric), shares, strict=True
        )
    ]
    cells = {
        _cell(heading, chunk): [_cell(cell, chunk) for cell in cells] or [""]
        for heading, *cells in columns
    }
    rows = pd.DataFrame(cells).style.hide(axis="index")
    begin, end = (r"\begingroup", r"\endgroup") if long else (r"\begin{table}", r"\end{table}")
    source = [
        (
            f"% Needs \\usepackage{{booktabs,array{',longtable' * long}{',pdflscape' * turned}}}; "
            "compile as UTF-8 (LuaLaTeX for other than Latin scripts)."
        ),
        *[r"\begin{landscape}"] * turned,
        begin,
        rf"\{size}\setlength{{\tabcolsep}}{{2pt}}" + r"\setlength{\LTcapwidth}{\linewidth}" * long,
        *([] if long else [rf"\caption{{{latex_note(caption)}}}\label{{{label}}}"]),
        rows.to_latex(
            column_format=f"@{{}}{''.join(widths)}@{{}}",
            caption=latex_note(caption) if long else None,
            label=label if long else None,
            environment="longtable" if long else None,
            hrules=True,
        ),
        r"\footnotesize\raggedright",
        *(rf"\noindent {latex_note(note)}\par" for note in notes),
        end,
        *[r"\end{landscape}"] * turned,
    ]
    return "\n".join(source) + "\n"


def layout_of(
    columns: Sequence[Sequence[str]], ways: Sequence[tuple[str, bool, int, int, int]] = WAYS
) -> tuple[str, bool, int, Numbers]:
    """The first of some ways that leaves each column room for its longest word: size, whether the
    page is turned, after how many characters words may break, and the share of a line that each
    column takes with the gap to the next one.
    """
    full = np.array([max(map(len, cells[1:]), default=1) for cells in columns])  # a heading wraps
    for way in ways:
        size, turned, line, chunk, roomy = way
        words = (
            (word for cell in cells for word in _words(cell, whole=roomy > 0)) for cells in columns
        )
        longest = [
            max((len(piece) for word in some for piece in _pieces(word, chunk)), default=1)
            for some in words
        ]
        widths = np.maximum(longest, np.minimum(full, roomy)) + 0.6
        left = line - GAP * len(columns) - widths.sum()
        if left >= 0:
            break
    lacking = np.maximum(full - widths, 0)
    widths = widths + lacking * np.clip(left / max(lacking.sum(), 1), 0, 1)
    shares = (widths + GAP) / line
    return size, turned, chunk, shares / max(1, shares.sum())


def _words(cell: str, *, whole: bool) -> list[str]:
    """The words of a cell; `whole`: an interval is one."""
    return [cell] if whole and cell.startswith("[") and cell.endswith("]") else cell.split()


def _pieces(word: str, chunk: int) -> list[str]:
    """Where a word may break: after a hyphen or another joint, and after every so many characters;
    numbers never do.
    """
    if len(word) <= chunk or _NUMBER.fullmatch(word.replace(" ", "")):
        return [word]
    joined = re.findall(r"[^\-_/=]*[\-_/=]|[^\-_/=]+$", word)
    return [
        piece[start : start + chunk] for piece in joined for start in range(0, len(piece), chunk)
    ]


def _cut(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL].rstrip()} […]"


def _cell(text: str, chunk: int) -> str:
    """A cell's source, with the breaks that long words need; a row that begins with "[" is no
    option of the last.
    """
    source = " ".join(
        r"\allowbreak{}".join(map(latex, _pieces(word, chunk))) for word in text.split()
    )
    return f"{{}}{source}" if source.startswith(("[", "*")) else source
