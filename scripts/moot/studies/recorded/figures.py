"""The figure of judges' beliefs over the rounds of recorded debates."""

from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.figures import (
    BLUE,
    GREY,
    VERMILION,
    note_below,
    nothing_to_draw,
    panels,
)
from moot.report.study_results import StudyResults
from moot.scores.group_rates import MIN_CASES
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import mean_statistic
from moot.studies.recorded.runs import (
    STUDY,
    UNDECIDED,
    RecordedRun,
    judged_runs,
    read_beliefs,
    read_outcomes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECORDS = "Recorded results"
MAX_ROUNDS = 6


@figure(STUDY, "nyu_beliefs", "A human judge's belief, round by round", category=RECORDS)
def nyu_beliefs(results: StudyResults) -> "Figure":
    """Mean belief in the right answer after each round, by arm and the judge's last answer."""
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
            f" story and judge is shaded if n is at least {MIN_CASES}; it is wide where one judge"
            " differs from the others. A debate that has ended keeps its last belief. Round 0:"
            f" before the first speech. Rounds after {MAX_ROUNDS} are not drawn."
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
