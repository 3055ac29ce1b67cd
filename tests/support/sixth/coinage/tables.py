"""How often heads was said, by model."""

from moot.report import table
from moot.report.content import StudyResults, TableContent


@table("coinage", "heads", "Heads", "How often heads was said.")
def heads(results: StudyResults) -> TableContent:
    """One row a model."""
    scores = results.scores
    return TableContent(scores.loc[scores["metric"] == "heads", ["experiment", "model", "value"]], ours=("value",))
