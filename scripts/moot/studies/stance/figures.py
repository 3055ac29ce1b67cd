"""Figures 2 and 3 of the decision conference paper (true and predicted labels), and confusion
matrices.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from moot.report import figure
from moot.report.content import StudyResults
from moot.report.figures import (
    BLACK,
    COLOURS,
    HATCHES,
    SMALL,
    new_figure,
    note_below,
    nothing_to_draw,
    sizes_of,
)
from moot.studies.stance.runs import QUESTIONS, STUDY, Run, list_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CATEGORY = "Labels"
NO_ANSWER = "no answer"
MOST_MATRICES = 12
COLUMNS = 3
DARK = 0.6


@figure(STUDY, "figure2_true_labels", "Figure 2: true labels", category=CATEGORY)
def true_labels(results: StudyResults) -> "Figure":
    """True labels of all test cases of each data set, and of those that any run evaluated (paper,
    Figure 2: polarity of the claims). Numbers count cases.
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
    note_below(
        drawing, results.notes, sizes_of(run.results for runs in sets.values() for run in runs)
    )
    return drawing


@figure(STUDY, "figure3_predicted_labels", "Figure 3: true and predicted labels", category=CATEGORY)
def predicted_labels(results: StudyResults) -> "Figure":
    """True and predicted labels of every run (paper, Figure 3: one model on the polarity of
    claims). Runs that give few answers have a high bar of no answer.
    """
    runs = _every_run(results)
    if not runs:
        return nothing_to_draw("No experiment of this study has run.")
    drawing, grid = _panels(runs, 0.9, 2.1, "Share of cases", _true_and_predicted, sharey=True)
    drawing.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    note_below(drawing, results.notes, sizes_of(run.results for run in runs))
    return drawing


def _panels(
    runs: Sequence[Run],
    margin: float,
    height: float,
    label: str,
    draw: "Callable[[Axes, Run], None]",
    **shared: bool,
) -> "tuple[Figure, Any]":
    """A panel a run, some in a line: the figure and its axes."""
    lines = -(-len(runs) // COLUMNS)
    drawing, grid = new_figure(
        height=margin + height * lines, nrows=lines, ncols=COLUMNS, squeeze=False, **shared
    )
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    for axes, run in zip(grid.flat, runs, strict=False):
        draw(axes, run)
        axes.set_title(f"{run.data}\n{run.model}\n{run.form}", fontsize=SMALL)
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    return drawing, grid


def _true_and_predicted(axes: "Axes", run: Run) -> None:
    shown = {"true": run.predictions["target"], "predicted": _answers(run)}
    bars(axes, (*run.results.task.labels, NO_ANSWER), shown)


def bars(axes: "Axes", labels: Sequence[str], columns: "dict[str, pd.Series[str]]") -> None:
    """Bars of the shares of labels, one series next to the other, with the counts above them."""
    width = 0.8 / len(columns)
    for place, (name, values) in enumerate(columns.items()):
        counts = np.array([(values == label).sum() for label in labels])
        shares = counts / max(len(values), 1)
        at = np.arange(len(labels)) + (place - (len(columns) - 1) / 2) * width
        axes.bar(
            at,
            shares,
            width,
            color=COLOURS[place],
            hatch=HATCHES[place],
            label=name,
            edgecolor="white",
        )
        for x, y, count in zip(at, shares, counts, strict=True):
            axes.text(x, y, str(count), ha="center", va="bottom", fontsize=6)
    axes.set_xticks(range(len(labels)), _under(labels), fontsize=SMALL)
    axes.set_ylim(0, 1.1)
    axes.grid(visible=False, axis="x")


@figure(STUDY, "confusion_matrices", "Confusion matrices", category=CATEGORY)
def confusion_matrices(results: StudyResults) -> "Figure":
    """Confusion matrices of every run: numbers count cases, and the shade is their share of the
    true label's cases.
    """
    runs = _every_run(results)
    if not runs:
        return nothing_to_draw("No experiment of this study has run.")
    shown = runs[:MOST_MATRICES]
    drawing, grid = _panels(shown, 0.8, 2.4, "True label", _matrix)
    for axes in grid.flat[max(len(shown) - COLUMNS, 0) : len(shown)]:
        axes.set_xlabel("Predicted label")
    left_out = [f"The first {len(shown)} of {len(runs)} runs."] if len(shown) < len(runs) else []
    note_below(drawing, [*left_out, *results.notes], sizes_of(run.results for run in shown))
    return drawing


def _matrix(axes: "Axes", run: Run) -> None:
    labels, columns = run.results.task.labels, (*run.results.task.labels, NO_ANSWER)
    found = pd.crosstab(run.predictions["target"], _answers(run))
    counts = found.reindex(labels, columns=columns, fill_value=0).to_numpy()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        colour = "white" if shares[row, column] > DARK else BLACK
        axes.text(column, row, str(count), ha="center", va="center", fontsize=SMALL, color=colour)
    axes.set_xticks(range(len(columns)), _under(columns), fontsize=6.5)
    axes.set_yticks(range(len(labels)), labels, fontsize=6.5)
    axes.grid(visible=False)


def _every_run(results: StudyResults) -> list[Run]:
    return [run for question in QUESTIONS for run in list_runs(results, question)]


def _answers(run: Run) -> "pd.Series[str]":
    return run.predictions["prediction"].where(run.predictions["status"] == "valid", NO_ANSWER)


def _under(labels: Sequence[str]) -> list[str]:
    """Labels for the places under an axis: a long one on two lines."""
    return [label.replace(" ", "\n") for label in labels]
