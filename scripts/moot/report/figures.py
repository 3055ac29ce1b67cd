"""How figures look: colours that the colour-blind can tell apart, with markers and hatches, stable
bytes.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from moot.core.artifacts import atomic_path
from moot.core.types import Json, JsonObject
from moot.report.content import SIMULATED, SIMULATED_NOTE, Figure, StudyResults
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure
    from matplotlib.transforms import Bbox

# Okabe and Ito (2008), "Color Universal Design"; yellow left out, since it cannot be seen on white
# paper.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#6E6E6E"
COLOURS = (VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("s", "o", "^", "D", "v", "P", "X", "<", ">", "*")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")

WIDTH, HEIGHT = 7.0, 4.2  # inches: the width of a page's text
SMALL_FONT_SIZE = 7.5
MOST_NAMED = 5  # of the runs that rest on a single case
SUPTITLE_WIDTH = 120  # characters
NOTE_WIDTH = 125
POINT = 6  # half a marker with its margin, in pixels of a figure that is not yet written

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
    """Draw with moot's settings, not the user's own."""
    import matplotlib as mpl  # a second that every start of Snakemake would wait for

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def draw(entry: Figure, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a figure and write it, `paths` by format ("png", "svg"): the same results give the same
    bytes.
    """
    without_dates: dict[str, JsonObject] = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None, "Title": entry.title},
    }
    with figure_style():
        drawing = entry.build(results)
        if results.simulated:
            _mark(drawing)
            without_dates["svg"]["Title"] += " (SIMULATED)"
            without_dates["png"]["Description"] = SIMULATED_NOTE
        for kind, path in paths.items():
            with atomic_path(path) as part:
                drawing.savefig(part, format=kind, metadata=without_dates[kind])


def _mark(drawing: "MatplotlibFigure") -> None:
    """Write across the figure of a rehearsal what it is."""
    drawing.text(
        0.5,
        0.5,
        SIMULATED,
        ha="center",
        va="center",
        rotation=25,
        fontsize=44,
        color=VERMILION,
        alpha=0.22,
        zorder=9,
    )


def new_figure(
    width: float = WIDTH, height: float = HEIGHT, **subplots: Any
) -> "tuple[MatplotlibFigure, Any]":
    """A figure and its axes, without the global state of pyplot;
    `subplots` as matplotlib's `Figure.subplots`.
    """
    from matplotlib.figure import Figure as NewFigure

    drawing = NewFigure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots(**subplots)


def panels(
    count: int, columns: int, row_height: float
) -> "tuple[MatplotlibFigure, list[Axes], list[Axes]]":
    """A figure of equal panels with common axes: the figure, the panels, and those with no other
    panel below.
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
    every = list(grid.flat)
    for unused in every[count:]:
        unused.set_axis_off()
    lowest = [axes for position, axes in enumerate(every[:count]) if position + columns >= count]
    for axes in lowest:
        axes.tick_params(labelbottom=True)
    return drawing, every[:count], lowest


def nothing_to_draw(reason: str) -> "MatplotlibFigure":
    """A figure that says why it is empty."""
    drawing, axes = new_figure(height=1.4)
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, ha="center", va="center", wrap=True, color=GREY)
    return drawing


def series_style(position: int) -> JsonObject:
    """Colour and marker of the nth series; no two of the first seventy are alike."""
    return {"color": COLOURS[position % len(COLOURS)], "marker": MARKERS[position % len(MARKERS)]}


def logarithmic(axes: "Axes", low: float, high: float) -> None:
    """A logarithmic x axis between two values, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # slow to import

    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def whiskers(estimates: Sequence[tuple[float, float, float]] | Floats) -> Floats:
    """How far the intervals of estimates reach, as `errorbar` takes it, shape (2, estimates); 0
    where there is none.
    """
    value, low, high = np.array(estimates, dtype=np.float64).T
    return np.asarray(
        np.nan_to_num(np.clip([value - low, high - value], 0, None)), dtype=np.float64
    )


