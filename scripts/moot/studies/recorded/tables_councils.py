"""The table of the verdicts of councils: joint decisions of several judges, and their stability."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.core.types import Fields
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.stats.agreement import count_agreeing_pairs
from moot.stats.statistic import SHARE, ratio_statistic, share_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs
from moot.studies.recorded.stated_beliefs import has_councils

MIN_MEMBERS = 2
NO_MAJORITY = "no majority"
COUNCIL = ["case_id", "repeat", "judge_repeat"]
TWO_THIRDS = 2 / 3
_ROUNDING = 1e-9


@table(
    STUDY,
    "council_verdicts",
    "Verdicts of councils, and how often they flip",
    needs=(has_councils,),
    loaders=("transcripts",),
)
def council_verdicts(results: StudyResults) -> TableContent:
    """What the judges of a debate decide together by majority, two thirds or unanimity, and how
    often the verdict flips if the same council is asked again, or another debate of the case is
    judged; with 95 % intervals by cluster.
    """
    rows: list[Fields] = []
    for run in recorded_runs(results):
        rows += _rows_of_run(run)
    return _COLUMNS.table(
        rows,
        [
            (
                "A council is the judges, or the members of a group, with valid answers about one"
                " debate, each asked for the same time. A majority is more than half of the"
                " answers; without one the verdict is `no majority`. Under the other rules the"
                " verdict is the positive label if at least two thirds, or all, of the answers are,"
                " and else the negative one."
            ),
            (
                "Flips: the share of pairs of councils of the same case with different verdicts,"
                " `no majority` included. If asked again: the same debate, the judges asked for"
                " another time. In another debate: a repeat of the debate on the case, before"
                " judges asked for the same time. One judge flips: the same share of pairs of"
                " answers of one judge asked again. Empty without such pairs."
            ),
            "Right counts councils without a majority as not right; it needs a known truth.",
        ],
    )


_COLUMNS = (
    Columns()
    .keys("data", "method", "model")
    .plain("rule")
    .ours("positive", NO_MAJORITY)
    .estimate("right", "right")
    .estimate("flips if asked again", "again")
    .plain("one judge flips")
    .estimate("flips in another debate", "other")
    .plain("members", digits=".1f")
    .counts("councils", "cases")
    .short_form(
        "data",
        "method",
        "rule",
        "positive",
        "right",
        "flips if asked again",
        "again, 95 % interval",
        "one judge flips",
        "flips in another debate",
        "councils",
    )
)


def council_rules(positive: str, negative: str) -> Mapping[str, Callable[[Mapping[str, int]], str]]:
    """Return the rules of decision, each from the number of answers by label to the verdict."""

    def decide_by_majority(counts: Mapping[str, int]) -> str:
        label, count = max(counts.items(), key=lambda item: item[1])
        return label if 2 * count > sum(counts.values()) else NO_MAJORITY

    def decide_by_share(counts: Mapping[str, int], threshold: float) -> str:
        share = counts.get(positive, 0) / sum(counts.values())
        return positive if share >= threshold - _ROUNDING else negative

    rules: dict[str, Callable[[Mapping[str, int]], str]] = {"majority": decide_by_majority}
    if positive:
        rules[f"two thirds for {positive}"] = lambda counts: decide_by_share(counts, TWO_THIRDS)
        rules[f"all for {positive}"] = lambda counts: decide_by_share(counts, 1)
    return rules


def gather_councils(run: RecordedRun) -> pd.DataFrame:
    """Return the councils of a run: case_id, repeat, judge_repeat, target, and counts (label to
    number).

    Only councils of at least two members count.
    """
    answers = run.valid
    if "judge" not in answers:
        return pd.DataFrame()
    answers = answers[answers["judge"].notna()]
    answers = answers.assign(judge_repeat=answers["judge_repeat"].fillna(0))
    councils = []
    for key, rows in answers.groupby(COUNCIL, sort=True):
        if len(rows) >= MIN_MEMBERS:
            counts = rows["prediction"].value_counts().sort_index().to_dict()
            cells = dict(zip(COUNCIL, key, strict=True))
            councils.append({**cells, "target": rows["target"].iloc[0], "counts": counts})
    return pd.DataFrame(councils)


def _rows_of_run(run: RecordedRun) -> Iterator[Fields]:
    """Yield a row for each rule; none without councils."""
    councils = gather_councils(run)
    if councils.empty:
        return
    positive = positive_of_two(run.results.task)
    negatives = [label for label in run.results.task.labels if label != positive]
    answers = run.valid.fillna({"judge": "", "persona": ""})
    for rule, decide in council_rules(positive, negatives[0]).items():
        verdicts = councils.assign(prediction=councils["counts"].map(decide))
        yield {
            "data": run.data,
            "method": run.method,
            "model": run.model_name,
            "rule": rule,
            "positive": float((verdicts["prediction"] == positive).mean()) if positive else None,
            NO_MAJORITY: float((verdicts["prediction"] == NO_MAJORITY).mean()),
            **_right_cells(run, verdicts),
            **_flip_cells(run, verdicts, answers),
            "members": float(np.mean([sum(counts.values()) for counts in councils["counts"]])),
            "councils": len(councils),
            "cases": councils["case_id"].nunique(),
        }


def _right_cells(run: RecordedRun, verdicts: pd.DataFrame) -> Fields:
    """Return the share of right verdicts; {} if a truth is unknown."""
    if (verdicts["target"].fillna("") == "").any():
        return {}
    is_right = verdicts["prediction"] == verdicts["target"]
    bootstrap = run.results.sample(verdicts["case_id"]).bootstrap
    return {"right": bootstrap.estimate(share_statistic(is_right))}


def _flip_cells(run: RecordedRun, verdicts: pd.DataFrame, answers: pd.DataFrame) -> Fields:
    """Return how often verdicts of two councils of a case differ, and two answers of one judge."""
    pairs_by_name = {
        "flips if asked again": count_agreeing_pairs(verdicts, ["case_id", "repeat"]),
        "flips in another debate": count_agreeing_pairs(
            verdicts, ["case_id", "judge_repeat"], excluded=["repeat"]
        ),
    }
    single = count_agreeing_pairs(answers, ["case_id", "repeat", "judge", "persona"]).sum()
    cells: dict[str, object] = {}
    for name, counts in pairs_by_name.items():
        pairs = counts[counts["pairs"] > 0]
        if len(pairs):
            bootstrap = run.results.sample(pairs.index).bootstrap
            flips = (pairs["pairs"] - pairs["agree"]).to_numpy()
            share = ratio_statistic(flips, pairs["pairs"].to_numpy(), SHARE)
            cells[name] = bootstrap.estimate(share)
    if single["pairs"]:
        cells["one judge flips"] = 1 - single["agree"] / single["pairs"]
    return cells
