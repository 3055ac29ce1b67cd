"""Figures of recorded results: every method with its interval, beliefs over rounds, and whether
they can be trusted.
"""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from moot.report import EVERY, figure
from moot.report.content import StudyResults
from moot.report.figures import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    VERMILION,
    new_figure,
    note_below,
    nothing_to_draw,
    panels,
)
from moot.report.needs import has_tournament
from moot.scores.group_rates import FEWEST_CASES
from moot.stats.bootstrap import ClusterBootstrap, as_numbers, mean_statistic, share_statistic
from moot.stats.calibration import confidence_bins
from moot.studies.recorded.runs import (
    STUDY,
    RecordedRun,
    answered_runs,
    judged_runs,
    read_beliefs,
    read_outcomes,
)
from moot.studies.recorded.tables_ratings import NAMING_DEBATERS, pairs_of, rated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECORDS = "Recorded results"
MOST_ROUNDS = 6
LABEL_WIDTH = 34  # characters


@figure(STUDY, "accuracy", "How often recorded methods and models are right", category=RECORDS)
def accuracy(results: StudyResults) -> "Figure":
    """Accuracy of every recorded method and model with its 95 % interval by case, invalid answers
    counted as wrong; the dashed line is always naming the most frequent label.
    """
    runs = answered_runs(results)
    if not runs:
        return nothing_to_draw("No recorded predictions are in this run.")
    drawing, axes = new_figure(height=0.9 + 0.28 * len(runs))
    methods = list(dict.fromkeys(run.method for run in runs))
    ordered = sorted(runs, key=lambda run: (methods.index(run.method), run.model_name))
    for place, run in enumerate(ordered):
        rows = run.predictions
        value, low, high = run.accuracy
        majority = rows.drop_duplicates("case_id")["target"].value_counts(normalize=True).max()
        position = methods.index(run.method)
        colour, marker = COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)]
        axes.plot([100 * low, 100 * high], [place, place], color=colour, linewidth=1.6)
        axes.plot([100 * value], [place], marker, color=colour, markersize=6)
        axes.plot(
            [100 * majority] * 2,
            [place - 0.4, place + 0.4],
            color=GREY,
            linestyle="--",
            linewidth=1.2,
        )
        margin = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
        axes.annotate(
            f"n = {rows['case_id'].nunique()}", (1.01, place), fontsize=8, color=GREY, **margin
        )
    axes.set_yticks(range(len(ordered)), [_label(run.method, run.model_name) for run in ordered])
    axes.invert_yaxis()
    axes.set_xlabel("Right answers (%), invalid counted as wrong")
    note_below(
        drawing,
        [
            "Dashed: always naming the most frequent label of the same n cases. Bars: 95 %"
            " intervals by case."
        ],
    )
    return drawing


def _label(method: str, model: str) -> str:
    """A run's name next to its row; a long name of a model goes on in a second line."""
    return textwrap.fill(f"{method}, {model.rpartition('/')[2]}", LABEL_WIDTH)


@figure(STUDY, "nyu_beliefs", "A human judge's belief, round by round", category=RECORDS)
def nyu_beliefs(results: StudyResults) -> "Figure":
    """The human judge's mean belief in the right answer after each round, by arm: debates that
    ended on the right answer and those that did not.
    """
    runs = judged_runs(results)
    if not runs:
        return nothing_to_draw("No debates before a judge are in this run.")
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
        [
            f"n: debates in which the judge stated a belief more than once; from {FEWEST_CASES} on"
            " their 95 % interval by story and judge is shaded. A debate that ended keeps its last"
            f" belief. Round 0: before anyone spoke. Rounds after {MOST_ROUNDS} are not drawn."
        ],
    )
    return drawing


