"""A paper's figures on their own axes: hollow published points and filled points of this run."""

import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from moot.papers.items import PaperItem
from moot.papers.parts import Part, Point, Series
from moot.report.figures import (
    BLUE,
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    ORANGE,
    SMALL_FONT_SIZE,
    count_phrase,
    figure_style,
    name_points,
    new_figure,
    series_style,
    whiskers,
    write_figure,
)
from moot.report.published import PublishedValues
from moot.report.study_results import Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PUBLISHED = "published"
PAIR = ("F1", "accuracy")
"""The scores of a pair of bars."""
LINES_OF_LEGEND, INCHES_OF_LINE = 6, 0.15
"""Lines of a legend that a figure of the usual height has room for, and the height of a further
one."""
MAX_BARS_OF_WIDTH, INCHES_OF_BAR = 40, 0.16
"""Pairs of bars that a figure of the usual width has room for, and the width of a further one."""
MAX_POINTS_OF_SIZE, INCHES_OF_POINT = 20, 0.09
"""Named points that a figure of the usual size has room for, and the height of a further one."""
WIDE_RANGE = 10
"""The largest x over the smallest from which on an axis is logarithmic."""
HEIGHT = 4.0
"""Inches."""
MAX_SHORT_NAME, INCHES_OF_CHAR = 24, 0.06
"""Characters of a name below a bar that a figure of `HEIGHT` has room for, and of those beyond."""
MAX_HALF_LINE = 48
"""Characters of a legend's entry that half the width of a figure holds."""


def series_of(item: PaperItem, published: PublishedValues, parts: Sequence[Part]) -> list[Series]:
    """Return the published points of a figure, then the points of this run."""
    groups: dict[str, list[Point]] = {}
    for entry in item.entry.get("points", ()):
        for (table, row, metric), value in published.items():
            is_named = row == entry.get("row", row) and metric == entry["metric"]
            if table == item.published_table and is_named:
                second = published.get((table, row, entry.get("second", "")), math.nan)
                values = (Measurement(float(value)), Measurement(float(second)))
                point = Point(entry.get("x", row), *values)
                groups.setdefault(entry.get("part", ""), []).append(point)
    series: list[Series] = []
    for part, points in groups.items():
        name = ", ".join(filter(None, [item.entry.get("printed_in", PUBLISHED), part]))
        panel = _panels(item)[0]
        series.append(Series(name, PUBLISHED, tuple(points), panel, part, PUBLISHED))
    return series + [part for part in parts if isinstance(part, Series)]


def _panels(item: PaperItem) -> list[str]:
    return list(item.entry.get("panels", [""]))


def points_frame(item: PaperItem, series: Sequence[Series]) -> pd.DataFrame:
    """Return the points of a figure for CSV, one row each.

    Columns: `source` (`published` or the experiment), `series`, `panel`, the labels of both axes,
    `low`, `high`, `n` (all answers), `n_invalid`, `data`, `cases`. Of pairs of bars the values are
    `F1` and `accuracy`.
    """
    has_pairs = item.entry["chart"] == "sorted"
    x, y_label = (item.entry[axis]["label"] for axis in ("x", "y"))
    first, *second = PAIR if has_pairs else [y_label]
    lines: list[list[object]] = []
    for one_series in series:
        for point in one_series.points:
            y = point.y
            line = [one_series.source, one_series.name, one_series.panel, point.x]
            line += [y.value, y.low, y.high]
            if has_pairs:
                line.append(point.second.value)
            lines.append([*line, y.n_answers, y.n_invalid, one_series.data, one_series.cases])
    columns = ["source", "series", "panel", x, first, "low", "high", *second, "n", "n_invalid"]
    return pd.DataFrame(lines, columns=[*columns, "data", "cases"])


def draw_chart(item: PaperItem, series: Sequence[Series], path: Path, mark: str = "") -> None:
    """Draw a figure as SVG.

    `mark` is written across a figure of a rehearsal or of made-up data.
    """
    with figure_style():
        drawing = build_chart(item, series)
        write_figure(drawing, f"{item.number}: {item.title}", mark, {"svg": path})


