"""How figures look: colours that the colour-blind can tell apart, markers and hatches beside them, stable bytes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.artifacts import atomic_path
from moot.present import Figure, StudyResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

# Okabe and Ito (2008), "Color Universal Design"; yellow left out, since it cannot be seen on white paper.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#6E6E6E"
COLOURS = (VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("s", "o", "^", "D", "v", "P", "X", "<", ">", "*")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")

WIDTH, HEIGHT = 7.0, 4.2  # inches: the width of a page's text
SMALL = 7.5

_SETTINGS: Any = {
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
def house_style() -> Iterator[None]:
    """Draw with moot's settings, whatever the user's own are."""
    import matplotlib as mpl  # noqa: PLC0415 - a second that every start of Snakemake would wait for

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def draw(entry: Figure, results: StudyResults, paths: Mapping[str, Path]) -> None:
    """Build a figure and write it, `paths` by format ("png", "svg"): the same results give the same bytes."""
    without_dates: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None, "Title": f"{entry.study}: {entry.name}"},
    }
    with house_style():
        drawing = entry.build(results)
        for kind, path in paths.items():
            with atomic_path(path) as part:
                drawing.savefig(part, format=kind, metadata=without_dates[kind])


def new_figure(width: float = WIDTH, height: float = HEIGHT, **subplots: Any) -> "tuple[MatplotlibFigure, Any]":
    """A figure and its axes, without the global state of pyplot; `subplots` as matplotlib's `Figure.subplots`."""
    from matplotlib.figure import Figure as NewFigure  # noqa: PLC0415

    drawing = NewFigure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots(**subplots)


def panels(count: int, columns: int, row_height: float) -> "tuple[MatplotlibFigure, list[Axes], list[Axes]]":
    """A figure of equal panels with common axes: the figure, the panels, and those with no other panel below."""
    columns = min(columns, count)
    rows = -(-count // columns)
    drawing, grid = new_figure(
        height=0.9 + row_height * rows, nrows=rows, ncols=columns, sharex=True, sharey=True, squeeze=False
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


def look(position: int) -> dict[str, Any]:
    """Colour and marker of the nth series; no two of the first seventy are alike."""
    return {"color": COLOURS[position % len(COLOURS)], "marker": MARKERS[position % len(MARKERS)]}


def name_points(axes: "Axes", points: Sequence[tuple[float, float, str]]) -> None:
    """Write names beside points, those near each other one above the other.

    Names are placed from the top down; each is moved down until it stands clear of those before it.
    """
    height = 0.042
    to_axes = axes.transData + axes.transAxes.inverted()
    placed: list[tuple[float, float]] = []
    for x, y, name in sorted(points, key=lambda point: (-point[1], point[0], point[2])):
        across, up = to_axes.transform((x, y))
        level = up
        while any(abs(level - other) < height and abs(across - beside) < 0.17 for beside, other in placed):  # noqa: PLR2004
            level -= height
        placed.append((across, level))
        leftwards = across > 0.8  # noqa: PLR2004 - there the name would leave the picture
        axes.annotate(
            name,
            (x, y),
            xycoords="data",
            xytext=(across + (-0.012 if leftwards else 0.012), level),
            textcoords="axes fraction",
            fontsize=SMALL,
            va="center",
            ha="right" if leftwards else "left",
            arrowprops={**_LEADER, "relpos": (float(leftwards), 0.5)} if abs(level - up) > height else None,
        )


def note_below(drawing: "MatplotlibFigure", notes: Sequence[str]) -> None:
    """A line of small print under the axes; the data sets' notes belong there ("synthetic")."""
    if notes:
        drawing.supxlabel("\n".join(notes), fontsize=6.5, color=GREY, ha="left", x=0.01)
