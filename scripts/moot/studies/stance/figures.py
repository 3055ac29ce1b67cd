"""Figures 2 and 3 of the decision conference paper (true and predicted labels), and confusion
matrices.
"""

import textwrap
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from moot.report import figure
from moot.report.figures import (
    BLACK,
    COLOURS,
    HATCHES,
    SMALL_FONT_SIZE,
    case_counts,
    new_figure,
    note_below,
    nothing_to_draw,
)
from moot.report.study_results import StudyResults
from moot.studies.stance.runs import QUESTIONS, STUDY, Run, list_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CATEGORY = "Labels"
NO_ANSWER = "no answer"
MAX_MATRICES = 12
COLUMNS = 3
TITLE_WIDTH = 32  # characters
DARK_SHADE = 0.6


@figure(STUDY, "figure2_true_labels", "Figure 2: true labels", category=CATEGORY)
def true_labels(results: StudyResults) -> "Figure":
    """True labels of all test cases of each data set, and of those that any run evaluated (paper,
    Figure 2: polarity of the claims). Numbers count cases.
    """
    runs_by_dataset: dict[str, list[Run]] = {}
    for run in _list_all_runs(results):
        runs_by_dataset.setdefault(run.results.config.dataset, []).append(run)
    if not runs_by_dataset:
        return nothing_to_draw("No experiment of this study has run.")
    drawing, grid = new_figure(height=2.8, ncols=len(runs_by_dataset), squeeze=False, sharey=True)
    for axes, runs in zip(grid[0], runs_by_dataset.values(), strict=True):
        cases = runs[0].results.cases
        evaluated = cases["case_id"].isin(pd.concat([run.predictions["case_id"] for run in runs]))
        targets = {
            "test cases": cases.loc[cases["split"] == "test", "target"],
            "evaluated": cases.loc[evaluated, "target"],
        }
        draw_bars(axes, runs[0].results.task.labels, targets)
        axes.set_title(runs[0].data)
    grid[0][0].set_ylabel("Share of cases")
    drawing.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    note_below(
        drawing,
        results.notes,
        case_counts(run.results for run in chain.from_iterable(runs_by_dataset.values())),
    )
    return drawing


@figure(STUDY, "figure3_predicted_labels", "Figure 3: true and predicted labels", category=CATEGORY)
def predicted_labels(results: StudyResults) -> "Figure":
    """True and predicted labels of every run (paper, Figure 3: one model on the polarity of
    claims). Runs that give few answers have a high bar of no answer.
    """
    runs = _list_all_runs(results)
    if not runs:
        return nothing_to_draw("No experiment of this study has run.")
    drawing, grid = _draw_panels(
        runs, 0.9, 2.1, "Share of cases", _draw_true_and_predicted, sharey=True
    )
    drawing.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    note_below(drawing, results.notes, case_counts(run.results for run in runs))
    return drawing


def _draw_panels(
    runs: Sequence[Run],
    margin: float,
    height: float,
    label: str,
    draw: "Callable[[Axes, Run], None]",
    **axes_options: bool,
) -> "tuple[Figure, Any]":
    """Return a panel per run, some in a line: the figure and its axes."""
    columns = min(COLUMNS, len(runs))
    lines = -(-len(runs) // columns)
    drawing, grid = new_figure(
        height=margin + height * lines, nrows=lines, ncols=columns, squeeze=False, **axes_options
    )
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    for axes, run in zip(grid.flat, runs, strict=False):
        draw(axes, run)
        name = textwrap.fill(f"{run.experiment}, {run.model}", TITLE_WIDTH)
        axes.set_title(f"{run.data}\n{name}\n{run.form}", fontsize=SMALL_FONT_SIZE)
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    return drawing, grid


def _draw_true_and_predicted(axes: "Axes", run: Run) -> None:
    labels = {"true": run.predictions["target"], "predicted": _answers_of(run)}
    draw_bars(axes, (*run.results.task.labels, NO_ANSWER), labels)


def draw_bars(axes: "Axes", labels: Sequence[str], columns: "dict[str, pd.Series[str]]") -> None:
    """Draw bars of the shares of labels, one series next to the other, with the counts above
    them.
    """
    width = 0.8 / len(columns)
    for series, (name, values) in enumerate(columns.items()):
        counts = np.array([(values == label).sum() for label in labels])
        shares = counts / max(len(values), 1)
        positions = np.arange(len(labels)) + (series - (len(columns) - 1) / 2) * width
        axes.bar(
            positions,
            shares,
            width,
            color=COLOURS[series],
            hatch=HATCHES[series],
            label=name,
            edgecolor="white",
        )
        for x, y, count in zip(positions, shares, counts, strict=True):
            axes.text(x, y, str(count), ha="center", va="bottom", fontsize=6)
    axes.set_xticks(range(len(labels)), _break_labels(labels), fontsize=SMALL_FONT_SIZE)
    axes.set_ylim(0, 1.1)
    axes.grid(visible=False, axis="x")


@figure(STUDY, "confusion_matrices", "Confusion matrices", category=CATEGORY)
def confusion_matrices(results: StudyResults) -> "Figure":
    """Confusion matrices of every run: numbers count cases, and the shade is their share of the
    true label's cases.
    """
    runs = _list_all_runs(results)
    if not runs:
        return nothing_to_draw("No experiment of this study has run.")
    drawn_runs = runs[:MAX_MATRICES]
    drawing, grid = _draw_panels(drawn_runs, 0.8, 2.4, "True label", _draw_matrix)
    for axes in grid.flat[max(len(drawn_runs) - COLUMNS, 0) : len(drawn_runs)]:
        axes.set_xlabel("Predicted label")
    omission_note = (
        [f"The first {len(drawn_runs)} of {len(runs)} runs."] if len(drawn_runs) < len(runs) else []
    )
    note_below(
        drawing, [*omission_note, *results.notes], case_counts(run.results for run in drawn_runs)
    )
    return drawing


def _draw_matrix(axes: "Axes", run: Run) -> None:
    labels, columns = run.results.task.labels, (*run.results.task.labels, NO_ANSWER)
    table = pd.crosstab(run.predictions["target"], _answers_of(run))
    counts = table.reindex(labels, columns=columns, fill_value=0).to_numpy()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        colour = "white" if shares[row, column] > DARK_SHADE else BLACK
        axes.text(
            column,
            row,
            str(count),
            ha="center",
            va="center",
            fontsize=SMALL_FONT_SIZE,
            color=colour,
        )
    axes.set_xticks(range(len(columns)), _break_labels(columns), fontsize=6.5)
    axes.set_yticks(range(len(labels)), labels, fontsize=6.5)
    axes.grid(visible=False)


def _list_all_runs(results: StudyResults) -> list[Run]:
    runs: list[Run] = []
    for question in QUESTIONS:
        runs += list_runs(results, question)
    return runs


def _answers_of(run: Run) -> "pd.Series[str]":
    return run.predictions["prediction"].where(run.predictions["status"] == "valid", NO_ANSWER)


def _break_labels(labels: Sequence[str]) -> list[str]:
    """Return labels for the places under an axis: a long one on two lines."""
    return [label.replace(" ", "\n") for label in labels]