def _belief_lines(axes: "Axes", run: RecordedRun) -> None:
    stated = read_beliefs(run)
    stated = stated[stated.groupby("debate_id")["round"].transform("size") > 1]
    held = stated.pivot_table(index="debate_id", columns="round", values="in_right", aggfunc="last")
    held = held.reindex(columns=range(MOST_ROUNDS + 1)).ffill(axis=1)
    ends = read_outcomes(run).set_index("debate_id").loc[held.index]
    for label, mine, colour, line in (
        (
            "ended right",
            ends["right"] > 0.5,  # noqa: PLR2004 - an undecided judge counts half
            VERMILION,
            "-",
        ),
        ("ended wrong or undecided", ends["right"] <= 0.5, BLUE, "--"),  # noqa: PLR2004
    ):
        rows = held[mine]
        if rows.empty:
            continue
        clusters = ends.loc[rows.index, "cluster"]
        estimates = [
            ClusterBootstrap(clusters, run.results.seed).estimate(
                mean_statistic(rows[number], (0.0, 1.0))
            )
            for number in rows.columns
        ]
        y, low, high = 100 * np.array(estimates).T
        if len(rows) >= FEWEST_CASES:
            axes.fill_between(rows.columns, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(rows.columns, y, line, color=colour, label=label)
        axes.text(MOST_ROUNDS, y[-1], f" n = {len(rows)}", color=colour, fontsize=7, va="center")


@figure(STUDY, "nyu_calibration", "Can a human judge's confidence be trusted?", category=RECORDS)
def nyu_calibration(results: StudyResults) -> "Figure":
    """Share of right final beliefs by how sure the human judge was, one panel an arm, with 95 %
    intervals by story and judge and the number of debates; on the diagonal confidence is deserved.
    """
    runs = judged_runs(results)
    if not runs:
        return nothing_to_draw("No debates before a judge are in this run.")
    drawing, every, lowest = panels(len(runs), columns=2, row_height=2.2)
    for position, (axes, run) in enumerate(zip(every, runs, strict=True)):
        axes.plot([50, 100], [50, 100], color=GREY, linestyle=":", linewidth=1)
        _deserved(axes, run, COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)])
        axes.set(title=run.method, ylim=(-3, 117))
    for axes in lowest:
        axes.set_xlabel("Probability given to the favoured answer (%)")
    drawing.supylabel("Favoured answer is right (%)", fontsize=9)
    note_below(
        drawing,
        [
            "Number above a point: debates. Bars: 95 % intervals by story and judge. An undecided"
            " judge is half right."
        ],
    )
    return drawing


def _deserved(axes: "Axes", run: RecordedRun, colour: str, marker: str) -> None:
    last = read_beliefs(run).groupby("debate_id").last()
    ends = read_outcomes(run).set_index("debate_id").loc[last.index]
    sure = np.maximum(last["in_right"], 1 - last["in_right"])
    for _, rows in ends.groupby(confidence_bins(as_numbers(sure)).argmax(axis=1)):
        x = 100 * sure[rows.index].mean()
        estimate = ClusterBootstrap(rows["cluster"], run.results.seed).estimate(
            share_statistic(rows["right"])
        )
        y, low, high = 100 * np.array(estimate)
        axes.plot([x, x], [low, high], color=colour, linewidth=1.2)
        axes.plot([x], [y], marker, color=colour, markersize=5)
        axes.text(x, 106, f"{len(rows)}", ha="center", fontsize=7, color=GREY)


@figure(EVERY, "ratings", "Ratings of debaters", needs=(has_tournament,))
@figure(STUDY, "ratings", "Ratings of debaters", category=RECORDS, loaders=NAMING_DEBATERS)
def ratings_figure(results: StudyResults) -> "Figure":
    """Each debater's rating with its 95 % interval, side, length and judges in the model, and by
    wins alone (grey).
    """
    found = [(pairs, list(rated(pairs))) for pairs in pairs_of(results)]
    if not any(rows for _, rows in found):
        return nothing_to_draw("No debates between named debaters are in this run.")
    pairs, rows = max(found, key=lambda one: len(one[0].rows))
    drawing, axes = new_figure(height=1.2 + 0.24 * len(rows))
    for place, row in enumerate(rows):
        value, low, high = row["rating"]
        axes.plot([low, high], [place, place], color=BLUE, linewidth=1.6)
        axes.plot([row["rating by wins alone"][0]], [place + 0.3], "D", color=GREY, markersize=3)
        axes.plot([value], [place], "o", color=BLUE, markersize=6)
    names = [
        f"{row['data'][2]} ({row['rank']}; by wins alone {row['rank by wins alone']})"
        for row in rows
    ]
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_xlabel("Rating (log odds)")
    note_below(
        drawing,
        [
            f"{pairs.data}. Blue: side, length and judges in the model; grey: wins alone. In"
            " brackets: both ranks."
        ],
    )
    return drawing
