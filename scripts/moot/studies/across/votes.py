"""Over how many single answers a run's votes are."""

import json

from moot.core.kinds import SAMPLE, VOTES
from moot.report.content import Run

MANY = "many"


def vote_size(run: Run) -> str:
    """The number of answers that each vote counts, "2 to 3" where they differ; "many" where it is not known."""
    sizes = set[int]()
    for said in run.results.parts(["kind", "parsed", "prediction"], run.model):
        sizes |= {sum(json.loads(parsed).values()) for parsed in said.loc[said["kind"] == VOTES, "parsed"]}
        sizes |= set(said[(said["kind"] == SAMPLE) & (said["prediction"] != "")].groupby("debate_id").size())
    return " to ".join(str(size) for size in sorted({min(sizes), max(sizes)})) if sizes else MANY
