"""What decides debates between two sides before several judges: the side, its length, or the model."""

from collections.abc import Iterator

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import StudyResults, TableContent
from moot.stats.bootstrap import SHARE, ClusterBootstrap, ratio_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs
from moot.studies.recorded.scores_tournament import (
    longer_wins,
    positive_wins,
    same_side_after_swap,
    verdicts,
)

LOADER = "debate_tournament"
WINS = {"the longer side": longer_wins, "the same side after a swap": same_side_after_swap}


@table(STUDY, "tournament", "What decides debates between models", loaders=(LOADER,))
def tournament(results: StudyResults) -> TableContent:
    """How often one side, the longer side, and after a swap of sides the same side wins, by judge,
    with 95 % intervals by cluster (the topic).
    """
    rows = [row for run in recorded_runs(results) for row in _rows(run)]
    columns = (
        Columns()
        .keys("data", "who wins")
        .plain("judge")
        .estimate("share")
        .counts("of", "cases", "clusters")
    )
    return columns.table(
        rows,
        [
            (
                "The longer side used more words in all its turns, as the records count them. After"
                " a swap the same two models argue the other side: either the same side wins again"
                " (the share), or the same model does. A share is of verdicts; after a swap, of"
                " pairs of judge and matchup."
            ),
        ],
    )


def _rows(run: RecordedRun) -> Iterator[Fields]:
    rows = verdicts(run.results, run.model)
    if not (rows["matchup"] != "").any():
        return
    for who, measure in {run.results.task.positive: positive_wins, **WINS}.items():
        for judge in ("", *sorted({*rows["judge"]} - {""})):
            terms = measure(run.results, run.model, judge)
            if not terms.case_ids:
                continue
            bootstrap = ClusterBootstrap(
                [run.results.clusters[case] for case in terms.case_ids], run.results.seed
            )
            share = bootstrap.estimate(
                ratio_statistic(terms.tops[:, 0], terms.bottoms[:, 0], SHARE)
            )
            yield {
                "data": run.data,
                "who wins": who,
                "judge": judge or "all",
                "share": share,
                "of": len(terms.case_ids),
                "cases": len(set(terms.case_ids)),
                "clusters": bootstrap.clusters,
            }
