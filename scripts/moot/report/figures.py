"""The style of figures: colours for colour-blind readers, markers, and reproducible bytes."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from moot.core.artifacts import atomic_path
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.core.types import Json, JsonObject
from moot.report.content import Figure
from moot.report.notes import REHEARSAL_NOTE
from moot.report.study_results import StudyResults
from moot.stats.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure
    from matplotlib.transforms import Bbox

Drawing: TypeAlias = "MatplotlibFigure"
"""What the function of a figure returns; matplotlib is imported when a figure is drawn."""

# Okabe and Ito (2008), "Color Universal Design"; yellow left out, since it cannot be seen on white
# paper.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#6E6E6E"
COLOURS = (VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("s", "o", "^", "D", "v", "P", "X", "<", ">", "*")
LINES = ("-", "--", "-.", ":")

WIDTH, HEIGHT = 7.0, 4.2  # inches: the width of a page's text
SMALL_FONT_SIZE = 7.5
NOTE_WIDTH = 125
POINT = 6  # half a marker with its margin, in pixels of an unsaved figure

NOTHING_TO_DRAW = "nothing to draw"
"""The label of a figure without content, and the description in its SVG."""
HEAD_CHARS = 4000
"""Characters of an SVG that hold its metadata."""
_SETTINGS: Json = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine draws the same
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a model may be called "$x$"
    "svg.hashsalt": "moot",
    "svg.fonttype": "path",
}


_LEADER = {"arrowstyle": "-", "color": "#999999", "linewidth": 0.5}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw with moot's settings instead of the user's."""
    import matplotlib as mpl  # would delay every start of Snakemake by a second

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def draw(entry: Figure, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a figure and write it to `paths`, keyed by format ("png", "svg")."""
    with figure_style():
        drawing = entry.build(results)
        mark = made_up_mark(_notes_by_experiment(entry, results))
        write_figure(drawing, entry.title, REHEARSAL_MARK if results.is_rehearsal else mark, paths)


def write_figure(
    drawing: "MatplotlibFigure", title: str, mark: str, paths: Mapping[str, Path]
) -> None:
    """Write a figure, with a mark across it if it shows made-up values.

    Equal figures give equal bytes.
    """
    if mark:
        _mark(drawing, mark)
        title += f" ({mark})"
    description = REHEARSAL_NOTE if mark == REHEARSAL_MARK else mark
    metadata: dict[str, JsonObject] = {
        "png": {"Software": None, **({"Description": description} if description else {})},
        "svg": {"Date": None, "Creator": None, "Title": title},
    }
    if drawing.get_label() == NOTHING_TO_DRAW:
        metadata["svg"]["Description"] = NOTHING_TO_DRAW
    for kind, path in paths.items():
        with atomic_path(path) as part:
            drawing.savefig(part, format=kind, metadata=metadata[kind])


def has_content(svg: Path) -> bool:
    """Return whether the SVG of a figure shows more than the reason why it is empty."""
    if not svg.exists():  # a run may link it before it is built
        return True
    with svg.open(encoding="utf-8") as file:
        return f"<dc:description>{NOTHING_TO_DRAW}" not in file.read(HEAD_CHARS)


def _notes_by_experiment(entry: Figure, results: StudyResults) -> list[Sequence[str]]:
    experiments = results.find_experiments(*entry.protocols)
    return [experiment.config.made_up.notes for experiment in experiments]


def made_up_mark(notes_by_source: Iterable[Sequence[str]]) -> str:
    """Return the mark of a figure whose data or models are made up; "" for none.

    Args:
        notes_by_source: the notes on made-up inputs of each experiment or series of the figure. The
            mark begins with "PARTLY" where some have notes and others none.
    """
    marks: dict[str, None] = {}
    is_partly = False
    for notes in notes_by_source:
        is_partly |= not notes
        sentences = [note.partition(": ")[2] for note in notes]
        marks |= dict.fromkeys(sentence.partition(":")[0] for sentence in sentences)
    return ("PARTLY " if is_partly else "") + ", ".join(marks) if marks else ""


def _mark(drawing: "MatplotlibFigure", mark: str) -> None:
    """Write the mark of a rehearsal, or of made-up data, across a figure."""
    drawing.text(
        0.5,
        0.5,
        mark,
        ha="center",
        va="center",
        rotation=25,
        fontsize=min(44, 600 / len(mark)),
        color=VERMILION,
        alpha=0.22,
        zorder=9,
    )


def new_figure(
    width: float = WIDTH, height: float = HEIGHT, **subplots: Any
) -> "tuple[MatplotlibFigure, Any]":
    """Create a figure and its axes without the global state of pyplot.

    `subplots` are the arguments of matplotlib's `Figure.subplots`.
    """
    from matplotlib.figure import Figure as NewFigure

    drawing = NewFigure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots(**subplots)


def row_figure(names: Sequence[str], height: float) -> "tuple[MatplotlibFigure, Axes]":
    """Create a figure with a row for each name, from the top down; the nth row is at y = n."""
    drawing, axes = new_figure(height=height)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    return drawing, axes


def panels(
    count: int, columns: int, row_height: float
) -> "tuple[MatplotlibFigure, list[Axes], list[Axes]]":
    """Make a figure of equal panels with common axes.

    Returns:
        The figure, its panels, and the lowest panel of each column.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    drawing, grid = new_figure(
        height=0.9 + row_height * rows,
        nrows=rows,
        ncols=columns,
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    all_panels = list(grid.flat)
    for empty_panel in all_panels[count:]:
        empty_panel.set_axis_off()
    lowest = [
        axes for position, axes in enumerate(all_panels[:count]) if position + columns >= count
    ]
    for axes in lowest:
        axes.tick_params(labelbottom=True)
    return drawing, all_panels[:count], lowest


def nothing_to_draw(reason: str) -> "MatplotlibFigure":
    """Return a figure that states why it is empty."""
    drawing, axes = new_figure(height=1.4)
    drawing.set_label(NOTHING_TO_DRAW)
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, ha="center", va="center", wrap=True, color=GREY)
    return drawing


def series_style(position: int) -> JsonObject:
    """Return colour and marker of the nth series; the first seventy series differ."""
    return {"color": COLOURS[position % len(COLOURS)], "marker": MARKERS[position % len(MARKERS)]}


def whiskers(estimates: Sequence[tuple[float, float, float]] | Floats) -> Floats:
    """Return the lengths of error bars for `errorbar`, shape (2, estimates).

    An estimate without an interval has the length 0.
    """
    value, low, high = np.array(estimates, dtype=np.float64).T
    return np.asarray(
        np.nan_to_num(np.clip([value - low, high - value], 0, None)), dtype=np.float64
    )


def name_points(axes: "Axes", points: Sequence[tuple[float, float, str]]) -> None:
    """Write names next to points, without overlaps.

    Names are placed from the top down, each at the first free place near its point and within the
    axes. A name that is away from its point gets a line to it. Call this after everything else is
    drawn, including notes, since places are measured on the laid-out figure.

    Args:
        axes: The axes.
        points: The x, y and name of each point.
    """
    from matplotlib.patheffects import withStroke  # slow to import
    from matplotlib.transforms import Bbox

    if not points:
        return
    drawing = cast("MatplotlibFigure", axes.get_figure(root=True))
    drawing.draw_without_rendering()
    anchors = axes.transData.transform([point[:2] for point in points]).tolist()
    occupied = [Bbox.from_extents(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in anchors]
    to_points = 72 / drawing.dpi  # the same on paper at any resolution
    style: JsonObject = {
        "textcoords": "offset points",
        "fontsize": SMALL_FONT_SIZE,
        "va": "center",
        "zorder": 5,
    }
    for position in sorted(
        range(len(points)), key=lambda n: (-points[n][1], points[n][0], points[n][2])
    ):
        x, y, name = points[position]
        text = axes.annotate(name, (x, y), xytext=(0, 0), **style)
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])
        size = text.get_window_extent()
        # 1.04: widths differ with resolution
        places = list(_places(anchors[position], 1.04 * size.width, size.height))
        side, across, up, box = min(
            places,
            key=lambda place: (_outside(place[-1], axes.bbox), place[-1].count_overlaps(occupied)),
        )
        occupied.append(box)
        text.set(position=(across * to_points, up * to_points), ha=side)
        if abs(up) > 1.6 * size.height:
            end = (across * to_points, up * to_points)
            axes.annotate("", (x, y), xytext=end, textcoords="offset points", arrowprops=_LEADER)


