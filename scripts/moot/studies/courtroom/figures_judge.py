"""Figures that the paper does not have: whether confidence can be trusted, and how the judge's
belief moves.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.core.cases import Task
from moot.core.kinds import BELIEF, VERDICT
from moot.report import figure
from moot.report.content import StudyResults
from moot.report.figures import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    SMALL,
    VERMILION,
    note_below,
    nothing_to_draw,
    panels,
    sizes_of,
)
from moot.scores.dynamics import stated_predictions
from moot.scores.groups import probability_of_prediction
from moot.stats.bootstrap import as_numbers, share_statistic
from moot.stats.calibration import BINS, confidence_bins
from moot.studies.courtroom.runs import DEBATE, STUDY, Run, data_notes, list_runs, run_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

JUDGE = "The judge and its confidence"
PHASES = {1: "openings", 2: "rebuttals", 3: "closings"}
MOST_LINES = 6  # of runs in one panel; more are drawn in grey
MANY_PANELS = 9
LAST, MANY = 1000, 1000  # no debate has so many rounds, no round so many beliefs


@figure(STUDY, "reliability", "Can stated confidence be trusted?", category=JUDGE)
def reliability(results: StudyResults) -> "Figure":
    """Share of right predictions by stated confidence, by method and model; on the diagonal
    confidence is deserved. The area of a point grows with the share of a run's predictions in its
    bin of confidence; n counts all of them.
    """
    found: dict[str, list[tuple[Run, pd.DataFrame]]] = {}
    for run in list_runs(results):
        curve = _curve(run.valid, run.results.task)
        if len(curve):
            found.setdefault(run.method, []).append((run, curve))
    if not found:
        return nothing_to_draw("No prediction of this study states a confidence.")
    drawing, every, lowest = panels(len(found), columns=3, row_height=2.3)
    for axes, (method, curves) in zip(every, found.items(), strict=True):
        axes.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1)
        _draw_curves(axes, curves)
        axes.set(xlim=(-3, 103), ylim=(-3, 103))
        legend = axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.05, 1),
            title=method,
            alignment="left",
            fontsize=6.5,
        )
        legend.get_title().set_fontsize(8.5)
    drawing.supylabel("Right predictions (%)", fontsize=9)
    for axes in lowest:
        axes.set_xlabel("Stated confidence (%)")
    data = data_notes([run for curves in found.values() for run, _ in curves], "")
    area = "Area of a point: share of the run's predictions in its bin of confidence (ten bins)."
    note_below(
        drawing,
        [area, *data],
        sizes_of(run.results for curves in found.values() for run, _ in curves),
    )
    return drawing


def _draw_curves(axes: "Axes", curves: Sequence[tuple[Run, pd.DataFrame]]) -> None:
    """A line a run, with points as large as their share of the predictions; of many runs thin grey
    lines.
    """
    runs = [run for run, _ in curves]
    many = len(runs) > MOST_LINES
    for position, (run, curve) in enumerate(curves):
        x, y = 100 * curve["confidence"], 100 * curve["right"]
        if many:
            axes.plot(
                x, y, color="#c4c4c4", linewidth=0.7, label="" if position else f"{len(runs)} runs"
            )
            continue
        colour, marker = COLOURS[position], MARKERS[position]
        axes.plot(x, y, LINES[position % len(LINES)], color=colour, linewidth=1.2)
        axes.scatter(
            x,
            y,
            14 + 90 * curve["share"],
            color=colour,
            marker=marker,
            alpha=0.75,
            clip_on=False,
            zorder=3,
        )
        name = f"{run_name(run, runs)}, n = {curve['count'].sum()}"
        axes.plot([], [], marker, color=colour, markersize=4, label=name)


def _curve(rows: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Bins of confidence with predictions in them: mean confidence, share right, count and share of
    predictions.
    """
    confidence = probability_of_prediction(rows, task)
    known = ~np.isnan(confidence)
    right = as_numbers(rows["prediction"] == rows["target"])[known]
    bins = confidence_bins(confidence[known])
    sizes = bins.sum(axis=0) if len(bins) else np.zeros(BINS)
    filled = sizes > 0
    means = (np.stack([confidence[known], right]) @ bins)[:, filled] / sizes[filled]
    counts = sizes[filled].astype(int)
    return pd.DataFrame(
        {
            "confidence": means[0],
            "right": means[1],
            "count": counts,
            "share": counts / max(counts.sum(), 1),
        }
    )


