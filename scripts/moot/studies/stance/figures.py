"""Figures 2 and 3 of the decision conference paper (true and predicted labels)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.report import figure
from moot.report.content import StudyResults
from moot.report.figures import COLOURS, HATCHES, SMALL, new_figure, note_below, nothing_to_draw, sizes_of
from moot.studies.stance.runs import QUESTIONS, STUDY, Run, list_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CATEGORY = "Labels"
NO_ANSWER = "no answer"
COLUMNS = 3


@figure(STUDY, "figure2_true_labels", "Figure 2: true labels", category=CATEGORY)
def true_labels(results: StudyResults) -> "Figure":
    """True labels of all test cases of each data set, and of those that any run evaluated (paper, Figure 2: polarity of
    the claims). Numbers count cases.
    """
    sets: dict[str, list[Run]] = {}
    for run in _every_run(results):
        sets.setdefault(run.results.config.dataset, []).append(run)
    if not sets:
        return nothing_to_draw("No experiment of this study has run.")
    drawing, grid = new_figure(height=2.8, ncols=len(sets), squeeze=False, sharey=True)
    for axes, runs in zip(grid[0], sets.values(), strict=True):
        cases = runs[0].results.cases
        evaluated = cases["case_id"].isin(pd.concat([run.predictions["case_id"] for run in runs]))
        shown = {
            "test cases": cases.loc[cases["split"] == "test", "target"],
            "evaluated": cases.loc[evaluated, "target"],
        }
        bars(axes, runs[0].results.task.labels, shown)
        axes.set_title(runs[0].data)
    grid[0][0].set_ylabel("Share of cases")
    drawing.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    note_below(drawing, results.notes, sizes_of(run.results for runs in sets.values() for run in runs))
    return drawing


@figure(STUDY, "figure3_predicted_labels", "Figure 3: true and predicted labels", category=CATEGORY)
def predicted_labels(results: StudyResults) -> "Figure":
    """True and predicted labels of every run (paper, Figure 3: one model on the polarity of claims). Runs that give few
    answers have a high bar of no answer.
    """
    runs = _every_run(results)
    if not runs:
        return nothing_to_draw("No experiment of this study has run.")
    lines = -(-len(runs) // COLUMNS)
    drawing, grid = new_figure(height=0.9 + 2.1 * lines, nrows=lines, ncols=COLUMNS, squeeze=False, sharey=True)
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    for axes, run in zip(grid.flat, runs, strict=False):
        answers = run.predictions["prediction"].where(run.predictions["status"] == "valid", NO_ANSWER)
        bars(axes, (*run.results.task.labels, NO_ANSWER), {"true": run.predictions["target"], "predicted": answers})
        axes.set_title(f"{run.data}\n{run.model}\n{run.form}", fontsize=SMALL)
    for axes in grid[:, 0]:
        axes.set_ylabel("Share of cases")
    drawing.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    note_below(drawing, results.notes, sizes_of(run.results for run in runs))
    return drawing


def bars(axes: "Axes", labels: Sequence[str], columns: "dict[str, pd.Series[str]]") -> None:
    """Bars of the shares of labels, one series next to the other, with the counts above them."""
    width = 0.8 / len(columns)
    for place, (name, values) in enumerate(columns.items()):
        counts = np.array([(values == label).sum() for label in labels])
        shares = counts / max(len(values), 1)
        at = np.arange(len(labels)) + (place - (len(columns) - 1) / 2) * width
        axes.bar(at, shares, width, color=COLOURS[place], hatch=HATCHES[place], label=name, edgecolor="white")
        for x, y, count in zip(at, shares, counts, strict=True):
            axes.text(x, y, str(count), ha="center", va="bottom", fontsize=6)
    axes.set_xticks(range(len(labels)), [label.replace(" ", "\n") for label in labels], fontsize=SMALL)
    axes.set_ylim(0, 1.1)
    axes.grid(visible=False, axis="x")


def _every_run(results: StudyResults) -> list[Run]:
    return [run for question in QUESTIONS for run in list_runs(results, question)]
