"""Figures that the paper does not have: whether confidence can be trusted, and how the judge's
belief moves.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.core.cases import Task
from moot.core.utterance_kinds import BELIEF, VERDICT
from moot.report import figure
from moot.report.figures import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    SMALL_FONT_SIZE,
    VERMILION,
    case_counts,
    note_below,
    nothing_to_draw,
    panels,
)
from moot.report.study_results import StudyResults
from moot.scores.dynamics import stated_predictions
from moot.scores.groups import probability_of_prediction
from moot.stats.arrays import as_numbers
from moot.stats.calibration import BINS, confidence_bins
from moot.stats.statistic import share_statistic
from moot.studies.courtroom.runs import DEBATE, STUDY, Run, data_notes, list_runs, run_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

JUDGE = "The judge and its confidence"
PHASES = {1: "openings", 2: "rebuttals", 3: "closings"}
MAX_COLOURED_RUNS = 6  # of runs in one panel; more are drawn in grey
MAX_LARGE_PANELS = 9
LARGE_COLUMNS, SMALL_COLUMNS = 3, 5
ONLY_ROW_HEIGHT = 2.9  # inches; the names of the points take more than an inch of it
MAX_FLAT_NAMES = 6  # of points under one axis; more are written steeply
MAX_TITLE_CHARS = 75  # of the titles of a row
AFTER_ALL_ROUNDS, MAX_BELIEFS_PER_ROUND = (
    1000,
    1000,
)  # no debate has so many rounds, no round so many beliefs


@figure(STUDY, "reliability", "Can stated confidence be trusted?", category=JUDGE)
def reliability(results: StudyResults) -> "Figure":
    """Share of right predictions by stated confidence, by method and model; on the diagonal,
    confidence matches accuracy. The area of a point grows with the share of a run's predictions in
    its bin of confidence; n counts all of them.
    """
    curves_by_method: dict[str, list[tuple[Run, pd.DataFrame]]] = {}
    for run in list_runs(results):
        curve = _bin_predictions(run.valid, run.results.task)
        if len(curve):
            curves_by_method.setdefault(run.method, []).append((run, curve))
    if not curves_by_method:
        return nothing_to_draw("No prediction of this study states a confidence.")
    drawing, all_axes, bottom_axes = panels(len(curves_by_method), columns=3, row_height=2.3)
    for axes, (method, curves) in zip(all_axes, curves_by_method.items(), strict=True):
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
    for axes in all_axes:  # legends separate the panels, so that each needs its numbers
        axes.tick_params(labelbottom=True, labelleft=True)
    for axes in bottom_axes:
        axes.set_xlabel("Stated confidence (%)")
    runs = []
    for curves in curves_by_method.values():
        runs += [run for run, _ in curves]
    data = data_notes(runs, "")
    area = "Area of a point: share of the run's predictions in its bin of confidence (ten bins)."
    note_below(drawing, [area, *data], case_counts(run.results for run in runs))
    return drawing


def _draw_curves(axes: "Axes", curves: Sequence[tuple[Run, pd.DataFrame]]) -> None:
    """Draw a line per run, with points as large as their share of the predictions.

    With many runs the lines are thin and grey.
    """
    runs = [run for run, _ in curves]
    has_many_runs = len(runs) > MAX_COLOURED_RUNS
    for position, (run, curve) in enumerate(curves):
        x, y = 100 * curve["confidence"], 100 * curve["right"]
        if has_many_runs:
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


def _bin_predictions(rows: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Return the bins of confidence with predictions: mean confidence, share right, count and
    share.
    """
    confidence = probability_of_prediction(rows, task)
    has_confidence = ~np.isnan(confidence)
    is_right = as_numbers(rows["prediction"] == rows["target"])[has_confidence]
    bins = confidence_bins(confidence[has_confidence])
    sizes = bins.sum(axis=0) if len(bins) else np.zeros(BINS)
    is_filled = sizes > 0
    means = (np.stack([confidence[has_confidence], is_right]) @ bins)[:, is_filled] / sizes[
        is_filled
    ]
    counts = sizes[is_filled].astype(int)
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
    verdict last. If the two lines diverge, the debate has informed the judge.
    """
    debates = list_runs(results, DEBATE)
    opinions = {run.experiment: stated_predictions(run.results) for run in debates}
    beliefs_by_run = [(run, _select_beliefs(opinions[run.experiment], run)) for run in debates]
    drawn_runs = [(run, beliefs) for run, beliefs in beliefs_by_run if len(beliefs)]
    if not drawn_runs:
        return nothing_to_draw(
            "No debate of this study has a judge who states a belief before the verdict."
        )
    is_small = len(drawn_runs) > MAX_LARGE_PANELS
    columns, row_height = (SMALL_COLUMNS, 1.3) if is_small else (LARGE_COLUMNS, 2.1)
    if len(drawn_runs) <= columns:
        row_height = ONLY_ROW_HEIGHT
    drawing, axes_of_runs, bottom_axes = panels(len(drawn_runs), columns, row_height)
    title_width = MAX_TITLE_CHARS // min(columns, len(drawn_runs))
    runs = [run for run, _ in drawn_runs]
    points = pd.concat([beliefs[["point", "order"]] for _, beliefs in drawn_runs])
    names = list(dict.fromkeys(points.sort_values("order", kind="stable")["point"]))
    for axes, (run, beliefs) in zip(axes_of_runs, drawn_runs, strict=True):
        _draw_belief_panel(axes, run, beliefs, names, markersize=2.5 if is_small else 4)
        name = textwrap.fill(run_name(run, runs), title_width)
        title = f"{name}\nn = {beliefs['case_id'].nunique()}"
        axes.set_title(title, fontsize=6.5 if is_small else SMALL_FONT_SIZE)
    for axes in bottom_axes:
        axes.set_xticks(
            range(len(names)),
            names,
            fontsize=6 if is_small else SMALL_FONT_SIZE,
            rotation=60 if len(names) > MAX_FLAT_NAMES else 30,
            rotation_mode="anchor",
            ha="right",
        )
    drawing.legend(*axes_of_runs[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    drawing.supylabel("Belief in the\npositive outcome (%)", fontsize=9)
    meaning = (
        "Belief: the probability of the positive outcome by the judge's answer and stated"
        " confidence, of which 0 is a guess (50 %) and 100 certain (likelihood: the label's"
        " probability)."
    )
    unread_count = sum(
        int(opinions[run.experiment]["belief"].isna().sum()) for run, _ in drawn_runs
    )
    gap_note = (
        f"n counts cases. {unread_count} opinions without a readable confidence are left out."
    )
    data = data_notes(runs, " Shaded: 95 % intervals over cases.")
    note_below(drawing, [meaning, gap_note, *data], case_counts(run.results for run in runs))
    return drawing


def _select_beliefs(opinions: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return the judge's opinions with a belief, of one run, and the point of the debate of each.

    None if the judge states no belief before the verdict.
    """
    belief_calls = run.results.gather(
        lambda utterances: utterances[
            (utterances["model"] == run.model)
            & (utterances["speaker"] == "judge")
            & (utterances["kind"] == BELIEF)
        ],
        ["speaker", "kind", "round"],
    )
    call_number = belief_calls.groupby(
        ["debate_id", "round"]
    ).cumcount()  # of those asked for, whether they could be used or not
    call_number.index = pd.MultiIndex.from_frame(belief_calls[["debate_id", "turn"]])
    run_opinions = opinions[
        (opinions["model"] == run.model)
        & (opinions["speaker"] == "judge")
        & opinions["belief"].notna()
    ]
    if not (run_opinions["kind"] == BELIEF).any():
        return run_opinions.iloc[:0]
    has_several_per_round = bool((call_number > 0).any())
    positions = call_number.reindex(
        pd.MultiIndex.from_frame(run_opinions[["debate_id", "turn"]]), fill_value=0
    ).to_numpy()
    rows = zip(run_opinions["kind"], run_opinions["round"], positions, strict=True)
    points = [
        _name_point(kind, number, position + 1 if has_several_per_round else 0)
        for kind, number, position in rows
    ]
    if not has_several_per_round:
        positions = np.full(len(positions), MAX_BELIEFS_PER_ROUND - 1)  # after all of the round
    order = (
        run_opinions["round"].where(run_opinions["kind"] == BELIEF, AFTER_ALL_ROUNDS)
        + positions / MAX_BELIEFS_PER_ROUND
    )
    return run_opinions.assign(point=points, order=order)


