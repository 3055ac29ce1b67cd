"""A judge's habits: how much more often than expected a verdict follows an irrelevant feature."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.cases import Cluster
from moot.core.registry import Registry
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.needs import Need
from moot.report.paired_cells import add_holm_correction
from moot.report.study_results import StudyResults
from moot.stats.arrays import as_numbers
from moot.stats.differences import Sums, compare_paired
from moot.stats.statistic import DIFFERENCE as BOUNDS

CHOSEN_SHARE, EXPECTED_SHARE = "chosen", "expected"
ASKED_TWICE = "changes if asked twice"


@dataclass(frozen=True)
class HabitSource:
    """A source of habits.

    Attributes:
        rows: a study's results to rows of the table.
        is_met: whether a run has the debates that the rows need.
        notes: below the table.
    """

    rows: Callable[[StudyResults], Iterator[Row]]
    is_met: Need
    notes: tuple[str, ...] = ()


HABITS: Registry[HabitSource] = Registry("source of habits", "habits")
"""The sources of the table of habits. Each is a module whose name begins with `habits`."""
COLUMNS = (
    Columns()
    .keys("data", "debate", "judge")
    .plain("habit", "known by")
    .ours(CHOSEN_SHARE, EXPECTED_SHARE)
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .plain("changes if asked twice")
    .counts("cases", "clusters")
    .short_form(
        "debate",
        "judge",
        "habit",
        "known by",
        CHOSEN_SHARE,
        EXPECTED_SHARE,
        "difference",
        "95 % interval",
        "p (Holm)",
        "cases",
    )
)
NOTE = (
    "`chosen` is the share of verdicts for the option that the habit favours. `expected` is this "
    "share without the habit; `known by` states how it is known. The difference is their mean "
    "difference over cases, with its interval by cluster; it is 0 without the habit. p is from a "
    "randomisation test that exchanges both shares of a cluster. Holm's correction is over all "
    "judges and debates of one habit (`family`)."
)


def habit_row(
    about: Mapping[str, object], verdicts: pd.DataFrame, clusters: Mapping[str, Cluster], seed: int
) -> list[Row]:
    """Return the row of one habit of one judge, in a list; an empty list without verdicts.

    Args:
        about: data, debate, judge, habit, known by; and changes if asked twice, if known.
        verdicts: one row per verdict, with case_id, `CHOSEN_SHARE` (1 if the verdict is for the
            favoured option, else 0) and `EXPECTED_SHARE` (0 to 1).
        clusters: the cluster of each case, by case id.
        seed: the seed of the bootstrap.
    """
    if verdicts.empty:
        return []
    means = verdicts.groupby("case_id")[[CHOSEN_SHARE, EXPECTED_SHARE]].mean()
    chosen_shares, expected_shares, ones = (
        as_numbers(means[[CHOSEN_SHARE]]),
        as_numbers(means[[EXPECTED_SHARE]]),
        np.ones((len(means), 1)),
    )
    difference = compare_paired(
        Sums(chosen_shares, ones),
        Sums(expected_shares, ones),
        [clusters[case] for case in means.index],
        seed,
        BOUNDS,
    )
    return [
        {
            **about,
            CHOSEN_SHARE: difference.first,
            EXPECTED_SHARE: difference.second,
            "difference": (difference.difference, difference.low, difference.high),
            "p": difference.p,
            "family": f"is a judge swayed by this: {about['habit']}?",
            "cases": difference.cases,
            "clusters": difference.clusters,
        }
    ]


def habits_table(rows: Iterable[Row], *notes: str) -> TableContent:
    """Return the table of rows made by `habit_row`, by habit and judge."""
    return COLUMNS.table(add_holm_correction(rows), [NOTE, *notes], exploratory=True)
