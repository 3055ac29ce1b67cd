"""Figures of recorded results: every method with its interval, beliefs over rounds, and whether they can be trusted."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.report.content import StudyResults
from moot.report.figures import BLUE, COLOURS, GREY, MARKERS, VERMILION, new_figure, note_below, nothing_to_draw, panels
from moot.stats.bootstrap import ClusterBootstrap, mean_statistic, share_statistic
from moot.studies import figure
from moot.studies.recorded.runs import NYU, STUDY, Run, beliefs, judged, recorded_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECORDS = "Recorded results"
BINS = 5
MOST_ROUNDS = 6


@figure(
    STUDY,
    "accuracy",
    "Accuracy of every recorded method and model with its 95 % interval by case, invalid answers counted as wrong; the "
    "dashed line is always naming the most frequent label.",
    RECORDS,
)
def accuracy(results: StudyResults) -> "Figure":
    """One row a method and model, grouped by data set."""
    runs = [run for run in recorded_runs(results) if run.results.config.dataset != NYU]
    if not runs:
        return nothing_to_draw("No recorded predictions are in this run.")
    drawing, axes = new_figure(height=0.9 + 0.28 * len(runs))
    methods = list(dict.fromkeys(run.method for run in runs))
    ordered = sorted(runs, key=lambda run: (methods.index(run.method), run.model))
    for place, run in enumerate(ordered):
        rows = run.predictions
        right = (rows["status"] == "valid") & (rows["prediction"] == rows["target"])
        shares = right.groupby(rows["case_id"]).mean()
        clusters = [run.results.clusters[case] for case in shares.index]
        value, low, high = ClusterBootstrap(clusters, run.results.seed).estimate(share_statistic(shares))
        majority = rows.drop_duplicates("case_id")["target"].value_counts(normalize=True).max()
        position = methods.index(run.method)
        colour, marker = COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)]
        axes.plot([100 * low, 100 * high], [place, place], color=colour, linewidth=1.6)
        axes.plot([100 * value], [place], marker, color=colour, markersize=6)
        axes.plot([100 * majority] * 2, [place - 0.4, place + 0.4], color=GREY, linestyle="--", linewidth=1.2)
    names = [f"{run.method}, {run.model} ({run.predictions['case_id'].nunique()} cases)" for run in ordered]
    axes.set_yticks(range(len(ordered)), names)
    axes.invert_yaxis()
    axes.set_xlabel("Right answers (%), invalid counted as wrong")
    note_below(drawing, ["Dashed: always naming the most frequent label of the same cases."])
    return drawing


@figure(
    STUDY,
    "nyu_beliefs",
    "The human judge's mean belief in the right answer after each round, by arm: debates that ended on the right "
    "answer and those that did not.",
    RECORDS,
)
def nyu_beliefs(results: StudyResults) -> "Figure":
    """One panel an arm, two lines."""
    runs = [run for run in recorded_runs(results) if run.results.config.dataset == NYU]
    if not runs:
        return nothing_to_draw("The NYU debates are not in this run.")
    drawing, every, lowest = panels(len(runs), columns=2, row_height=2.2)
    for axes, run in zip(every, runs, strict=True):
        _belief_lines(axes, run)
        axes.axhline(50, color=GREY, linestyle=":", linewidth=1)
        axes.set(ylim=(-3, 103), title=run.method)
    for axes in lowest:
        axes.set_xlabel("Round")
    drawing.legend(*every[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    drawing.supylabel("Belief in the right answer (%)", fontsize=9)
    note_below(
        drawing,
        ["Shaded: 95 % intervals by story. A debate that ended keeps its last belief. Round 0: before anyone spoke."],
    )
    return drawing


def _belief_lines(axes: "Axes", run: Run) -> None:
    stated = beliefs(run)
    stated = stated[stated.groupby("debate_id")["round"].transform("size") > 1]
    held = stated.pivot_table(index="debate_id", columns="round", values="in_right", aggfunc="last")
    held = held.reindex(columns=range(MOST_ROUNDS + 1)).ffill(axis=1)
    ends = judged(run).set_index("debate_id").loc[held.index]
    for label, mine, colour, line in (
        ("ended right", ends["right"] > 0.5, VERMILION, "-"),  # noqa: PLR2004 - the middle of a probability
        ("ended wrong or undecided", ends["right"] <= 0.5, BLUE, "--"),  # noqa: PLR2004
    ):
        rows = held[mine]
        if rows.empty:
            continue
        story = ends.loc[rows.index, "story"]
        estimates = [
            ClusterBootstrap(story, run.results.seed).estimate(mean_statistic(rows[number], (0.0, 1.0)))
            for number in rows.columns
        ]
        y, low, high = 100 * np.array(estimates).T
        axes.fill_between(rows.columns, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(rows.columns, y, line, color=colour, label=f"{label}")
        axes.text(MOST_ROUNDS, y[-1], f" n = {len(rows)}", color=colour, fontsize=7, va="center")


@figure(
    STUDY,
    "nyu_calibration",
    "Share of right final beliefs by how sure the human judge was, by arm; on the diagonal confidence is deserved.",
    RECORDS,
)
def nyu_calibration(results: StudyResults) -> "Figure":
    """One line an arm: five bins of the probability given to the favoured answer."""
    runs = [run for run in recorded_runs(results) if run.results.config.dataset == NYU]
    if not runs:
        return nothing_to_draw("The NYU debates are not in this run.")
    drawing, axes = new_figure()
    axes.plot([50, 100], [50, 100], color=GREY, linestyle=":", linewidth=1)
    for position, run in enumerate(runs):
        last = beliefs(run).groupby("debate_id")["in_right"].last()
        sure = np.maximum(last, 1 - last)
        right = (last > 0.5) + 0.5 * (last == 0.5)  # noqa: PLR2004 - the middle of a probability
        bins = np.minimum(((sure - 0.5) * 2 * BINS).astype(int), BINS - 1)
        grouped = pd.DataFrame({"sure": sure, "right": right}).groupby(bins).agg(["mean", "size"])
        x, y, n = 100 * grouped["sure", "mean"], 100 * grouped["right", "mean"], grouped["sure", "size"]
        colour, marker = COLOURS[position], MARKERS[position]
        axes.plot(x, y, color=colour, linewidth=1.2)
        axes.scatter(
            x, y, 14 + 1.5 * n, color=colour, marker=marker, alpha=0.75, label=f"{run.method}, n = {len(last)}"
        )
    axes.set(xlabel="Probability given to the favoured answer (%)", ylabel="Favoured answer is right (%)")
    axes.legend(loc="lower right")
    note_below(drawing, ["The area of a point grows with its number of debates."])
    return drawing
