"""How far recorded answers agree: of a judge who is asked again, of other personas and judges, and
of other runs.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import StudyResults, TableContent
from moot.stats.agreement import count_agreeing_pairs
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import SHARE, Floats, Statistic, ratio, ratio_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs

MOST_JUDGES = 12
FLOOR = "same if asked again"


class Other(NamedTuple):
    """What two answers of a pair have in common, and what sets them apart."""

    common: Sequence[str]
    apart: Sequence[str] = ()


_DEBATE = ("case_id", "repeat")
AGAIN, PERSONA, JUDGE, RUN = (
    "nothing: asked again",
    "the persona",
    "the judge",
    "the run of the debate",
)
DIFFERS = {
    AGAIN: Other((*_DEBATE, "judge", "persona")),
    PERSONA: Other((*_DEBATE, "judge"), ("persona",)),
    JUDGE: Other((*_DEBATE, "persona"), ("judge",)),
    RUN: Other(("case_id", "judge", "persona"), ("repeat",)),
}


@table(STUDY, "agreement", "Answers to the same debate and case that agree")
def agreement(results: StudyResults) -> TableContent:
    """How often two recorded answers are the same where one judge is asked again about the same
    debate, has another persona, another judges, or the debate on the same case is held again; with
    95 % intervals by cluster.
    """
    rows = [row for run in recorded_runs(results) for row in _rows(run)]
    columns = Columns().keys("data", "method", "model").plain("what differs", "judges")
    columns = columns.estimate("same answer", "same").estimate("beyond chance", "beyond")
    columns = columns.plain(FLOOR).estimate(
        "differ beyond that", "differ", role=DIFFERENCE, digits=SIGNED
    )
    columns = columns.counts("pairs", "cases")
    short = ("same answer", "same, 95 % interval", "beyond chance", "pairs")
    return columns.short_form("data", "method", "model", "what differs", *short).table(
        rows,
        [
            (
                "Same answer: the share of pairs of valid answers that agree; both have all in"
                " common but what differs. Beyond chance: 1 less the share of pairs that disagree"
                " by that expected of answers drawn at random from all answers of the row (Fleiss"
                " 1971): 0 by chance, 1 where all agree."
            ),
            (
                "Same if asked again: the same share where nothing differs, of the row's judges and"
                " of cases that have both kinds of pairs; differ beyond that: what it is more than"
                " the row's share, with its interval by cluster. Of debates that are held again it"
                " is the floor where one debate was judged twice. Both are empty where nothing was"
                " asked twice: a second answer of each judge to the same debate fills them."
            ),
            (
                "Judges: the row's pairs are those of one judge, or of two judges; of all where it"
                " is blank."
            ),
        ],
    )


def _rows(run: RecordedRun) -> Iterator[Fields]:
    valid = run.valid.fillna({"judge": "", "persona": ""})
    judges = sorted(set(valid["judge"]) - {""})
    some = judges if 1 < len(judges) <= MOST_JUDGES else []
    chosen = [(what, "", valid) for what in DIFFERS]
    chosen += [(AGAIN, one, valid[valid["judge"] == one]) for one in some]
    chosen += [
        (JUDGE, ", ".join(two), valid[valid["judge"].isin(two)]) for two in combinations(some, 2)
    ]
    about = {"data": run.data, "method": run.method, "model": run.model_name}
    for what, named, rows in chosen:
        found = _agreement(run, rows, what)
        if found:
            yield {**about, "what differs": what, "judges": named, **found}


def _agreement(run: RecordedRun, rows: pd.DataFrame, what: str) -> Fields:
    """The cells of the pairs that differ in one thing; none where there are no such pairs."""
    pairs = count_agreeing_pairs(rows, DIFFERS[what].common, excluded=DIFFERS[what].apart)
    pairs = pairs[pairs["pairs"] > 0]
    if pairs.empty:
        return {}
    agree, number = (pairs[name].to_numpy(dtype=np.float64) for name in ("agree", "pairs"))
    answers = (
        pd.crosstab(rows["case_id"], rows["prediction"]).loc[pairs.index].to_numpy(dtype=np.float64)
    )

    def beyond_chance(weights: Floats) -> Floats:
        counts = weights @ answers
        expected = 1 - (ratio(counts, counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
        return 1 - ratio(1 - ratio(weights @ agree, weights @ number), expected)

    bootstrap = run.results.sample(pairs.index).bootstrap
    return {
        "same answer": bootstrap.estimate(ratio_statistic(agree, number, SHARE)),
        "beyond chance": bootstrap.estimate(Statistic(beyond_chance, BOUNDS)),
        **(_floor(run, rows, pairs) if what != AGAIN else {}),
        "pairs": int(number.sum()),
        "cases": len(pairs),
    }


def _floor(run: RecordedRun, rows: pd.DataFrame, pairs: pd.DataFrame) -> Fields:
    """What agrees where nothing differs, and how much less the row's pairs do, on the cases that
    have both.
    """
    again = count_agreeing_pairs(rows, DIFFERS[AGAIN].common)
    both = pairs.merge(again[again["pairs"] > 0], left_index=True, right_index=True)
    if both.empty:
        return {}
    agree, number, same, asked = both.to_numpy(dtype=np.float64).T
    bootstrap = run.results.sample(both.index).bootstrap

    def more(weights: Floats) -> Floats:
        return ratio(weights @ same, weights @ asked) - ratio(weights @ agree, weights @ number)

    return {
        FLOOR: same.sum() / asked.sum(),
        "differ beyond that": bootstrap.estimate(Statistic(more, BOUNDS)),
    }
