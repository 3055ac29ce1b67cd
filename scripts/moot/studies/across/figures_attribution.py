"""What moved the judge, phase by phase."""

from typing import TYPE_CHECKING

from moot.core.config import COMPARISON
from moot.protocols.replayed import REMOVED
from moot.report import figure
from moot.report.content import MOVED, StudyResults
from moot.report.figures import BLUE, GREY, VERMILION, new_figure, note_below, nothing_to_draw
from moot.studies.across.tables_attribution import WAYS, what_moved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PHASE = "phase: "


@figure(COMPARISON, "what_moved", "What moved the judge, by phase", category="Judges", rests_on=(MOVED,))
def what_moved_figure(results: StudyResults) -> "Figure":
    """How much less probable the verdict is without a turn of each phase, with its 95 % interval, beside how much an
    answer changes when the same is asked twice (grey).
    """
    frame = what_moved(results).frame
    rows = frame[(frame["what is changed"] == WAYS[REMOVED]) & frame["group"].str.startswith(PHASE)].to_dict("records")
    if not rows:
        return nothing_to_draw("No debates were judged again without a turn in this run.")
    drawing, axes = new_figure(height=1.4 + 0.3 * len(rows))
    for place, row in enumerate(rows):
        again, clear = row["apart if asked again"], row["p (Holm)"] < 0.05  # noqa: PLR2004
        if not isinstance(again, str):
            axes.barh(place, 2 * again, left=-again, height=0.8, color=GREY, alpha=0.2)
        colour = VERMILION if clear else BLUE
        axes.plot([row["effect low"], row["effect high"]], [place, place], color=colour, linewidth=1.6)
        axes.plot([row["effect"]], [place], "s" if clear else "o", color=colour)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(
        range(len(rows)), [f"{row['debate']}, {row['judge']}: {row['group'][len(PHASE) :]}" for row in rows]
    )
    axes.invert_yaxis()
    axes.set_xlabel("How much less probable the verdict is without the turn")
    notes = ["Vermilion squares: beyond chance after Holm's correction over the table `what_moved`."]
    note_below(drawing, [*notes, "Grey: the mean distance between two answers about the same debate."])
    return drawing
