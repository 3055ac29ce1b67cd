"""The paper's Figures 2 to 5, reliability of stated confidence, and the judge's belief by turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.present import StudyResults, data_label, figure
from moot.present.courtroom_study import (
    DEBATE,
    METHODS,
    PROMPTS,
    PUBLISHED_PROMPTS,
    STUDY,
    Run,
    reference_runs,
    run_name,
    runs_of,
)
from moot.present.published import Measured, measured, published_table
from moot.present.style import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    SMALL,
    VERMILION,
    WIDTH,
    name_points,
    new_figure,
    note_below,
    nothing_to_draw,
)
from moot.scores.calibration import BINS, confidence_bins
from moot.scores.dynamics import opinions_of
from moot.scores.evaluated import confidence_in_prediction, positive_of_two
from moot.scores.uncertainty import CaseBootstrap, Floats, as_numbers, mean_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ORDER = (DEBATE, *PROMPTS)  # the debate first: it takes the strongest colour
METHOD_LOOK = {
    METHODS[method]: (COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)]) for n, method in enumerate(_ORDER)
}
PERFORMANCE, JUDGE = "Performance and cost", "The judge and its confidence"
MANY_PANELS = 9
MOST_NAMES = 40
MOST_LINES = 6  # of models in one panel; more are drawn in grey, beside their mean


@dataclass(frozen=True, slots=True)
class Point:
    """A run, or a published row: its name, method, F1 and accuracy."""

    name: str
    method: str
    f1: Measured
    accuracy: Measured
    published: bool = False


def _notes(runs: Sequence[Run], intervals: str = " Thin lines: 95 % bootstrap intervals over cases.") -> list[str]:
    """Which data the runs rest on, how many cases, and what is drawn for intervals."""
    sizes = {data_label(run.results): run.results.predictions["case_id"].nunique() for run in runs}
    data = "; ".join(f"{label}, {n} cases" for label, n in sizes.items())
    return [f"Data: {data}.{intervals}"] if runs else []


def _f1(results: StudyResults, run: Run) -> Measured:
    return measured(results, run.results.experiment, run.model, "f1", "binary")


@figure(
    STUDY,
    "figure2_f1_seconds",
    "F1 of single prompts against seconds a case, by method and model (paper, Figure 2). Seconds are those of the "
    "calls.",
    PERFORMANCE,
)
def f1_against_seconds(results: StudyResults) -> "Figure":
    """Figure 2: one point a model and prompt."""
    runs = runs_of(results, *PROMPTS)
    return _cost_figure(results, runs, "seconds_per_case", "Seconds a case (sum over calls)")


@figure(
    STUDY,
    "figure3_f1_tokens",
    "F1 against prompt and generated tokens a case: courtroom debates, and single prompts beside them (paper, Figure "
    "3).",
    PERFORMANCE,
)
def f1_against_tokens(results: StudyResults) -> "Figure":
    """Figure 3: the paper shows debates alone; the prompts say what the debates' tokens buy."""
    return _cost_figure(results, runs_of(results), "tokens_per_case", "Tokens a case (prompt and generated)")


def _cost_figure(results: StudyResults, runs: Sequence[Run], metric: str, label: str) -> "Figure":
    drawn = [
        (run, cost, f1)
        for run in runs
        for cost in [measured(results, run.results.experiment, run.model, metric)]
        for f1 in [_f1(results, run)]
        if not np.isnan([cost.value, f1.value]).any()
    ]
    if not drawn:
        return nothing_to_draw("No experiment of this study has an F1 to draw.")
    drawing, axes = new_figure()
    if all(cost.value > 0 for _, cost, _ in drawn):
        _logarithmic(axes, [cost.value for _, cost, _ in drawn])
    for method in dict.fromkeys(run.method for run, _, _ in drawn):
        colour, marker = METHOD_LOOK.get(method, (GREY, "o"))
        mine = [(cost, f1) for run, cost, f1 in drawn if run.method == method]
        x, y = [cost.value for cost, _ in mine], [f1.value for _, f1 in mine]
        axes.errorbar(x, y, yerr=_whiskers([f1 for _, f1 in mine]), fmt="none", ecolor=colour, alpha=0.35, linewidth=1)
        axes.plot(x, y, linestyle="none", marker=marker, color=colour, markersize=6, label=method)
    axes.set(xlabel=label, ylabel="F1 (binary)", ylim=(-0.03, 1.03))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=3)
    drawing.canvas.draw()  # names are placed where the points will stand
    named = drawn if len(drawn) <= MOST_NAMES else _best_and_worst(drawn)
    name_points(axes, [(cost.value, f1.value, run_name(run, runs)) for run, cost, f1 in named])
    note_below(drawing, _notes(runs))
    return drawing


