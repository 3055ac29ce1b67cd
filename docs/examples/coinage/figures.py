"""How often heads was said, as bars."""

from typing import TYPE_CHECKING

from moot.report import figure
from moot.report.figures import new_figure
from moot.report.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("coinage", "heads", "Heads", "How often heads was said.", "Coins")
def heads(results: StudyResults) -> "Figure":
    """One bar a model."""
    drawn, axes = new_figure()
    scores = results.scores[results.scores["metric"] == "heads"]
    axes.bar_label(axes.bar(list(scores["model"]), list(scores["value"])), fmt="%.2f")
    axes.set(ylabel="Share of heads", ylim=(0, 1))
    return drawn