def build_chart(item: PaperItem, series: Sequence[Series]) -> "Figure":
    """Return the drawing of a figure, with a panel for each that the item names."""
    panels, chart = _panels(item), item.entry["chart"]
    drawing, grid = new_figure(height=HEIGHT, ncols=len(panels), squeeze=False, sharey=True)
    _enlarge(drawing, chart, series)
    draw = {"lines": _draw_lines, "scatter": _draw_scatter}
    draw |= {"sorted": _draw_sorted, "bars": _draw_bars}
    for axes, panel in zip(grid[0], panels, strict=True):
        of_panel = [one_series for one_series in series if one_series.panel in ("", panel)]
        draw[chart](axes, of_panel)
        _label_axes(axes, item, panel if len(panels) > 1 else "")
        if not of_panel:
            _note_empty(axes)
    grid[0][0].set_ylabel(item.entry["y"]["label"])
    _add_legend(drawing, grid[0])
    if chart == "scatter":
        _name_models(grid[0][0], series)
    return drawing


def _enlarge(drawing: "Figure", chart: str, series: Sequence[Series]) -> None:
    """Give a figure of many bars or named points the size that their names need."""
    count = sum(len(one_series.points) for one_series in series)
    width, height = drawing.get_size_inches()
    if chart == "sorted":
        names = [f"{one_series.name} · {one_series.group}" for one_series in series]
        longest = max(map(len, names), default=0)
        height += INCHES_OF_CHAR * max(0, longest - MAX_SHORT_NAME)
        width += INCHES_OF_BAR * max(count - MAX_BARS_OF_WIDTH, 0)
    elif chart == "scatter":
        further = max(count - MAX_POINTS_OF_SIZE, 0)
        width += INCHES_OF_POINT * further / 2
        height += INCHES_OF_POINT * further
    drawing.set_size_inches(width, height)


def _label_axes(axes: "Axes", item: PaperItem, title: str) -> None:
    x, y = item.entry["x"], item.entry["y"]
    axes.set_xlabel(x["label"])
    if y.get("share"):
        axes.set_ylim(-0.03, 1.03)
    if x.get("integer"):
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, 0.5), max(high, x["last"] + 0.5))
        axes.locator_params(axis="x", integer=True)
    if title:
        axes.set_title(title, loc="left")


def _note_empty(axes: "Axes") -> None:
    text = "The paper prints no values,\nand this run has none."
    style: Any = {"ha": "center", "va": "center", "color": GREY, "backgroundcolor": "white"}
    axes.text(0.5, 0.5, text, transform=axes.transAxes, **style)


def _add_legend(drawing: "Figure", panels: "Sequence[Axes]") -> None:
    entries: dict[str, Any] = {}
    for axes in panels:
        # matplotlib itself leaves out what is named with an underscore at the beginning.
        entries |= {str(container.get_label()): container for container in axes.containers}
    if entries:
        columns = 1 if max(map(len, entries)) > MAX_HALF_LINE else 2
        further_lines = max(len(entries) / columns - LINES_OF_LEGEND, 0)
        drawing.set_figheight(drawing.get_figheight() + INCHES_OF_LINE * further_lines)
        drawing.legend(
            list(entries.values()),
            list(entries),
            loc="outside upper center",
            ncols=columns,
            fontsize=SMALL_FONT_SIZE,
        )


def _style(place: int, is_published: bool) -> dict[str, Any]:
    style = series_style(place) | {"markersize": 6, "capsize": 2}
    if is_published:
        style |= {"color": GREY, "marker": "o", "markerfacecolor": "none"}
    return style


def _label(series: Series) -> str:
    size = "" if math.isnan(series.cases) else count_phrase(int(series.cases), "case")
    data_and_size = ", ".join(filter(None, [series.data, size]))
    return (
        series.name
        if series.source == PUBLISHED or not data_and_size
        else f"{series.name} ({data_and_size})"
    )


def _draw_points(axes: "Axes", series: Series, label: str, style: dict[str, Any]) -> None:
    """Draw the points that have values. Points of this run have intervals."""
    points = [point for point in series.points if not math.isnan(point.y.value)]
    intervals = [point.y.interval for point in points]
    if points:
        axes.errorbar(
            [point.x for point in points],
            [point.y.value for point in points],
            yerr=None if series.source == PUBLISHED else whiskers(intervals),
            label=label,
            **style,
        )


