"""The paper's Figures 2 to 5: F1 against its costs, and F1 in falling order with accuracy."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.figures import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    SMALL_FONT_SIZE,
    VERMILION,
    case_counts,
    logarithmic,
    name_points,
    new_figure,
    note_below,
    nothing_to_draw,
    whiskers,
)
from moot.report.measurement import NOT_A_NUMBER, Measurement
from moot.report.published import published_values
from moot.report.study_results import StudyResults
from moot.studies.courtroom.runs import (
    DEBATE,
    METHODS,
    PROMPTS,
    STUDY,
    Run,
    data_notes,
    largest_reference_runs,
    list_runs,
    published_pairs,
    run_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ORDER = (DEBATE, *PROMPTS)  # the debate first: it takes the strongest colour
METHOD_LOOK = {
    METHODS[method]: (COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)])
    for n, method in enumerate(_ORDER)
}
PERFORMANCE = "Performance and cost"
MAX_NAMES = 40
LABEL_WIDTH = 45  # characters
MARKER_OFFSET = 0.17  # distance of F1 and accuracy from the middle of their row


@dataclass(frozen=True, slots=True)
class Point:
    """A run, or a published row: its name, method, F1 and accuracy, and whether it compares with
    published ones.
    """

    name: str
    method: str
    f1: Measurement
    accuracy: Measurement
    published: bool = False
    comparable: bool = False


@figure(
    STUDY,
    "figure2_f1_seconds",
    "Figure 2: F1 of prompts against seconds",
    category=PERFORMANCE,
    protocols=PROMPTS,
)
def f1_against_seconds(results: StudyResults) -> "Figure":
    """F1 of single prompts against seconds per case, by method and model (paper, Figure 2). Seconds
    are the sum of the calls.
    """
    runs = list_runs(results, *PROMPTS)
    return _cost_figure(runs, "seconds_per_case", "Seconds a case (sum over calls)")


@figure(STUDY, "figure3_f1_tokens", "Figure 3: F1 against tokens", category=PERFORMANCE)
def f1_against_tokens(results: StudyResults) -> "Figure":
    """F1 against prompt and generated tokens per case: courtroom debates, and single prompts
    (paper, Figure 3).
    """
    # The paper shows only debates; the prompts show the gain from the debates' tokens.
    return _cost_figure(
        list_runs(results), "tokens_per_case", "Tokens a case (prompt and generated)"
    )


def _cost_figure(runs: Sequence[Run], metric: str, label: str) -> "Figure":
    points = []
    for run in runs:
        cost, f1 = run.measurement(metric), run.measurement("f1", "binary")
        if not np.isnan([cost.value, f1.value]).any():
            points.append((run, cost, f1))
    if not points:
        return nothing_to_draw("No experiment of this study has an F1 to draw.")
    drawing, axes = new_figure()
    if all(cost.value > 0 for _, cost, _ in points):
        _use_logarithmic_axis(axes, [cost.value for _, cost, _ in points])
    for method in dict.fromkeys(run.method for run, _, _ in points):
        colour, marker = METHOD_LOOK.get(method, (GREY, "o"))
        method_points = [(cost, f1) for run, cost, f1 in points if run.method == method]
        x, y = [cost.value for cost, _ in method_points], [f1.value for _, f1 in method_points]
        axes.errorbar(
            x,
            y,
            yerr=whiskers([f1.interval for _, f1 in method_points]),
            fmt="none",
            ecolor=colour,
            alpha=0.35,
            linewidth=1,
        )
        axes.plot(x, y, linestyle="none", marker=marker, color=colour, markersize=6, label=method)
    axes.set(xlabel=label, ylabel="F1 (binary)", ylim=(-0.03, 1.03))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=3)
    note_below(drawing, data_notes(runs), case_counts(run.results for run, _, _ in points))
    named_points = points if len(points) <= MAX_NAMES else _select_best_and_worst(points)
    name_points(
        axes, [(cost.value, f1.value, run_name(run, runs)) for run, cost, f1 in named_points]
    )
    return drawing


def _select_best_and_worst(
    candidates: Sequence[tuple[Run, Measurement, Measurement]],
) -> list[tuple[Run, Measurement, Measurement]]:
    """Select the points to name: for each method the two with the best F1 and the worst."""
    ranked = sorted(candidates, key=lambda point: (-point[2].value, point[0].model))
    selection: list[tuple[Run, Measurement, Measurement]] = []
    for method in dict.fromkeys(run.method for run, _, _ in ranked):
        points = [point for point in ranked if point[0].method == method]
        selection += dict.fromkeys((*points[:2], points[-1]))
    return selection


def _use_logarithmic_axis(axes: "Axes", values: Sequence[float]) -> None:
    """Set a logarithmic axis of at least one decade."""
    middle = np.sqrt(min(values) * max(values))
    reach = max(np.sqrt(10), 1.6 * max(values) / middle)
    logarithmic(axes, middle / reach, middle * reach)


@figure(
    STUDY,
    "figure4_sorted_prompts",
    "Figure 4: single prompts by F1",
    category=PERFORMANCE,
    protocols=PROMPTS,
)
def sorted_prompts(results: StudyResults) -> "Figure":
    """F1 of every model and single prompt in falling order, with its accuracy (paper, Figure 4).
    Hollow: published; runs that do not repeat the paper's are in a separate panel.
    """
    return _sorted_figure(results, *PROMPTS)


@figure(
    STUDY,
    "figure5_sorted_debates",
    "Figure 5: courtroom debates in falling order of F1",
    category=PERFORMANCE,
)
def sorted_debates(results: StudyResults) -> "Figure":
    """F1 of every model's courtroom debates in falling order, with its accuracy (paper, Figure 5).
    Hollow: published; runs that do not repeat the paper's are in a separate panel.
    """
    return _sorted_figure(results, DEBATE)


def _sorted_figure(results: StudyResults, *protocols: str) -> "Figure":
    """Draw comparable values (published, and runs that repeat them) above all other runs."""
    runs = list_runs(results, *protocols)
    points = [*_published_points(results, protocols), *_run_points(runs)]
    points.sort(key=_descending_order)
    comparable = [point for point in points if point.comparable]
    others = [point for point in points if not point.comparable]
    panels = []
    if comparable:
        panels.append(("Published, and runs that repeat the paper's experiment", comparable))
    if others:
        panels.append(("Other runs, which compare with no published value", others))
    if not panels:
        return nothing_to_draw("Neither published values nor an experiment of this study to draw.")
    rows = [len(panel_points) for _, panel_points in panels]
    drawing, grid = new_figure(
        height=1.5 + 0.4 * len(rows) + 0.2 * sum(rows),
        nrows=len(rows),
        height_ratios=rows,
        squeeze=False,
        sharex=True,
    )
    for axes, (title, panel_points) in zip(grid.flat, panels, strict=True):
        _draw_sorted_panel(axes, panel_points)
        axes.set_title(title, loc="left", fontsize=SMALL_FONT_SIZE + 0.5)
    lowest = grid.flat[len(rows) - 1]
    lowest.set(xlabel="F1 and accuracy", xlim=(-0.03, 1.03))
    lowest.plot([], [], "o", color=GREY, markerfacecolor="white", label="published")
    drawing.legend(*lowest.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    note_below(drawing, data_notes(runs), case_counts(run.results for run in runs))
    return drawing


def _published_points(results: StudyResults, protocols: Sequence[str]) -> Iterator[Point]:
    cases = published_values(results, "text_cases")
    for protocol in protocols:
        n = cases.get((protocol, "cases"), NOT_A_NUMBER)
        for model, (accuracy, f1) in published_pairs(results, protocol).items():
            values = Measurement(f1, n=n), Measurement(accuracy)
            yield Point(model, METHODS[protocol], *values, published=True, comparable=True)


def _run_points(runs: Sequence[Run]) -> Iterator[Point]:
    for run in [*runs, *largest_reference_runs(runs)]:
        f1, accuracy = run.measurement("f1", "binary"), run.measurement("accuracy")
        if not np.isnan(f1.value):
            is_comparable = bool(run.paper_match.repeats)
            name = run_name(run, runs)
            yield Point(name, run.method, f1, accuracy, comparable=is_comparable)


def _descending_order(point: Point) -> tuple[float, float, bool, str, str]:
    return -point.f1.value, -point.accuracy.value, point.published, point.name, point.method


def _draw_sorted_panel(axes: "Axes", points: Sequence[Point]) -> None:
    """Draw points from the top: F1 and accuracy in one row each, with name and number of
    predictions.
    """
    for row, point in enumerate(points):
        ends = [
            row - MARKER_OFFSET,
            row + MARKER_OFFSET,
        ]  # two equal values would hide each other on one line
        axes.plot(
            [point.f1.value, point.accuracy.value], ends, color="#bbbbbb", linewidth=1, zorder=1
        )
    for shift, colour, marker, label, field in (
        (-MARKER_OFFSET, BLUE, "o", "F1 (binary; published: average not named)", "f1"),
        (MARKER_OFFSET, VERMILION, "s", "accuracy", "accuracy"),
    ):
        for row, point in enumerate(points):
            value: Measurement = getattr(point, field)
            face = "white" if point.published else colour
            if not np.isnan(value.low):
                axes.plot(
                    [value.low, value.high],
                    [row + shift] * 2,
                    color=colour,
                    alpha=0.45,
                    linewidth=1.2,
                    zorder=2,
                )
            axes.plot(
                value.value,
                row + shift,
                marker,
                color=colour,
                markerfacecolor=face,
                markersize=5,
                zorder=3,
            )
        axes.plot([], [], marker, color=colour, label=label)
    has_several_methods = len({point.method for point in points} - {"reference"}) > 1
    names = [
        f"{point.name} · {point.method}" if has_several_methods else point.name for point in points
    ]
    sizes = ["" if np.isnan(point.f1.n) else f", n = {point.f1.n:.0f}" for point in points]
    labels = [
        textwrap.fill(name + size, LABEL_WIDTH) for name, size in zip(names, sizes, strict=True)
    ]
    axes.set_yticks(range(len(points)), labels, fontsize=SMALL_FONT_SIZE)
    axes.set_ylim(len(points) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
