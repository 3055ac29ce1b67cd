"""The agreement of recorded answers that differ in one thing.

Pairs of answers differ in the judge, the persona or the run of the debate, or in nothing: the same
judge was asked again.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.stats.agreement import count_agreeing_pairs, rows_with_rare_labels
from moot.stats.arrays import Floats, ratio
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.statistic import SHARE, Statistic, ratio_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs

MAX_JUDGES = 12
"""Up to this number of judges, each judge and each pair of judges has its own rows."""
FLOOR = "same if asked again"


class PairRule(NamedTuple):
    """The columns in which two answers of a pair are equal, and those in which they differ."""

    common: Sequence[str]
    excluded: Sequence[str] = ()


_DEBATE = ("case_id", "repeat")
ASKED_AGAIN = "nothing: asked again"
PERSONA, JUDGE, RUN = "the persona", "the judge", "the run of the debate"
PAIR_RULES = {
    ASKED_AGAIN: PairRule((*_DEBATE, "judge", "persona")),
    PERSONA: PairRule((*_DEBATE, "judge"), ("persona",)),
    JUDGE: PairRule((*_DEBATE, "persona"), ("judge",)),
    RUN: PairRule(("case_id", "judge", "persona"), ("repeat",)),
}


@table(STUDY, "agreement", "Answers to the same debate and case that agree")
def agreement(results: StudyResults) -> TableContent:
    """How often two recorded answers agree if one judge is asked again about the same debate, has
    another persona, another judge answers, or the debate on the same case is repeated; with 95 %
    intervals by cluster.
    """
    rows: list[Fields] = []
    for run in recorded_runs(results):
        rows += _rows_of_run(run)
    return _COLUMNS.table(
        rows,
        [
            (
                "Same answer: the share of pairs of valid answers that agree. Both answers of a"
                " pair are alike in judge, persona, case and debate, except for what differs."
                " Beyond chance: 1 minus the observed disagreement divided by the disagreement"
                " expected between answers drawn at random from all answers of the row (Fleiss"
                " 1971): 0 at chance level, 1 if all agree."
            ),
            (
                "Same if asked again: the same share of pairs in which nothing differs, for the"
                " row's judges and the cases with both kinds of pairs. Differ beyond that: this"
                " share minus the row's share, with its interval by cluster. For repeated debates"
                " it is the floor if one debate was judged twice. Both are empty if no judge"
                " answered twice about the same debate."
            ),
            (
                "Judges: the row has the pairs of this judge, or of these two judges; of all judges"
                " if it is blank."
            ),
        ],
    )


_COLUMNS = (
    Columns()
    .keys("data", "method", "model")
    .plain("what differs", "judges")
    .estimate("same answer", "same")
    .estimate("beyond chance", "beyond")
    .plain(FLOOR)
    .estimate("differ beyond that", "differ", role=DIFFERENCE, digits=SIGNED)
    .counts("pairs", "cases")
    .short_form(
        "data",
        "method",
        "model",
        "what differs",
        "same answer",
        "same, 95 % interval",
        "beyond chance",
        "pairs",
    )
)


def _rows_of_run(run: RecordedRun) -> Iterator[Fields]:
    """Yield the rows of all judges, of each judge, and of each pair of judges."""
    answers = run.valid.fillna({"judge": "", "persona": ""})
    judges = sorted(set(answers["judge"]) - {""})
    for difference in PAIR_RULES:
        yield from _row(run, answers, difference)
    if not 1 < len(judges) <= MAX_JUDGES:
        return
    for judge in judges:
        yield from _row(run, answers[answers["judge"] == judge], ASKED_AGAIN, judge)
    for pair in combinations(judges, 2):
        yield from _row(run, answers[answers["judge"].isin(pair)], JUDGE, ", ".join(pair))


def _row(
    run: RecordedRun, answers: pd.DataFrame, difference: str, judges: str = ""
) -> Iterator[Fields]:
    """Yield the row of the pairs that differ in one thing; none without such pairs."""
    rule = PAIR_RULES[difference]
    pairs = count_agreeing_pairs(answers, rule.common, excluded=rule.excluded)
    pairs = pairs[pairs["pairs"] > 0]
    if pairs.empty:
        return
    agreeing = pairs["agree"].to_numpy(dtype=np.float64)
    pair_counts = pairs["pairs"].to_numpy(dtype=np.float64)
    bootstrap = run.results.sample(pairs.index).bootstrap
    yield {
        "data": run.data,
        "method": run.method,
        "model": run.model_name,
        "what differs": difference,
        "judges": judges,
        "same answer": bootstrap.estimate(ratio_statistic(agreeing, pair_counts, SHARE)),
        "beyond chance": bootstrap.estimate(_agreement_beyond_chance(answers, pairs)),
        **(_floor_cells(run, answers, pairs) if difference != ASKED_AGAIN else {}),
        "pairs": int(pair_counts.sum()),
        "cases": len(pairs),
    }


def _agreement_beyond_chance(answers: pd.DataFrame, pairs: pd.DataFrame) -> Statistic:
    """Return Fleiss' chance-corrected agreement as a function of the weights of cases."""
    agreeing = pairs["agree"].to_numpy(dtype=np.float64)
    pair_counts = pairs["pairs"].to_numpy(dtype=np.float64)
    by_label = pd.crosstab(answers["case_id"], answers["prediction"]).loc[pairs.index]
    label_counts = by_label.to_numpy(dtype=np.float64)

    def beyond_chance(weights: Floats) -> Floats:
        counts = weights @ label_counts
        shares = ratio(counts, counts.sum(axis=1, keepdims=True))
        expected = 1 - (shares**2).sum(axis=1)
        observed = 1 - ratio(weights @ agreeing, weights @ pair_counts)
        return 1 - ratio(observed, expected)

    return Statistic(beyond_chance, BOUNDS, rows_with_rare_labels(label_counts))


def _floor_cells(run: RecordedRun, answers: pd.DataFrame, pairs: pd.DataFrame) -> Fields:
    """Return the agreement of judges who are asked again, and the row's difference from it.

    Only cases with both kinds of pairs count; the cells are empty without such cases.
    """
    repeated = count_agreeing_pairs(answers, PAIR_RULES[ASKED_AGAIN].common)
    repeated = repeated[repeated["pairs"] > 0]
    both = pairs.merge(repeated, left_index=True, right_index=True)
    if both.empty:
        return {}
    agreeing, pair_counts, agreeing_again, repeated_counts = both.to_numpy(dtype=np.float64).T
    bootstrap = run.results.sample(both.index).bootstrap

    def difference(weights: Floats) -> Floats:
        share_again = ratio(weights @ agreeing_again, weights @ repeated_counts)
        return share_again - ratio(weights @ agreeing, weights @ pair_counts)

    return {
        FLOOR: agreeing_again.sum() / repeated_counts.sum(),
        "differ beyond that": bootstrap.estimate(Statistic(difference, BOUNDS)),
    }
