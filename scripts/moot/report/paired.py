"""What tables of paired comparisons share: their notes, and the cells of one comparison."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from moot.core.types import Column, Fields
from moot.report.columns import Row
from moot.report.content import Run
from moot.stats.asked_twice import NO_FLOOR, changes, differ
from moot.stats.paired import Comparison, holm

_APART = "\x1f"
PAIRED_NOTE = (
    "A case counts by the share of its repeats that are right, an invalid answer as wrong; the"
    " difference is the mean over common cases. Interval and p are by cluster: p is two-sided, of a"
    " randomisation test that flips the signs of the clusters' differences, which is McNemar's"
    " exact test where each case is its own cluster and was argued once."
)
SAME_NOTE = (
    "Same answer: the mean over cases of the share of pairs of valid answers, one of either side"
    " and of different repeats (of the one there is, without repeats), that are the same; of"
    " recorded judges, answers of one judge and persona, or of any where the sides have none in"
    " common. A model that samples changes its answers by itself: same if asked twice is that"
    " share among repeats of either side, over the cases that have some. Without repeats:"
    f" {NO_FLOOR}."
)


def paired_cells(comparison: Comparison) -> Fields:
    """A comparison under the headings that every paired table has."""
    return {
        "difference": (comparison.difference, comparison.low, comparison.high),
        "first better": (comparison.first_better, comparison.second_better),
        "cases": (comparison.cases, comparison.clusters),
        "p": comparison.p,
    }


def add_holm_correction(rows: Iterable[Row]) -> list[Row]:
    """Rows with p and family, with Holm's correction over the tests of each family and how many
    these are.
    """
    given = list(rows)
    families: dict[str, list[Row]] = {}
    for row in given:
        families.setdefault(row["family"], []).append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row |= {"p (Holm)": p, "tests in family": len(family)}
    return given


def same_answers(first: Run, second: Run, beyond: str) -> Fields:
    """How often both give the same answer, how often either does when asked twice, and, as
    `beyond`, the difference.
    """
    one, other = _answers(first), _answers(second)
    apart = (
        one.index.get_level_values(0).intersection(other.index.get_level_values(0)).empty
    )  # other judges, or unnamed
    if apart:
        one, other = (
            answers.rename(lambda key: key.split(_APART)[0], level=0) for answers in (one, other)
        )
    clusters = {
        key: first.results.clusters[key.split(_APART)[0]] for key in one.index.get_level_values(0)
    }
    found = changes(
        one,
        other,
        differ,
        clusters,
        first.results.seed,
        default_change=0.0 if apart else float("nan"),
    )
    if apart:
        found = replace(
            found,
            between_repeats=float("nan"),
            excess=float("nan"),
            low=float("nan"),
            high=float("nan"),
        )
    return {
        "same answer": 1 - found.changed,
        "same if asked twice": 1 - found.between_repeats,
        beyond: (found.excess, found.low, found.high),
    }


def _answers(run: Run) -> Column:
    """The valid answers by case (of recorded judges: and judge and persona) and by which time they
    were given.
    """
    rows = run.valid
    asked = rows["case_id"].str.cat(
        rows.reindex(columns=["judge", "persona"], fill_value="").fillna(""), sep=_APART
    )
    times = rows.reindex(columns=["repeat", "judge_repeat"]).fillna(0).astype(int).astype(str)
    return pd.Series(
        rows["prediction"].to_numpy(),
        index=[asked, times["repeat"].str.cat(times["judge_repeat"], _APART)],
    )
