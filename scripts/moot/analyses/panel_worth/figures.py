"""The figure `panel_worth`: effective votes of panels, before and after their members talk."""

from typing import TYPE_CHECKING

from moot.analyses.panel_worth.tables import panel_worth
from moot.core.experiment_config import COMPARISON
from moot.report import figure
from moot.report.figures import BLACK, BLUE, nothing_to_draw, row_figure, whiskers
from moot.report.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure(COMPARISON, "panel_worth", "Effective votes of panels")
def panel_worth_figure(results: StudyResults) -> "Figure":
    """How many independent votes each panel is worth; a bar marks its number of members."""
    frame = panel_worth(results).frame
    frame = frame[frame["effective votes"].notna()].head(24)
    if frame.empty:
        return nothing_to_draw("No panel has an error correlation.")
    rows = range(len(frame))
    names = frame["answers of"] + ", " + frame["model"] + ": " + frame["when"]
    drawing, axes = row_figure(list(names), height=1.2 + 0.3 * len(rows))
    estimates = frame[["effective votes", "votes low", "votes high"]].to_numpy(dtype=float)
    axes.errorbar(estimates[:, 0], rows, xerr=whiskers(estimates), fmt="o", capsize=3, color=BLUE)
    axes.plot(frame["members a panel"], rows, "|", color=BLACK, markersize=12)
    axes.set(xlabel="Effective votes (bar: members)", ylim=(len(rows) - 0.5, -0.5), xlim=(0, None))
    return drawing
