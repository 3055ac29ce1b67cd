"""Figures 5, 6 and 7 of the appellate study: affirming positions as the debate goes on, as counts
and as shares.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from moot.report import FigureBuilder, figure
from moot.report.content import StudyResults
from moot.report.figures import (
    BLACK,
    GREY,
    SMALL,
    WIDTH,
    new_figure,
    note_below,
    nothing_to_draw,
    series_style,
    whiskers,
)
from moot.stats.bootstrap import Floats, as_numbers, share_statistic
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, NO_STANCE_CODE
from moot.studies.appellate.panel_steps import regular
from moot.studies.appellate.phases import MOST_CASES_SHOWN, SPOKEN, STUDY, Phase, list_phases

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CATEGORY = "Positions over time"
STANCES = ("affirm", "not affirm")


def _figure(results: StudyResults, name: str) -> "Figure":
    """Rows: counts by case, shares with intervals.

    Columns: the human's stance, or every debate. One block a model.
    """
    phases = [phase for phase in list_phases(results) if phase.name == name]
    if not phases:
        return nothing_to_draw(f"No labelled experiment of the {SPOKEN[name]} phase in this run.")
    columns = list(STANCES) if name == "human_ai" else [""]
    sources = max(len(phase.sources) for phase in phases)
    rows = (1 + sources) * len(phases)
    drawing, axes = new_figure(
        WIDTH, 2.1 * rows, nrows=rows, ncols=len(columns), squeeze=False, sharex=True
    )
    for block, phase in enumerate(phases):
        top = block * (1 + sources)
        for column, stance in enumerate(columns):
            steps = phase.steps if not stance else phase.steps[phase.steps["condition"] == stance]
            title = f"{phase.experiment}, {phase.model}" + (
                f"\nhuman says {stance}" if stance else ""
            )
            _counts(axes[top][column], phase, regular(steps), title)
            for place, prefix in enumerate(phase.sources):
                _shares(
                    axes[top + 1 + place][column],
                    phase,
                    regular(steps),
                    "vote" if prefix else "code",
                )
    for lowest in axes[-1]:
        lowest.set_xlabel("step")
    handles, names = axes[0][0].get_legend_handles_labels()
    drawing.legend(handles, names, loc="outside upper center", ncols=len(names), fontsize=SMALL)
    sizes = {
        f"{phase.experiment}, {phase.model}": int(phase.steps["case_id"].nunique())
        for phase in phases
    }
    note_below(drawing, [*_notes(phases, name), *results.notes], sizes)
    return drawing


def _notes(phases: list[Phase], name: str) -> list[str]:
    notes = [
        (
            f"Steps: judges 1 to {phases[0].judges} of round 1, then of round 2, and so on. A"
            " statement without a position counts in neither way;"
        ),
        (
            "a step without a point has no position at all. n counts positions. Error bars: 95 %"
            " intervals by case."
        ),
    ]
    if name == "human_ai":
        notes.append(
            "The last judge of each round is the human, whose position is fixed; hollow points."
        )
    if any(len(phase.sources) > 1 for phase in phases):
        notes.append(
            "Votes: the label that the judge's model finds most probable right after speaking."
        )
    return notes


def _counts(axes: "Axes", phase: Phase, steps: pd.DataFrame, title: str) -> None:
    """How many debates affirm at each step: a line a case, side by side, and their total.

    A step at which no statement takes a position is a gap, and not a step at which no judge
    affirms.
    """
    every = range(1, phase.judges * phase.rounds + 1)
    placed = steps[steps["code"] != NO_STANCE_CODE]
    numbers = sorted(steps["number"].unique())
    total = _affirming(placed, every)
    axes.plot(every, total, color=BLACK, linewidth=2, marker="_", label="all", zorder=3)
    if len(numbers) <= MOST_CASES_SHOWN:
        aside = np.linspace(-0.24, 0.24, len(numbers))
        for position, number in enumerate(numbers):
            mine = _affirming(placed[placed["number"] == number], every)
            style = {**series_style(position), "markersize": 4, "label": f"case {number}"}
            axes.plot(np.array(every) + aside[position], mine, **style)
    if placed.empty:
        _say_empty(axes)
    axes.set_title(title, fontsize=SMALL + 0.5, loc="left")
    axes.set_ylabel("debates that affirm\n(by statement)")
    axes.set_ylim(-0.2, max(1, np.nanmax([0, *total])) * 1.08)
    axes.locator_params(axis="y", integer=True)
    _rounds(axes, phase)


def _affirming(placed: pd.DataFrame, steps: range) -> Floats:
    """How many debates affirm at each step; missing where no debate takes a position."""
    by_step = (
        placed.assign(affirms=placed["code"] == AFFIRMED_CODE).groupby("step")["affirms"].sum()
    )
    return as_numbers(by_step.reindex(list(steps)))


def _shares(axes: "Axes", phase: Phase, steps: pd.DataFrame, source: str) -> None:
    """The share of affirming positions at each step, with its interval."""
    for step in range(1, phase.judges * phase.rounds + 1):
        now = steps[(steps["step"] == step) & (steps[source] != NO_STANCE_CODE)]
        if now.empty:
            continue
        bootstrap = phase.results.sample(now["case_id"]).bootstrap
        share, low, high = bootstrap.estimate(share_statistic(now[source] == AFFIRMED_CODE))
        bars = None if np.isnan(low) else whiskers([(share, low, high)])
        human = phase.name == "human_ai" and step % phase.judges == 0
        look: Any = {"color": GREY, "markerfacecolor": "white"} if human else {"color": BLACK}
        axes.errorbar([step], [share], yerr=bars, fmt="o", capsize=2, **look)
        axes.annotate(f"n={len(now)}", (step, 1.06), ha="center", fontsize=SMALL - 1.5, color=GREY)
    if (steps[source] == NO_STANCE_CODE).all():
        _say_empty(axes)
    axes.axhline(0.5, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_ylim(-0.06, 1.18)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel(f"share that affirm\n(by {'vote' if source == 'vote' else 'statement'})")
    _rounds(axes, phase)


def _say_empty(axes: "Axes") -> None:
    style: Any = {"ha": "center", "va": "center", "color": GREY, "backgroundcolor": "white"}
    axes.text(0.5, 0.7, "no judge takes a position", transform=axes.transAxes, **style)


def _rounds(axes: "Axes", phase: Phase) -> None:
    axes.set_xlim(0.5, phase.judges * phase.rounds + 0.5)
    axes.set_xticks(list(range(1, phase.judges * phase.rounds + 1)))
    for number in range(1, phase.rounds):
        axes.axvline(number * phase.judges + 0.5, color=GREY, linewidth=0.6)


def _draws(name: str) -> FigureBuilder:
    return lambda results: _figure(results, name)


for _name, _number, _whose, _of in (
    ("synthetic", 5, "of synthetic judges", "as the debate goes on"),
    ("multiagent", 6, "of separate judges", "as the debate goes on"),
    ("human_ai", 7, "next to a human", "who affirms (left) and one who does not"),
):
    _title = f"Figure {_number}: positions {_whose}{' judge' if _name == 'human_ai' else ''}"
    _caption = f"Affirming positions {_whose} {_of} (paper, Figure {_number})."
    figure(STUDY, f"figure{_number}_{_name}", _title, _caption, CATEGORY)(_draws(_name))
