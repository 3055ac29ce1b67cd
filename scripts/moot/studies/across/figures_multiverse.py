"""The specification curve of a multiverse: each conclusion in order of size, with the choices
behind it.
"""

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from moot.report import EVERY, figure
from moot.report.content import MULTIVERSE, StudyResults
from moot.report.figures import (
    BLUE,
    GREY,
    VERMILION,
    new_figure,
    note_below,
    nothing_to_draw,
    whiskers,
)
from moot.studies.across.multiverse import Question, questions
from moot.studies.across.tables_multiverse import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST, WIDTH = 3, 26
"""Panels, and characters of a line of their titles."""


@figure(
    EVERY, "multiverse", "Conclusions under every combination of choices", rests_on=(MULTIVERSE,)
)
def multiverse_figure(results: StudyResults) -> "Figure":
    """Specification curve (Simonsohn, Simmons and Nelson 2020): estimates in order of size with 95
    % intervals, moot's own choices in red, and below the choices that each rests on.
    """
    every = sorted(
        questions(results), key=lambda one: not any(one.moved_by().values())
    )  # those that choices move first
    found = every[:MOST]
    if not found:
        return nothing_to_draw("No choice can be varied: nothing differs between the combinations.")
    drawing, grid = new_figure(
        height=5.2,
        nrows=2,
        ncols=len(found),
        squeeze=False,
        sharex="col",
        gridspec_kw={"height_ratios": (3, 2)},
    )
    for question, curve, choices in zip(found, grid[0], grid[1], strict=True):
        _draw(question, curve, choices)
    note_below(drawing, [f"{one.name} ({one.metric}): {in_words(one)}" for one in found])
    return drawing


def _draw(question: Question, curve: "Axes", choices: "Axes") -> None:
    universes = sorted(question.universes, key=lambda one: one.found.value)
    estimates = [(one.found.value, one.found.low, one.found.high) for one in universes]
    for place, (one, estimate) in enumerate(zip(universes, estimates, strict=True), 1):
        colour = VERMILION if one.rules == question.own else BLUE
        curve.errorbar(
            [place],
            [estimate[0]],
            yerr=whiskers([estimate]),
            fmt="o",
            color=colour,
            markersize=3,
            linewidth=1,
        )
    if not np.isnan(question.supposed):
        curve.axhline(question.supposed, color=GREY, linewidth=0.8, linestyle=":")
    curve.set_title(fill(question.name, WIDTH), fontsize=8)
    curve.set_ylabel(
        question.metric if np.isnan(question.supposed) else f"difference in {question.metric}"
    )
    rows = [
        (name, value)
        for name in question.varied
        for value in dict.fromkeys(getattr(one.rules, name) for one in question.universes)
    ]
    for height, (name, value) in enumerate(rows):
        places = [
            place for place, one in enumerate(universes, 1) if getattr(one.rules, name) == value
        ]
        choices.plot(places, [height] * len(places), "|", color=GREY, markersize=5)
    choices.set_yticks(
        range(len(rows)),
        [f"{name}: {(value or 'own').rsplit('/', 1)[-1]}" for name, value in rows],
        fontsize=6,
    )
    choices.invert_yaxis()
    choices.set_xlabel("combination")
    choices.locator_params(axis="x", integer=True)