def _name_point(kind: str, number: int, ordinal: int) -> str:
    """Return a point of the debate in words: "after openings", "openings, 1" where beliefs follow
    every turn, "verdict".
    """
    if kind == VERDICT:
        return kind
    phase = PHASES.get(number, f"round {number}")
    return f"{phase}, {ordinal}" if ordinal else f"after {phase}"


def _draw_belief_panel(
    axes: "Axes", run: Run, beliefs: pd.DataFrame, names: Sequence[str], markersize: float
) -> None:
    positive = run.results.task.positive
    looks = (
        ("actual: positive", True, VERMILION, "s", "-", -0.05),
        ("actual: other", False, BLUE, "o", "--", 0.05),
    )
    for label, actual, colour, marker, line, offset in looks:
        outcome_beliefs = beliefs[(beliefs["target"] == positive) == actual]
        estimates = [
            _estimate_belief(outcome_beliefs[outcome_beliefs["point"] == name], run)
            for name in names
        ]
        y, low, high = 100 * np.array(estimates).T
        x = np.arange(len(names)) + offset
        is_stated = ~np.isnan(y)  # a run may state beliefs at other points than its neighbours
        x, y, low, high = x[is_stated], y[is_stated], low[is_stated], high[is_stated]
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


def _estimate_belief(beliefs: pd.DataFrame, run: Run) -> tuple[float, float, float]:
    return run.results.sample(beliefs["case_id"]).bootstrap.estimate(
        share_statistic(beliefs["belief"])
    )
