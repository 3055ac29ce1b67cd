"""The order of speakers (Figure 1 of the paper), coverage, and the evaluator's scores."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.figures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    SMALL_FONT_SIZE,
    VERMILION,
    count_phrase,
    new_figure,
    note_below,
    nothing_to_draw,
    row_figure,
    series_style,
    whiskers,
)
from moot.report.measurement import NOT_MEASURED
from moot.report.needs import is_in_run
from moot.report.study_results import StudyResults
from moot.stats.arrays import as_numbers
from moot.studies.conference.conditions import STUDY, Condition, list_conditions
from moot.studies.conference.speakers import EVALUATOR, JUDGE, MODERATOR, USER, list_transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SYSTEM, DEBATES = "The conference", "Coverage and quality"
PAPER_PARTICIPANTS = 2
_NAMES_A_ROW = 2
NODE_COLOURS = {USER: GREY, MODERATOR: BLUE, JUDGE: VERMILION, EVALUATOR: GREEN}
FIXED_POSITIONS = {
    USER: (0.06, 0.5),
    MODERATOR: (0.3, 0.5),
    JUDGE: (0.94, 0.5),
    EVALUATOR: (0.62, 0.06),
}
Position = tuple[float, float]


@figure(
    STUDY,
    "figure1_process",
    "Figure 1: who speaks next in the conference",
    category=SYSTEM,
    needs=(is_in_run,),
)
def process(results: StudyResults) -> "Figure":
    """Who speaks next in the conference (paper, Figure 1 and Algorithm 1): every step that the code
    can take.
    """
    participant_counts = [
        int(condition.params["participants"]) for condition in list_conditions(results)
    ]
    participants = max([PAPER_PARTICIPANTS, *participant_counts])
    steps = list(list_transitions(participants))
    drawing, axes = new_figure(height=3.4)
    axes.set_axis_off()
    axes.set(xlim=(-0.02, 1.06), ylim=(-0.05, 1.05))
    seats: dict[str, None] = {}
    for source, _, target in steps:
        seats |= {source: None, target: None}
    row_seats = [seat for seat in seats if seat not in FIXED_POSITIONS]
    positions = np.linspace(0.48, 0.8, len(row_seats))
    places = FIXED_POSITIONS | {
        seat: (float(x), 0.93) for seat, x in zip(row_seats, positions, strict=True)
    }
    boxes = {seat: _draw_box(axes, seat, place) for seat, place in places.items()}
    for source, label, target in steps:
        _draw_arrow(axes, boxes[source], boxes[target], label)
    note_below(
        drawing,
        [
            (
                "From the evaluator the moderator goes on to the next topic, or closes the"
                " conference after the last one."
            ),
            (
                "A topic is also closed, as open, after the configured number of rounds. Without a"
                " judge the moderator takes the judge's step."
            ),
        ],
    )
    return drawing


def _draw_box(axes: "Axes", seat: str, place: Position) -> "Text":
    colour = NODE_COLOURS.get(seat, BLACK)
    box_style = {
        "boxstyle": "round,pad=0.45",
        "facecolor": "white",
        "edgecolor": colour,
        "linewidth": 1.6,
    }
    return axes.text(
        *place,
        seat.replace("_", "\n"),
        ha="center",
        va="center",
        bbox=box_style,
        color=colour,
        zorder=3,
    )


def _draw_arrow(axes: "Axes", source: "Text", target: "Text", label: str) -> None:
    """Draw an arrow from box to box; the required preceding utterance is written at its middle."""
    start, end = source.get_position(), target.get_position()
    patches = {
        "patchA": source.get_bbox_patch(),
        "patchB": target.get_bbox_patch(),
        "shrinkA": 2,
        "shrinkB": 2,
    }
    axes.annotate(
        "", end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": BLACK, **patches}
    )
    if label:
        x, y = np.mean([start, end], axis=0)
        background = {"facecolor": "white", "edgecolor": "none"}
        axes.text(x, y, label, ha="center", va="center", fontsize=SMALL_FONT_SIZE, bbox=background)


@figure(STUDY, "coverage", "Which clusters of the real conference are reached", category=DEBATES)
def coverage_figure(results: StudyResults) -> "Figure":
    """Share of conferences that reach each cluster of the real conference's criteria on the first
    topic, by lexicon, with 95 % intervals over debates, with and without a judge of agreement.
    """
    return _draw_by_group(
        results,
        "reached_by_lexicon",
        "cluster",
        "Share of conferences that reach the cluster (lexicon)",
        (-0.05, 1.05),
    )


@figure(STUDY, "evaluation", "The evaluator's scores by criterion", category=DEBATES)
def evaluation(results: StudyResults) -> "Figure":
    """The evaluator's scores of the participants' debates by criterion, with 95 % intervals over
    debates, with and without a judge of agreement.
    """
    return _draw_by_group(
        results, "evaluation", "criterion", "Evaluator's score (1 to 10)", (0.5, 10.5)
    )


def _draw_by_group(
    results: StudyResults, metric: str, kind: str, label: str, limits: tuple[float, float]
) -> "Figure":
    conditions = []
    for condition in list_conditions(results):
        scores = condition.scores([metric])
        values = {group: value for _, group, value in scores if f"{kind}=" in group}
        if values:
            conditions.append((condition, values))
    if not conditions:
        unusable = int(results.scores.loc[results.scores["metric"] == metric, "n_invalid"].sum())
        forms = f"; {count_phrase(unusable, 'form')} could not be used" if unusable else ""
        return nothing_to_draw(f"No conference of this run has scores by {kind}{forms}.")
    groups = list(dict.fromkeys(chain.from_iterable(values for _, values in conditions)))
    names = _name_conditions([condition for condition, _ in conditions])
    counts = [int(condition.transcripts["debate_id"].nunique()) for condition, _ in conditions]
    sizes = dict(zip(names, counts, strict=True))
    distinct_sizes = set(sizes.values())
    lines = [f"{name}: {count_phrase(size, 'conference')}." for name, size in sizes.items()]
    lines = (
        [f"{count_phrase(distinct_sizes.pop(), 'conference')} of each."]
        if len(names) > len(distinct_sizes) == 1
        else lines
    )
    notes = [
        *lines,
        "Bars: 95 % intervals over debates; a single conference has none.",
        *results.notes,
    ]
    rows_of_legend = -(-len(names) // _NAMES_A_ROW)
    height = (
        1.0 + 0.18 * rows_of_legend + 0.12 * len(notes) + len(groups) * max(0.3, 0.1 * len(names))
    )
    group_names = [group.partition("=")[2].replace("_", " ") for group in groups]
    drawing, axes = row_figure(group_names, max(3.6, height))
    for position, (name, (_, values)) in enumerate(zip(names, conditions, strict=True)):
        # A little apart from the points of the other conditions.
        offsets = np.arange(len(groups)) + (position - (len(names) - 1) / 2) * min(
            0.18, 0.8 / len(names)
        )
        estimates = as_numbers([values.get(group, NOT_MEASURED).interval for group in groups])
        style = {**series_style(position), "linestyle": "none", "capsize": 2, "label": name}
        axes.errorbar(estimates[:, 0], offsets, xerr=whiskers(estimates), **style)
    axes.set(xlabel=label, xlim=limits)
    drawing.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=_NAMES_A_ROW)
    note_below(drawing, notes, sizes, "conference")
    return drawing


def _name_conditions(conditions: Sequence[Condition]) -> list[str]:
    """Name each condition by model and condition, with the experiment if names repeat."""
    short_names = [f"{condition.model}, {condition.name}" for condition in conditions]
    if len(set(short_names)) == len(short_names):
        return short_names
    return [
        f"{name} ({single.experiment})"
        for name, single in zip(short_names, conditions, strict=True)
    ]
