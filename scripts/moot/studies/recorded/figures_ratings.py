"""The ratings of debaters, with what else decides debates in the model, beside those by wins alone."""

from typing import TYPE_CHECKING

from moot.report import figure
from moot.report.content import StudyResults
from moot.report.figures import BLUE, GREY, new_figure, note_below, nothing_to_draw
from moot.studies.recorded.runs import STUDY
from moot.studies.recorded.tables_ratings import NAMING_DEBATERS, pairs_of, rated

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure(STUDY, "ratings", "Ratings of debaters", category="Recorded results", loaders=NAMING_DEBATERS)
def ratings_figure(results: StudyResults) -> "Figure":
    """Each debater's rating with its 95 % interval, side, length and judges in the model, and by wins alone (grey)."""
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
    names = [f"{row['data'][2]} ({row['rank']}; by wins alone {row['rank by wins alone']})" for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_xlabel("Rating (log odds)")
    note_below(
        drawing,
        [f"{pairs.run.data}. Blue: side, length and judges in the model; grey: wins alone. In brackets: both ranks."],
    )
    return drawing
