"""Figure 1 of the decision conference paper, drawn from the code's own state machine."""

from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.content import DESIGN, StudyResults
from moot.report.figures import BLACK, BLUE, GREEN, GREY, SMALL, VERMILION, new_figure, note_below
from moot.studies.conference.conditions import STUDY, list_conditions
from moot.studies.conference.speakers import EVALUATOR, JUDGE, MODERATOR, USER, transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

PAPER_PARTICIPANTS = 2
NODE_COLOURS = {USER: GREY, MODERATOR: BLUE, JUDGE: VERMILION, EVALUATOR: GREEN}
FIXED_PLACES = {USER: (0.06, 0.5), MODERATOR: (0.3, 0.5), JUDGE: (0.94, 0.5), EVALUATOR: (0.62, 0.06)}
Place = tuple[float, float]


@figure(
    STUDY,
    "figure1_process",
    "Figure 1: who speaks next in the conference",
    category="The conference",
    rests_on=(DESIGN,),
)
def process(results: StudyResults) -> "Figure":
    """Who speaks next in the conference (paper, Figure 1 and Algorithm 1): every step that the code can take."""
    configured = [int(condition.results.config.params["participants"]) for condition in list_conditions(results)]
    participants = max([PAPER_PARTICIPANTS, *configured])
    steps = list(transitions(participants))
    drawing, axes = new_figure(height=3.4)
    axes.set_axis_off()
    axes.set(xlim=(-0.02, 1.06), ylim=(-0.05, 1.05))
    speakers = list(dict.fromkeys(seat for step in steps for seat in (step[0], step[2])))
    spoken = [seat for seat in speakers if seat not in FIXED_PLACES]
    across = np.linspace(0.48, 0.8, len(spoken))
    places = FIXED_PLACES | {seat: (float(x), 0.93) for seat, x in zip(spoken, across, strict=True)}
    boxes = {seat: _box(axes, seat, place) for seat, place in places.items()}
    for source, said, target in steps:
        _arrow(axes, boxes[source], boxes[target], said)
    note_below(
        drawing,
        [
            "From the evaluator the moderator goes on to the next topic, or closes the conference after the last one.",
            "A topic is also closed, as open, after the configured number of rounds. Without a judge the moderator "
            "takes the judge's step.",
        ],
    )
    return drawing


def _box(axes: "Axes", seat: str, place: Place) -> "Text":
    colour = NODE_COLOURS.get(seat, BLACK)
    look = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    return axes.text(*place, seat.replace("_", "\n"), ha="center", va="center", bbox=look, color=colour, zorder=3)


def _arrow(axes: "Axes", source: "Text", target: "Text", said: str) -> None:
    """An arrow from box to box, with what must have been said for it written on its middle."""
    start, end = source.get_position(), target.get_position()
    ends = {"patchA": source.get_bbox_patch(), "patchB": target.get_bbox_patch(), "shrinkA": 2, "shrinkB": 2}
    axes.annotate("", end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": BLACK, **ends})
    if said:
        x, y = np.mean([start, end], axis=0)
        plain = {"facecolor": "white", "edgecolor": "none"}
        axes.text(x, y, said, ha="center", va="center", fontsize=SMALL, bbox=plain)
