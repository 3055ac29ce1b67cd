"""Figures of recorded results.

They show the accuracy of each method, and judges' beliefs over rounds.
"""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.figures import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    VERMILION,
    note_below,
    nothing_to_draw,
    panels,
    row_figure,
)
from moot.report.study_results import StudyResults
from moot.scores.group_rates import MIN_CASES
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import mean_statistic
from moot.studies.recorded.runs import (
    STUDY,
    UNDECIDED,
    RecordedRun,
    answered_runs,
    judged_runs,
    read_beliefs,
    read_outcomes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECORDS = "Recorded results"
MAX_ROUNDS = 6
LABEL_WIDTH = 34  # characters


@figure(STUDY, "accuracy", "How often recorded methods and models are right", category=RECORDS)
def accuracy(results: StudyResults) -> "Figure":
    """Accuracy of every recorded method and model with its 95 % interval by case. Invalid answers
    count as wrong. The dashed line is the accuracy of always naming the most frequent label.
    """
    runs = answered_runs(results)
    if not runs:
        return nothing_to_draw("No recorded predictions are in this run.")
    methods = list(dict.fromkeys(run.method for run in runs))
    runs = sorted(runs, key=lambda run: (methods.index(run.method), run.model_name))
    names = [_row_label(run.method, run.model_name) for run in runs]
    drawing, axes = row_figure(names, height=0.9 + 0.28 * len(runs))
    for y, run in enumerate(runs):
        style = methods.index(run.method)
        _draw_accuracy(axes, run, y, COLOURS[style % len(COLOURS)], MARKERS[style % len(MARKERS)])
    axes.set_xlabel("Right answers (%), invalid counted as wrong")
    note_below(
        drawing,
        [
            "Dashed: always naming the most frequent label of the same n cases. Bars: 95 %"
            " intervals by case."
        ],
    )
    return drawing


def _draw_accuracy(axes: "Axes", run: RecordedRun, y: int, colour: str, marker: str) -> None:
    """Draw a run's accuracy with its interval, the majority class, and the number of cases."""
    targets = run.predictions.drop_duplicates("case_id")["target"]
    majority = targets.value_counts(normalize=True).max()
    value, low, high = run.accuracy
    axes.plot([100 * low, 100 * high], [y, y], color=colour, linewidth=1.6)
    axes.plot([100 * value], [y], marker, color=colour, markersize=6)
    axes.plot([100 * majority] * 2, [y - 0.4, y + 0.4], color=GREY, linestyle="--", linewidth=1.2)
    axes.annotate(
        f"n = {len(targets)}",
        (1.01, y),
        fontsize=8,
        color=GREY,
        xycoords=("axes fraction", "data"),
        va="center",
        annotation_clip=False,
    )


def _row_label(method: str, model: str) -> str:
    """Return the name of a run's row, with a long name wrapped into several lines."""
    return textwrap.fill(f"{method}, {model.rpartition('/')[2]}", LABEL_WIDTH)


@figure(STUDY, "nyu_beliefs", "A human judge's belief, round by round", category=RECORDS)
def nyu_beliefs(results: StudyResults) -> "Figure":
    """The human judge's mean belief in the right answer after each round, by arm, for debates that
    ended on the right answer and those that did not.
    """
    runs = judged_runs(results)
    if not runs:
        return nothing_to_draw("No debates before a judge are in this run.")
    drawing, all_axes, bottom_axes = panels(len(runs), columns=2, row_height=2.2)
    for axes, run in zip(all_axes, runs, strict=True):
        _draw_beliefs(axes, run)
        axes.axhline(50, color=GREY, linestyle=":", linewidth=1)
        axes.set(ylim=(-3, 103), title=run.method)
    for axes in bottom_axes:
        axes.set_xlabel("Round")
    drawing.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    drawing.supylabel("Belief in the right answer (%)", fontsize=9)
    note_below(
        drawing,
        [
            "n: debates in which the judge stated a belief more than once. The 95 % interval by"
            f" story and judge is shaded if n is at least {MIN_CASES}. A debate that has ended"
            " keeps its last belief. Round 0: before the first speech. Rounds after"
            f" {MAX_ROUNDS} are not drawn."
        ],
    )
    return drawing


def _draw_beliefs(axes: "Axes", run: RecordedRun) -> None:
    """Draw the mean belief by round, of debates that ended right and of all others."""
    beliefs = read_beliefs(run)
    beliefs = beliefs[beliefs.groupby("debate_id")["round"].transform("size") > 1]
    by_round = beliefs.pivot_table(
        index="debate_id", columns="round", values="in_right", aggfunc="last"
    )
    by_round = by_round.reindex(columns=range(MAX_ROUNDS + 1)).ffill(axis=1)
    outcomes = read_outcomes(run).set_index("debate_id").loc[by_round.index]
    ended_right = outcomes["right"] > UNDECIDED
    for label, is_drawn, colour, line in (
        ("ended right", ended_right, VERMILION, "-"),
        ("ended wrong or undecided", ~ended_right, BLUE, "--"),
    ):
        rows = by_round[is_drawn]
        if rows.empty:
            continue
        jackknife = ClusterJackknife(outcomes.loc[rows.index, "cluster"])
        estimates = [
            jackknife.estimate(mean_statistic(rows[number], (0.0, 1.0))) for number in rows.columns
        ]
        y, low, high = 100 * np.array(estimates).T
        if len(rows) >= MIN_CASES:
            axes.fill_between(rows.columns, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(rows.columns, y, line, color=colour, label=label)
        axes.text(MAX_ROUNDS, y[-1], f" n = {len(rows)}", color=colour, fontsize=7, va="center")