def name_points(axes: "Axes", points: Sequence[tuple[float, float, str]]) -> None:
    """Write names next to points: each at the first place near its point that is free of points and
    other names.

        Names are placed from the top down, within the axes; one that is away from its point gets a
        line to it. Call it when everything else is drawn, notes too: places are measured on the
        laid-out figure.
    """
    from matplotlib.patheffects import withStroke  # slow to import
    from matplotlib.transforms import Bbox

    if not points:
        return
    drawing = cast("MatplotlibFigure", axes.get_figure(root=True))
    drawing.draw_without_rendering()
    anchors = [
        (float(x), float(y)) for x, y in axes.transData.transform([point[:2] for point in points])
    ]
    taken = [Bbox.from_extents(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in anchors]
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
        places = list(
            _places(anchors[position], 1.04 * size.width, size.height)
        )  # widths differ with resolution
        side, across, up, box = min(
            places,
            key=lambda place: (_outside(place[-1], axes.bbox), place[-1].count_overlaps(taken)),
        )
        taken.append(box)
        text.set(position=(across * to_points, up * to_points), ha=side)
        if abs(up) > 1.6 * size.height:
            end = (across * to_points, up * to_points)
            axes.annotate("", (x, y), xytext=end, textcoords="offset points", arrowprops=_LEADER)


def _places(
    anchor: tuple[float, float], width: float, height: float
) -> "Iterator[tuple[str, float, float, Bbox]]":
    """Places of a name, best first: right, left, above and below its point, then rows further off.

    Each with its alignment, its distance from the point across and up, and the room that it takes,
    in pixels.
    """
    from matplotlib.transforms import Bbox

    row, aside = height + 1, POINT + 3
    nearest = [("left", 0.0), ("right", 0.0), ("center", row), ("center", -row)]
    further = [
        (side, sign * n * row)
        for n in range(1, 9)
        for side in ("left", "right")
        for sign in (1, -1)
    ]
    for side, up in [*nearest, *further]:
        across, start = {
            "left": (aside, aside),
            "right": (-aside, -aside - width),
            "center": (0, -width / 2),
        }[side]
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


def case_counts(experiments: "Iterable[ExperimentResults]") -> dict[str, int]:
    """Experiments to the number of their evaluated cases, for `note_below`."""
    return {found.experiment: int(found.predictions["case_id"].nunique()) for found in experiments}


def count_phrase(number: int, thing: str) -> str:
    """A number with its noun: "1 case", "2 cases"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def note_below(
    drawing: "MatplotlibFigure",
    notes: Sequence[str],
    sizes: Mapping[str, int] | None = None,
    unit: str = "case",
) -> None:
    """Small print under the axes; the data sets' notes belong there ("synthetic").

    Args:
        drawing: the figure.
        notes: a line each, or several where it is long.
        sizes: the name of each thing drawn to its number of cases. Those with a single case are
            named above the figure, since nothing can be concluded from one.
        unit: what `sizes` counts.
    """
    single = [name for name, size in (sizes or {}).items() if size == 1]
    if single:
        named = single[:MOST_NAMED] if len(single) > MOST_NAMED + 1 else single
        more = f" and {len(single) - len(named)} more" if len(named) < len(single) else ""
        who = "" if len(single) == len(sizes or {}) else f": {', '.join(named)}{more}"
        text = textwrap.fill(f"A single {unit}: nothing can be concluded{who}", SUPTITLE_WIDTH)
        drawing.suptitle(text, fontsize=8, color=VERMILION, ha="left", x=0.01)
    if notes:
        room = int(NOTE_WIDTH * drawing.get_figwidth() / WIDTH)
        lines = (textwrap.fill(note, room) for note in notes)
        drawing.supxlabel("\n".join(lines), fontsize=6.5, color=GREY, ha="left", x=0.01)
