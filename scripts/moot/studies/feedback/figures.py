"""The paper's Figures 2 and 3 (debaters, rounds), and the sweep of T."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.content import StudyResults, data_label
from moot.report.figures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LINES,
    VERMILION,
    counted,
    new_figure,
    note_below,
    nothing_to_draw,
    series_style,
    sizes_of,
    whiskers,
)
from moot.report.published import Measured, measured
from moot.scores.results import ExperimentResults
from moot.studies.feedback.runs import ASSISTED, DEBATE, STUDY, Run, list_runs, own_weight, sweeps
from moot.studies.feedback.scores import WEIGHTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BARS = "Bars: 95 % intervals over cases; a single case has none."
SIZE, PARTS = "Debaters and rounds", "Smoothing and assistant"


@figure(STUDY, "figure2_debaters", "Figure 2: accuracy by the number of debaters", category=SIZE)
def debaters(results: StudyResults) -> "Figure":
    """Accuracy by the number of debaters (paper, Figure 2), everything else as it was. Bars: 95 % intervals."""
    return _sweep(results, "debaters", "Debaters")


@figure(STUDY, "figure3_rounds", "Figure 3: accuracy by the number of rounds", category=SIZE)
def rounds(results: StudyResults) -> "Figure":
    """Accuracy by the number of rounds (paper, Figure 3), everything else as it was. Bars: 95 % intervals."""
    return _sweep(results, "rounds", "Rounds")


def _sweep(results: StudyResults, name: str, label: str) -> "Figure":
    groups = sweeps(results, name)
    if not groups:
        return nothing_to_draw(f"No experiments of this study differ in {name} alone.")
    drawing, axes = new_figure()
    lines = [(group, model) for group in groups for model in group[0].config.models]
    shift = np.linspace(-0.06, 0.06, len(lines)) if len(lines) > 1 else [0.0]
    for place, (group, model) in enumerate(lines):
        metric = "subset_accuracy" if group[0].task.multilabel else "accuracy"
        found = [measured(results, one.experiment, model, metric) for one in group]
        values = [float(one.config.params[name]) for one in group]
        n = group[0].predictions["case_id"].nunique()
        title = f"{Run(group[0], model).method}, {model}, {data_label(group[0])}, {counted(n, 'case')}"
        _with_bars(axes, [value + shift[place] for value in values], found, place, title)
    axes.set(xlabel=label, ylabel="Accuracy", ylim=(-0.03, 1.03))
    axes.set_xticks(sorted({int(one.config.params[name]) for group in groups for one in group}))
    for share in {_majority_share(one) for group in groups for one in group}:
        axes.axhline(share, color=GREEN, linewidth=0.9, linestyle="--", zorder=1)
    axes.plot([], [], color=GREEN, linewidth=0.9, linestyle="--", label="majority class of these cases")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
    note_below(drawing, [_BARS, *results.notes], sizes_of(one for group in groups for one in group))
    return drawing


def _majority_share(found: ExperimentResults) -> float:
    """The share of the most frequent target among the cases that an experiment evaluated."""
    targets = found.predictions.drop_duplicates("case_id")["target"]
    return float(targets.value_counts(normalize=True).max())


def _with_bars(axes: "Axes", x: Sequence[float], found: Sequence[Measured], place: int, title: str) -> None:
    """A line through measured values with their intervals."""
    y, bars = [value.value for value in found], whiskers([value.interval for value in found])
    axes.errorbar(x, y, yerr=bars, capsize=2, linestyle=LINES[place % len(LINES)], label=title, **series_style(place))


@figure(STUDY, "smoothing_sweep", "What smoothing does, for every weight", category=PARTS)
def smoothing(results: StudyResults) -> "Figure":
    """Accuracy, and the shares of cases corrected and spoilt by the debate, for every weight T of the latest
    probabilities. Dotted lines mark the T that was run; T = 1 is no smoothing.
    """
    runs = [run for run in list_runs(results, DEBATE) if _swept(results, run, "accuracy_final")[0].n > 0]
    if not runs:
        return nothing_to_draw("No debate of this study came to an answer.")
    height = (len(runs) + 1) // 2
    drawing, grid = new_figure(height=2.5 * height + 0.6, nrows=height, ncols=2, squeeze=False)
    for axes, run in zip(grid.flat, runs, strict=False):
        accuracy = _swept(results, run, "accuracy_final")
        n = accuracy[0].n
        axes.plot(WEIGHTS, [value.value for value in accuracy], color=BLACK, marker="o", markersize=3, label="accuracy")
        axes.fill_between(WEIGHTS, [v.low for v in accuracy], [v.high for v in accuracy], color=GREY, alpha=0.15)
        for metric, colour, marker in (("corrections", BLUE, "^"), ("degradations", VERMILION, "v")):
            shares = [measured_at.value / n for measured_at in _swept(results, run, metric)]
            axes.plot(WEIGHTS, shares, color=colour, marker=marker, markersize=3, linestyle="--", label=metric)
        axes.axvline(own_weight(run.results), color=GREY, linewidth=0.8, linestyle=":")
        short = "assistant" if run.method == ASSISTED else "single"
        axes.set_title(f"{short}, {run.model}, {run.data}, n = {int(n)}", fontsize=8)
        axes.set(ylim=(-0.03, 1.03), xlabel="T, the weight of the latest probabilities", ylabel="Share of cases")
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    handles, labels = grid.flat[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper center", ncols=3)
    meaning = "Shaded: 95 % intervals of the accuracy over cases. Dotted: the T that was run."
    note_below(drawing, [meaning, *results.notes], sizes_of(run.results for run in runs))
    return drawing


def _swept(results: StudyResults, run: Run, metric: str) -> list[Measured]:
    """One score for every weight T."""
    groups = [f"T={weight:g}" for weight in WEIGHTS]
    return [measured(results, run.experiment, run.model, metric, group=group) for group in groups]
