"""How often heads was said, as bars."""

from typing import TYPE_CHECKING

from moot.report import figure
from moot.report.content import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("coinage", "heads", "Heads", "How often heads was said.", "Coins")
def heads(results: StudyResults) -> "Figure":
    """One bar a model."""
    from matplotlib.figure import Figure

    drawn = Figure()
    scores = results.scores[results.scores["metric"] == "heads"]
    drawn.add_subplot().bar(list(scores["model"]), list(scores["value"]))
    return drawn
