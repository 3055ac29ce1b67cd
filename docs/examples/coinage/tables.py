"""How often heads was said, by model."""

from moot.report import table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults


@table("coinage", "heads", "Heads", "How often heads was said.")
def heads(results: StudyResults) -> TableContent:
    """One row a model."""
    scores = results.scores
    rows = scores[scores["metric"] == "heads"].to_dict("records")
    return Columns().plain("experiment", "model").ours("value").table(rows)