def _draw_lines(axes: "Axes", series: Sequence[Series]) -> None:
    for place, one_series in enumerate(series):
        is_published = one_series.source == PUBLISHED
        line = "none" if is_published else LINES[place % len(LINES)]
        style = _style(place, is_published) | {"linestyle": line}
        _draw_points(axes, one_series, _label(one_series), style)


def _draw_scatter(axes: "Axes", series: Sequence[Series]) -> None:
    """Draw a point of each model and prompt: its shape is the prompt, its label the model."""
    groups = list(dict.fromkeys(one_series.group for one_series in series))
    for one_series in series:
        place = groups.index(one_series.group)
        style = _style(place, one_series.source == PUBLISHED)
        style |= {"marker": MARKERS[place % len(MARKERS)], "linestyle": "none"}
        _draw_points(axes, one_series, one_series.group or "model", style)
    all_points = chain.from_iterable(one_series.points for one_series in series)
    values = [float(point.x) for point in all_points]
    if values and max(values) > WIDE_RANGE * min(values) > 0:
        axes.set_xscale("log")
        axes.set_xlim(min(values) / 1.25, 2 * max(values))
        axes.xaxis.set_major_formatter("{x:g}")
    elif values and max(values) > 0:
        axes.set_xlim(0, 1.25 * max(values))


def _name_models(axes: "Axes", series: Sequence[Series]) -> None:
    """Write the name of the model next to each point."""
    names: list[tuple[float, float, str]] = []
    for one_series in series:
        model = one_series.name.partition(",")[0]
        names += [(float(point.x), point.y.value, model) for point in one_series.points]
    name_points(axes, [point for point in names if not math.isnan(point[1])])


def _draw_sorted(axes: "Axes", series: Sequence[Series]) -> None:
    """Draw pairs of bars by descending F1: F1 and accuracy.

    Published ones are hollow; those of another study are hatched and stand on the right.
    """
    bars: list[tuple[str, str, Point]] = []
    for one_series in series:
        kind = "later study" if one_series.is_apart else "this run"
        for point in one_series.points:
            is_published = one_series.source == PUBLISHED
            name = str(point.x) if is_published else one_series.name
            name += f" · {one_series.group}" if one_series.group else ""
            bars.append(("table" if is_published else kind, name, point))
    bars.sort(key=lambda bar: (bar[0] == "later study", -bar[2].y.value, bar[1]))
    scores = zip(PAIR, (-0.2, 0.2), (BLUE, ORANGE), strict=True)
    for score, shift, colour in scores:
        for kind, hatch in (("table", None), ("this run", None), ("later study", "////")):
            places = [place + shift for place, bar in enumerate(bars) if bar[0] == kind]
            points = [point for of_kind, _, point in bars if of_kind == kind]
            values = [point.y if score == PAIR[0] else point.second for point in points]
            style: Any = {
                "facecolor": colour if kind == "this run" else "none",
                "edgecolor": colour,
                "hatch": hatch,
                "error_kw": {"linewidth": 0.8},
            }
            if values:
                heights = [value.value for value in values]
                ends = None if kind == "table" else whiskers([value.interval for value in values])
                label = f"{score}, {kind}"
                axes.bar(places, heights, 0.38, yerr=ends, label=label, **style)
    names = [name for _, name, _ in bars]
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=SMALL_FONT_SIZE)
    axes.grid(visible=False, axis="x")


def _draw_bars(axes: "Axes", series: Sequence[Series]) -> None:
    points = chain.from_iterable(part.points for part in series)
    labels = list(dict.fromkeys(str(point.x) for point in points))
    width = 0.8 / max(len(series), 1)
    for place, one_series in enumerate(series):
        shift = (place - (len(series) - 1) / 2) * width
        positions = [labels.index(str(point.x)) + shift for point in one_series.points]
        heights = [point.y.value for point in one_series.points]
        bars = axes.bar(
            positions, heights, width, color=COLOURS[place % len(COLOURS)], label=_label(one_series)
        )
        axes.bar_label(bars, [f"{height:.0f}" for height in heights], fontsize=SMALL_FONT_SIZE)
    axes.set_xticks(range(len(labels)), labels)
    axes.grid(visible=False, axis="x")