@figure(STUDY, "belief_by_turn", "The judge's belief, turn by turn", category=JUDGE)
def belief_by_turn(results: StudyResults) -> "Figure":
    """The judge's mean belief in the positive outcome through the debate, by actual outcome;
    verdict last. Where the two lines part, the debate has told the judge something.
    """
    debates = list_runs(results, DEBATE)
    opinions = {run.experiment: stated_predictions(run.results) for run in debates}
    every = [(run, _beliefs(opinions[run.experiment], run)) for run in debates]
    shown = [(run, beliefs) for run, beliefs in every if len(beliefs)]
    if not shown:
        return nothing_to_draw(
            "No debate of this study has a judge who states a belief before the verdict."
        )
    small = len(shown) > MANY_PANELS
    drawing, axes_of_runs, lowest = panels(
        len(shown), columns=5 if small else 3, row_height=1.3 if small else 2.1
    )
    runs = [run for run, _ in shown]
    points = pd.concat([beliefs[["point", "order"]] for _, beliefs in shown])
    names = list(dict.fromkeys(points.sort_values("order", kind="stable")["point"]))
    for axes, (run, beliefs) in zip(axes_of_runs, shown, strict=True):
        _belief_panel(axes, run, beliefs, names, markersize=2.5 if small else 4)
        title = f"{run_name(run, runs)}\nn = {beliefs['case_id'].nunique()}"
        axes.set_title(title, fontsize=6.5 if small else SMALL)
    for axes in lowest:
        axes.set_xticks(
            range(len(names)), names, fontsize=6 if small else SMALL, rotation=30, ha="right"
        )
    drawing.legend(*axes_of_runs[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    drawing.supylabel("Belief in the positive outcome (%)", fontsize=9)
    meaning = (
        "Belief: the probability of the positive outcome by the judge's answer and stated"
        " confidence, of which 0 is a guess (50 %) and 100 certain (likelihood: the label's"
        " probability)."
    )
    unread = sum(int(opinions[run.experiment]["belief"].isna().sum()) for run, _ in shown)
    gaps = f"n counts cases. {unread} opinions without a confidence that can be read are left out."
    shaded = data_notes(runs, " Shaded: 95 % intervals over cases.")
    note_below(drawing, [meaning, gaps, *shaded], sizes_of(run.results for run in runs))
    return drawing


def _beliefs(opinions: pd.DataFrame, run: Run) -> pd.DataFrame:
    """The judge's opinions with a belief, of one run, and the point of the debate of each.

    None where the judge states no belief before the verdict.
    """
    asked = run.results.gather(
        lambda said: said[
            (said["model"] == run.model) & (said["speaker"] == "judge") & (said["kind"] == BELIEF)
        ],
        ["speaker", "kind", "round"],
    )
    nth = asked.groupby(
        ["debate_id", "round"]
    ).cumcount()  # of those asked for, whether they could be used or not
    nth.index = pd.MultiIndex.from_frame(asked[["debate_id", "turn"]])
    mine = opinions[
        (opinions["model"] == run.model)
        & (opinions["speaker"] == "judge")
        & opinions["belief"].notna()
    ]
    if not (mine["kind"] == BELIEF).any():
        return mine.iloc[:0]
    several = bool((nth > 0).any())
    positions = nth.reindex(
        pd.MultiIndex.from_frame(mine[["debate_id", "turn"]]), fill_value=0
    ).to_numpy()
    rows = zip(mine["kind"], mine["round"], positions, strict=True)
    points = [
        _point(kind, number, position + 1 if several else 0) for kind, number, position in rows
    ]
    order = mine["round"].where(mine["kind"] == BELIEF, LAST) + positions / MANY
    return mine.assign(point=points, order=order)


def _point(kind: str, number: int, nth: int) -> str:
    """A point of the debate in words: "after openings", "openings, 1" where beliefs follow every
    turn, "verdict".
    """
    if kind == VERDICT:
        return kind
    phase = PHASES.get(number, f"round {number}")
    return f"{phase}, {nth}" if nth else f"after {phase}"


def _belief_panel(
    axes: "Axes", run: Run, beliefs: pd.DataFrame, names: Sequence[str], markersize: float
) -> None:
    positive = run.results.task.positive
    looks = (
        ("actual: positive", True, VERMILION, "s", "-", -0.05),
        ("actual: other", False, BLUE, "o", "--", 0.05),
    )
    for label, actual, colour, marker, line, aside in looks:
        mine = beliefs[(beliefs["target"] == positive) == actual]
        estimates = [_belief_at(mine[mine["point"] == name], run) for name in names]
        y, low, high = 100 * np.array(estimates).T
        x = np.arange(len(names)) + aside
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(
            x, y, color=colour, marker=marker, linestyle=line, markersize=markersize, label=label
        )
    cases = beliefs.drop_duplicates("case_id")
    base_rate = 100 * float((cases["target"] == positive).mean())
    axes.axhline(
        base_rate, color=BLACK, linestyle=":", linewidth=1, label="base rate of these cases"
    )
    axes.set(ylim=(-3, 103), xlim=(-0.3, len(names) - 0.7))


def _belief_at(beliefs: pd.DataFrame, run: Run) -> tuple[float, float, float]:
    return run.results.sample(beliefs["case_id"]).bootstrap.estimate(
        share_statistic(beliefs["belief"])
    )