def _places(
    anchor: tuple[float, float], width: float, height: float
) -> "Iterator[tuple[str, float, float, Bbox]]":
    """Yield places of a name: right, left, above and below its point, then rows further off.

    Yields:
        The alignment, the horizontal and vertical distance from the point, and the occupied box, in
        pixels.
    """
    from matplotlib.transforms import Bbox

    row, side_gap = height + 1, POINT + 3
    adjacent = [("left", 0.0), ("right", 0.0), ("center", row), ("center", -row)]
    distant = [
        (side, sign * n * row) for n, side, sign in product(range(1, 9), ("left", "right"), (1, -1))
    ]
    offsets: dict[str, tuple[float, float]] = {
        "left": (side_gap, side_gap),
        "right": (-side_gap, -side_gap - width),
        "center": (0, -width / 2),
    }
    for side, up in [*adjacent, *distant]:
        across, start = offsets[side]
        yield (
            side,
            across,
            up,
            Bbox.from_bounds(anchor[0] + start, anchor[1] + up - height / 2, width, height),
        )


def _outside(box: "Bbox", frame: "Bbox") -> bool:
    return bool(
        box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 - 1 or box.y1 > frame.y1 + 1
    )


def count_phrase(number: int, thing: str) -> str:
    """Return a number with its noun: "1 case", "2 cases"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def note_below(drawing: "MatplotlibFigure", notes: Sequence[str]) -> None:
    """Write notes in small print under the axes, a line each."""
    room = int(NOTE_WIDTH * drawing.get_figwidth() / WIDTH)
    lines = (textwrap.fill(note, room) for note in notes)
    drawing.supxlabel("\n".join(lines), fontsize=6.5, color=GREY, ha="left", x=0.01)
