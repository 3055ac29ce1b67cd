"""The figure `panel_worth`: effective votes of panels, before and after their members talk."""

from typing import TYPE_CHECKING

from moot.analyses.panel_worth.tables import panel_worth
from moot.core.experiment_config import COMPARISON
from moot.report import figure
from moot.report.content import StudyResults
from moot.report.figures import new_figure, nothing_to_draw, series_style, whiskers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS = 24


@figure(COMPARISON, "panel_worth", "Effective votes of panels")
def panel_worth_figure(results: StudyResults) -> "Figure":
    """Show how many independent votes each panel is worth, and with a bar how many members it has.

    Panels whose error correlation is open are left out.
    """
    frame = panel_worth(results).frame
    frame = frame[frame["effective votes"].notna()].head(MAX_ROWS)
    if frame.empty:
        return nothing_to_draw("No panel has an error correlation.")
    drawing, axes = new_figure(height=1.2 + 0.3 * len(frame))
    for place, (_, row) in enumerate(frame.iterrows()):
        estimate = (row["effective votes"], row["votes low"], row["votes high"])
        low, high = whiskers([estimate])
        style = series_style(0 if "first" in row["when"] else 1)
        axes.errorbar(estimate[0], -place, xerr=[low, high], capsize=3, **style)
        axes.plot(row["members a panel"], -place, "|", color="black", markersize=12)
    names = frame["answers of"] + ", " + frame["model"] + ": " + frame["when"]
    axes.set_yticks([-place for place in range(len(frame))], labels=list(names))
    axes.set(xlabel="Effective votes (bar: members)")
    axes.set_xlim(left=0)
    axes.set_ylim(0.5 - len(frame), 0.5)
    return drawing