def _best_and_worst(drawn: Sequence[tuple[Run, Measured, Measured]]) -> list[tuple[Run, Measured, Measured]]:
    """Of many points those to name: of each method the three with the best F1 and the last."""
    ranked = sorted(drawn, key=lambda point: (-point[2].value, point[0].model))
    methods = dict.fromkeys(run.method for run, _, _ in ranked)
    mine = [[point for point in ranked if point[0].method == method] for method in methods]
    return [point for points in mine for point in (*points[:3], points[-1])]


def _logarithmic(axes: "Axes", values: Sequence[float]) -> None:
    """A logarithmic axis with plain numbers, one decade wide at least."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415

    middle = np.sqrt(min(values) * max(values))
    reach = max(np.sqrt(10), 1.6 * max(values) / middle)
    axes.set_xscale("log")
    axes.set_xlim(middle / reach, middle * reach)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _whiskers(values: Sequence[Measured]) -> Floats:
    """Distances to the ends of the intervals, shape (2, values); 0 where there is none."""
    distances = [[max(v.value - v.low, 0), max(v.high - v.value, 0)] for v in values]
    return as_numbers(np.nan_to_num(np.array(distances).T))


@figure(
    STUDY,
    "figure4_sorted_prompts",
    "F1 of every model and single prompt in falling order, with its accuracy (paper, Figure 4). Hollow: published.",
    PERFORMANCE,
)
def sorted_prompts(results: StudyResults) -> "Figure":
    """Figure 4, beside the pairs of Table 4 (Table 6's F1 are no F1)."""
    values = published_table(results, "table4_prompting")
    theirs = [
        Point(model, METHODS[prompt], Measured(values[model, f"{prompt}_f1"]), Measured(accuracy), published=True)
        for prompt in PUBLISHED_PROMPTS
        for (model, metric), accuracy in values.items()
        if metric == f"{prompt}_accuracy"
    ]
    return _sorted_figure(results, runs_of(results, *PROMPTS), theirs)


@figure(
    STUDY,
    "figure5_sorted_debates",
    "F1 of every model's courtroom debates in falling order, with its accuracy (paper, Figure 5). Hollow: published.",
    PERFORMANCE,
)
def sorted_debates(results: StudyResults) -> "Figure":
    """Figure 5, beside the pairs of Table 5."""
    values = published_table(results, "table5_courtroom")
    theirs = [
        Point(model, METHODS[DEBATE], Measured(values[model, "f1"]), Measured(accuracy), published=True)
        for (model, metric), accuracy in values.items()
        if metric == "accuracy"
    ]
    return _sorted_figure(results, runs_of(results, DEBATE), theirs)


def _sorted_figure(results: StudyResults, runs: Sequence[Run], theirs: Sequence[Point]) -> "Figure":
    ours = [
        Point(run_name(run, runs), run.method, f1, measured(results, run.results.experiment, run.model, "accuracy"))
        for run in [*runs, *reference_runs(list(runs))]
        for f1 in [_f1(results, run)]
        if not np.isnan(f1.value)
    ]
    points = sorted([*ours, *theirs], key=lambda p: (-p.f1.value, -p.accuracy.value, p.published, p.name, p.method))
    if not points:
        return nothing_to_draw("Neither published values nor an experiment of this study to draw.")
    drawing, axes = new_figure(height=1.3 + 0.2 * len(points))
    for row, point in enumerate(points):
        axes.plot([point.f1.value, point.accuracy.value], [row, row], color="#bbbbbb", linewidth=1, zorder=1)
    for shift, colour, marker, label, which in (
        (-0.13, BLUE, "o", "F1 (binary; published: average not named)", "f1"),
        (0.13, VERMILION, "s", "accuracy", "accuracy"),
    ):
        for row, point in enumerate(points):
            value: Measured = getattr(point, which)
            face = "white" if point.published else colour
            if not np.isnan(value.low):
                axes.plot([value.low, value.high], [row + shift] * 2, color=colour, alpha=0.45, linewidth=1.2, zorder=2)
            axes.plot(value.value, row, marker, color=colour, markerfacecolor=face, markersize=5, zorder=3)
        axes.plot([], [], marker, color=colour, label=label)
    axes.plot([], [], "o", color=GREY, markerfacecolor="white", label="published")
    several = len({point.method for point in points}) > 1
    names = [f"{point.name} · {point.method}" if several else point.name for point in points]
    axes.set_yticks(range(len(points)), names, fontsize=SMALL)
    axes.set(xlabel="F1 and accuracy", xlim=(-0.03, 1.03), ylim=(len(points) - 0.4, -0.6))
    axes.grid(visible=False, axis="y")
    drawing.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    note_below(drawing, _notes(runs))
    return drawing


@figure(
    STUDY,
    "reliability",
    "Share of right predictions by stated confidence, by method and model; on the diagonal confidence is deserved. "
    "The area of a point grows with the number of predictions.",
    JUDGE,
)
def reliability(results: StudyResults) -> "Figure":
    """One panel a method; ten bins of confidence."""
    panels: dict[str, list[tuple[Run, pd.DataFrame]]] = {}
    for run in runs_of(results):
        curve = _curve(_valid_rows(run), positive_of_two(run.results.task))
        if len(curve):
            panels.setdefault(run.method, []).append((run, curve))
    if not panels:
        return nothing_to_draw("No prediction of this study states a confidence.")
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    drawing, grid = new_figure(
        height=0.7 + 2.5 * rows, nrows=rows, ncols=columns, sharex=True, sharey=True, squeeze=False
    )
    for axes, (method, found) in zip(grid.flat, panels.items(), strict=False):
        axes.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1)
        many = len(found) > MOST_LINES
        if many:
            _mean_curve(axes, [run for run, _ in found])
        for position, (run, curve) in enumerate(found):
            colour = "#b5b5b5" if many else COLOURS[position]
            axes.plot(
                100 * curve["confidence"],
                100 * curve["right"],
                color=colour,
                linestyle="-" if many else LINES[position % len(LINES)],
                linewidth=0.8 if many else 1.2,
                marker="" if many else MARKERS[position],
                markersize=3,
                label=None if many else run_name(run, [other for other, _ in found]),
            )
            axes.scatter(
                100 * curve["confidence"], 100 * curve["right"], 8 + 80 * curve["share"], color=colour, alpha=0.5
            )
        axes.set_title(method)
        axes.set(xlim=(-3, 103), ylim=(-3, 103))
        axes.legend(loc="upper left", fontsize=6.5)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    drawing.supylabel("Right predictions (%)", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("Stated confidence (%)")
    note_below(drawing, _notes([run for found in panels.values() for run, _ in found], ""))
    return drawing


def _mean_curve(axes: "Axes", runs: Sequence[Run]) -> None:
    """The curve of many models' predictions together."""
    every = pd.concat([_valid_rows(run) for run in runs])
    curve = _curve(every, positive_of_two(runs[0].results.task))
    label = f"all {len(runs)} together (grey: each)"
    axes.plot(100 * curve["confidence"], 100 * curve["right"], "o-", color=BLACK, markersize=4, zorder=3, label=label)


def _valid_rows(run: Run) -> pd.DataFrame:
    rows = run.results.predictions
    return rows[(rows["model"] == run.model) & (rows["status"] == "valid")]


def _curve(rows: pd.DataFrame, positive: str) -> pd.DataFrame:
    """Bins of confidence with predictions in them: mean confidence, share right, share of all predictions."""
    confidence = confidence_in_prediction(rows, positive)
    known = ~np.isnan(confidence)
    right = as_numbers(rows["prediction"] == rows["target"])[known]
    bins = confidence_bins(confidence[known])
    sizes = bins.sum(axis=0) if len(bins) else np.zeros(BINS)
    filled = sizes > 0
    means = (np.stack([confidence[known], right]) @ bins)[:, filled] / sizes[filled]
    return pd.DataFrame({"confidence": means[0], "right": means[1], "share": sizes[filled] / max(sizes.sum(), 1)})


@figure(
    STUDY,
    "belief_by_turn",
    "The judge's mean belief in the positive outcome through the debate, by actual outcome; verdict last. "
    "Where the two lines part, the debate has told the judge something.",
    JUDGE,
)
def belief_by_turn(results: StudyResults) -> "Figure":
    """One panel an experiment and model, two lines: cases that turned out positive, and the others."""
    debates = runs_of(results, DEBATE)
    opinions = {run.results.experiment: opinions_of(run.results) for run in debates}
    every = [(run, _beliefs(opinions[run.results.experiment], run.model)) for run in debates]
    panels = [(run, beliefs) for run, beliefs in every if len(beliefs)]
    if not panels:
        return nothing_to_draw("No debate of this study has a judge who states a belief before the verdict.")
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    drawing, grid = new_figure(
        width=WIDTH, height=1 + 2.4 * rows, nrows=rows, ncols=columns, sharey=True, squeeze=False
    )
    runs = [run for run, _ in panels]
    for axes, (run, beliefs) in zip(grid.flat, panels, strict=False):
        _belief_panel(axes, run, beliefs, small=len(panels) > MANY_PANELS)
        axes.set_title(run_name(run, runs), fontsize=SMALL if len(panels) > MANY_PANELS else None)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    handles, labels = grid.flat[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper right", ncols=3)
    drawing.supylabel("Belief in the positive outcome (%)", fontsize=9)
    note_below(drawing, _notes(runs, " Shaded: 95 % bootstrap intervals over cases."))
    return drawing


def _beliefs(opinions: pd.DataFrame, model: str) -> pd.DataFrame:
    """The judge's opinions with a belief, of one model; none where it states no belief before the verdict."""
    mine = opinions[(opinions["model"] == model) & (opinions["speaker"] == "judge") & opinions["belief"].notna()]
    return mine if (mine["kind"] != "verdict").any() else mine.iloc[:0]


def _belief_panel(axes: "Axes", run: Run, beliefs: pd.DataFrame, small: bool) -> None:
    points = list(_points_of_debate(beliefs))
    positive = run.results.task.positive
    looks = ((f"actual: {positive}", True, VERMILION, "s", "-"), ("actual: other", False, BLUE, "o", "--"))
    for label, actual, colour, marker, line in looks:
        mine = beliefs[(beliefs["target"] == positive) == actual]
        estimates = [_belief_at(mine, kind, turn, run) for kind, turn, _ in points]
        y = 100 * np.array([value for value, _, _ in estimates])
        low, high = (100 * np.array([estimate[end] for estimate in estimates]) for end in (1, 2))
        axes.fill_between(range(len(points)), low, high, color=colour, alpha=0.13, linewidth=0)
        size = 2.5 if small else 4
        axes.plot(range(len(points)), y, color=colour, marker=marker, linestyle=line, markersize=size, label=label)
    cases = beliefs.drop_duplicates("case_id")
    base_rate = 100 * float((cases["target"] == positive).mean())
    axes.axhline(base_rate, color=BLACK, linestyle=":", linewidth=1, label="base rate of these cases")
    names = [name for _, _, name in points]
    axes.set_xticks(range(len(points)), names, fontsize=5 if small else SMALL, rotation=30, ha="right")
    axes.set(ylim=(-3, 103), xlim=(-0.3, len(points) - 0.7))


def _points_of_debate(beliefs: pd.DataFrame) -> Iterator[tuple[str, int, str]]:
    """(kind, turn, name) of every point at which the judge states a belief, in the order of turns."""
    points = beliefs.groupby(["turn", "kind"], sort=True, as_index=False)["round"].first()
    rounds = {1: "openings", 2: "rebuttals", 3: "closings"}
    for turn, kind, number in zip(points["turn"], points["kind"], points["round"], strict=True):
        after = rounds.get(int(number), f"round {number}")
        yield str(kind), int(turn), "verdict" if kind == "verdict" else f"after {after}"


def _belief_at(beliefs: pd.DataFrame, kind: str, turn: int, run: Run) -> tuple[float, float, float]:
    there = beliefs[(beliefs["turn"] == turn) & (beliefs["kind"] == kind)]
    return CaseBootstrap(there["case_id"], run.results.seed).estimate(mean_of(there["belief"]))
