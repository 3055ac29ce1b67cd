"""Figures 5, 6 and 7 of the appellate study: counts and shares of positions by step."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from moot.report import FigureBuilder, figure
from moot.report.figures import (
    BLACK,
    GREY,
    SMALL_FONT_SIZE,
    WIDTH,
    new_figure,
    note_below,
    nothing_to_draw,
    series_style,
    whiskers,
)
from moot.report.study_results import StudyResults
from moot.stats.arrays import Floats, as_numbers
from moot.stats.statistic import share_statistic
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, NO_STANCE_CODE, NOT_AFFIRMED_CODE
from moot.studies.appellate.panel_steps import select_regular_steps
from moot.studies.appellate.phases import MAX_CASES_SHOWN, PHASE_TITLES, STUDY, Phase, list_phases

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CATEGORY = "Positions over time"
_VERBS = {"affirm": "affirm", "not affirm": "do not affirm"}
DECISIONS = {"affirm": AFFIRMED_CODE, "not affirm": NOT_AFFIRMED_CODE}
"""The columns of Figure 7, as the paper has them: decisions of either kind in all debates."""


def _draw_figure(results: StudyResults, name: str) -> "Figure":
    """Draw counts by case and shares with intervals (rows), one block of rows per model.

    The columns of Figure 7 are the two decisions; the other figures have the affirming ones.
    """
    phases = [phase for phase in list_phases(results) if phase.name == name]
    if not phases:
        return nothing_to_draw(
            f"No labelled experiment of the {PHASE_TITLES[name]} phase in this run."
        )
    decisions = list(DECISIONS) if name == "human_ai" else ["affirm"]
    block_rows = 1 + max(len(phase.sources) for phase in phases)
    row_count = block_rows * len(phases)
    drawing, axes = new_figure(
        WIDTH, 2.1 * row_count, nrows=row_count, ncols=len(decisions), squeeze=False, sharex=True
    )
    for block, phase in enumerate(phases):
        block_axes = axes[block * block_rows : (block + 1) * block_rows]
        for column, decision in enumerate(decisions):
            _draw_column([row[column] for row in block_axes], phase, decision)
    for axis in axes[-1]:
        axis.set_xlabel("step")
    handles, names = axes[0][0].get_legend_handles_labels()
    drawing.legend(
        handles, names, loc="outside upper center", ncols=len(names), fontsize=SMALL_FONT_SIZE
    )
    sizes = {}
    for phase in phases:
        sizes[f"{phase.experiment}, {phase.model}"] = int(phase.steps["case_id"].nunique())
    note_below(drawing, [*_write_notes(phases, name), *results.notes], sizes)
    return drawing


def _draw_column(axes: "list[Axes]", phase: Phase, decision: str) -> None:
    """Draw the counts and shares of one decision."""
    title = f"{phase.experiment}, {phase.model}"
    if phase.name == "human_ai":
        title += f"\ndecisions: {decision}"
    steps = select_regular_steps(phase.steps)
    _draw_counts(axes[0], phase, steps, decision, title)
    for axis, prefix in zip(axes[1:], phase.sources, strict=False):
        _draw_shares(axis, phase, steps, decision, "vote" if prefix else "code")


def _write_notes(phases: list[Phase], name: str) -> list[str]:
    notes = [
        (
            f"Steps: judges 1 to {phases[0].judges} of round 1, then of round 2, and so on. A"
            " statement without a position counts in neither way;"
        ),
        (
            "a step without a point has no position. n is the number of positions. Error bars are"
            " 95 % intervals by case."
        ),
    ]
    if name == "human_ai":
        notes.append(
            "Left: debates that affirm at a step. Right: debates that do not. Hollow points: the "
            "last judge of each round is the human, whose position is fixed. The bank's human "
            "affirms in half of a case's debates, so the lines of the cases meet there."
        )
    if any(len(phase.sources) > 1 for phase in phases):
        notes.append(
            "Votes: the label that the judge's model finds most probable right after speaking."
        )
    return notes


def _draw_counts(
    axes: "Axes", phase: Phase, steps: pd.DataFrame, decision: str, title: str
) -> None:
    """Draw how many debates take a decision at each step: one line per case, and their total.

    A step at which no statement takes a position is a gap. It does not count as zero.
    """
    all_steps = range(1, phase.judges * phase.rounds + 1)
    positions = steps[steps["code"] != NO_STANCE_CODE]
    numbers = sorted(steps["number"].unique())
    total = _count_decisions(positions, all_steps, decision)
    axes.plot(all_steps, total, color=BLACK, linewidth=2, marker="_", label="all", zorder=3)
    if len(numbers) <= MAX_CASES_SHOWN:
        offsets = np.linspace(-0.24, 0.24, len(numbers))
        for case_index, number in enumerate(numbers):
            of_case = positions[positions["number"] == number]
            case_counts = _count_decisions(of_case, all_steps, decision)
            style = {**series_style(case_index), "markersize": 4, "label": f"case {number}"}
            axes.plot(np.array(all_steps) + offsets[case_index], case_counts, **style)
    if positions.empty:
        _note_empty(axes)
    axes.set_title(title, fontsize=SMALL_FONT_SIZE + 0.5, loc="left")
    axes.set_ylabel(f"debates that {_VERBS[decision]}\n(by statement)")
    axes.set_ylim(-0.2, max(1, np.nanmax([0, *total])) * 1.08)
    axes.locator_params(axis="y", integer=True)
    _draw_rounds(axes, phase)


def _count_decisions(positions: pd.DataFrame, steps: range, decision: str) -> Floats:
    """Count the debates with a decision at each step; NaN if no debate takes a position."""
    has_decision = positions["code"] == DECISIONS[decision]
    by_step = has_decision.groupby(positions["step"]).sum()
    return as_numbers(by_step.reindex(list(steps)))


def _draw_shares(
    axes: "Axes", phase: Phase, steps: pd.DataFrame, decision: str, source: str
) -> None:
    """Draw the share of a decision among the positions of each step with its interval."""
    for step in range(1, phase.judges * phase.rounds + 1):
        positions = steps[(steps["step"] == step) & (steps[source] != NO_STANCE_CODE)]
        if positions.empty:
            continue
        bootstrap = phase.results.sample(positions["case_id"]).bootstrap
        has_decision = positions[source] == DECISIONS[decision]
        share, low, high = bootstrap.estimate(share_statistic(has_decision))
        bars = None if np.isnan(low) else whiskers([(share, low, high)])
        is_human = phase.name == "human_ai" and step % phase.judges == 0
        style: Any = {"color": GREY, "markerfacecolor": "white"} if is_human else {"color": BLACK}
        axes.errorbar([step], [share], yerr=bars, fmt="o", capsize=2, **style)
        axes.annotate(
            f"n={len(positions)}",
            (step, 1.06),
            ha="center",
            fontsize=SMALL_FONT_SIZE - 1.5,
            color=GREY,
        )
    if (steps[source] == NO_STANCE_CODE).all():
        _note_empty(axes)
    axes.axhline(0.5, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_ylim(-0.06, 1.18)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel(
        f"share that {_VERBS[decision]}\n(by {'vote' if source == 'vote' else 'statement'})"
    )
    _draw_rounds(axes, phase)


def _note_empty(axes: "Axes") -> None:
    style: Any = {"ha": "center", "va": "center", "color": GREY, "backgroundcolor": "white"}
    axes.text(0.5, 0.7, "no judge takes a position", transform=axes.transAxes, **style)


def _draw_rounds(axes: "Axes", phase: Phase) -> None:
    axes.set_xlim(0.5, phase.judges * phase.rounds + 0.5)
    axes.set_xticks(list(range(1, phase.judges * phase.rounds + 1)))
    for number in range(1, phase.rounds):
        axes.axvline(number * phase.judges + 0.5, color=GREY, linewidth=0.6)


def _make_builder(name: str) -> FigureBuilder:
    return lambda results: _draw_figure(results, name)


for _name, _number, _judges, _positions in (
    ("synthetic", 5, "of synthetic judges", "Affirming positions"),
    ("multiagent", 6, "of separate judges", "Affirming positions"),
    ("human_ai", 7, "next to a human judge", "Affirming (left) and other positions (right)"),
):
    _title = f"Figure {_number}: positions {_judges}"
    _caption = f"{_positions} {_judges} as the debate goes on (paper, Figure {_number})."
    figure(STUDY, f"figure{_number}_{_name}", _title, _caption, CATEGORY)(_make_builder(_name))
