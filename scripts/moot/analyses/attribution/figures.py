"""The figure `what_moved`: the effect of a turn on the verdict, by its place in the debate."""

from typing import TYPE_CHECKING

from moot.analyses.attribution.tables import has_attribution, what_moved
from moot.core.experiment_config import COMPARISON
from moot.report import figure
from moot.report.figures import BLUE, GREY, nothing_to_draw, row_figure, whiskers
from moot.report.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure(COMPARISON, "what_moved", "What moved the judge?", needs=(has_attribution,))
def what_moved_figure(results: StudyResults) -> "Figure":
    """How much less probable a verdict is without the first, second, ... turn of its debate."""
    frame = what_moved(results).frame
    frame = frame[frame["group"].str.startswith("place:")].head(24)
    if frame.empty:
        return nothing_to_draw("No debates were judged again without single turns.")
    rows = range(len(frame))
    names = frame["debate"] + ", " + frame["judge"] + ": " + frame["group"]
    drawing, axes = row_figure(list(names), height=1.2 + 0.3 * len(rows))
    # a table has no column of intervals if no row has one
    cells = frame.reindex(columns=["effect", "95 % low", "95 % high"])
    estimates = cells.to_numpy(dtype=float)
    axes.errorbar(estimates[:, 0], rows, xerr=whiskers(estimates), fmt="o", capsize=3, color=BLUE)
    axes.axvline(0, color=GREY, linewidth=1)
    axes.set(xlabel="Probability of the verdict with less without the turn")
    return drawing
