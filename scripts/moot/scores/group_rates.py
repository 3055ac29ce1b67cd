"""Error rates by group of people: each group's with its interval, and its difference from the
largest group's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.scores.groups import MOST_VALUES
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import SHARE, as_numbers, ratio_statistic
from moot.stats.differences import Difference, Sums, compare_unpaired

TRUE_POSITIVE, FALSE_POSITIVE, FALSE_NEGATIVE = (
    "true positive rate",
    "false positive rate",
    "false negative rate",
)
PREDICTED = "predicted positive"
FEWEST_CASES = 10


@dataclass(frozen=True, slots=True)
class GroupRate:
    """A rate of one model's valid answers about a group.

    Attributes:
        attribute, group: the attribute of the cases, and its value.
        rate: `TRUE_POSITIVE`, `FALSE_POSITIVE`, `FALSE_NEGATIVE` or `PREDICTED`.
        value, low, high: the rate with its 95 % interval by cluster; NaN where fewer than
            `FEWEST_CASES` cases of the group define it, as the people who were not arrested again
            define a false positive rate.
        cases, n: cases that define the rate, and valid answers about them.
        compared_with: the attribute's largest group; "" for that group itself, and where either
            rate is not shown.
        difference: from that group; None where nothing is compared. Its p is 1 where it cannot be
            computed.
    """

    attribute: str
    group: str
    rate: str
    value: float
    low: float
    high: float
    cases: int
    n: int
    compared_with: str = ""
    difference: Difference | None = None

    @property
    def p(self) -> float:
        """Of the difference; NaN where nothing is compared."""
        return self.difference.p if self.difference else float("nan")


def group_rates(
    results: ExperimentResults,
    model: str,
    rates: Sequence[str],
    attributes: Sequence[str] | None = None,
) -> list[GroupRate]:
    """The rates of one model of an experiment whose task has two labels, by attribute, rate and
    group; [] for others.

    Groups of fewer than `FEWEST_CASES` cases are left out, and attributes of more than
    `MOST_VALUES` values. Groups are different people: see
    `moot.stats.differences.compare_unpaired`. Without `attributes` they are those by which the
    data set groups people (`task.groups`).
    """
    if not positive_of_two(results.task):
        return []
    rows = results.predictions
    rows = rows[(rows["model"] == model) & (rows["status"] == "valid")]
    found: list[GroupRate] = []
    for attribute in results.task.groups if attributes is None else attributes:
        values = rows["case_id"].map(
            lambda case, name=attribute: results.attributes[case].get(name, "")
        )
        sizes = rows.groupby(values)["case_id"].nunique().drop("", errors="ignore")
        groups = {
            str(value): rows[values == value]
            for value in sorted(sizes.index[sizes >= FEWEST_CASES])
        }
        if groups and len(sizes) <= MOST_VALUES:
            largest = max(groups, key=lambda group: (sizes[group], group))
            found += [
                one
                for rate in rates
                for one in _of_attribute(results, attribute, rate, groups, largest)
            ]
    return found


def _of_attribute(
    results: ExperimentResults,
    attribute: str,
    rate: str,
    groups: dict[str, pd.DataFrame],
    largest: str,
) -> Iterator[GroupRate]:
    sums = {
        group: _sums(rows, positive_of_two(results.task), rate) for group, rows in groups.items()
    }
    counted = {
        group: rows["case_id"][sums[group].bottoms[:, 0] > 0] for group, rows in groups.items()
    }
    shown = {group for group, cases in counted.items() if cases.nunique() >= FEWEST_CASES}
    for group, rows in groups.items():
        mine, value = sums[group], (np.nan, np.nan, np.nan)
        if group in shown:
            bootstrap = results.sample(rows["case_id"]).bootstrap
            value = bootstrap.estimate(ratio_statistic(mine.tops[:, 0], mine.bottoms[:, 0], SHARE))
        one = GroupRate(
            attribute, group, rate, *value, counted[group].nunique(), len(counted[group])
        )
        if group == largest or not {group, largest} <= shown:
            yield one
            continue
        clusters, others = (
            [results.clusters[case] for case in groups[name]["case_id"]]
            for name in (group, largest)
        )
        difference = compare_unpaired(mine, sums[largest], clusters, others, results.seed, SHARE)
        yield replace(one, compared_with=largest, difference=difference)


def _sums(rows: pd.DataFrame, positive: str, rate: str) -> Sums:
    """A rate as answers over cases, row by row."""
    named, actual = ((rows[column] == positive).to_numpy() for column in ("prediction", "target"))
    counted = ~named if rate == FALSE_NEGATIVE else named
    among = {
        PREDICTED: np.ones_like(actual),
        FALSE_POSITIVE: ~actual & (rows["target"] != "").to_numpy(),
    }.get(rate, actual)
    return Sums(as_numbers(counted & among)[:, None], as_numbers(among)[:, None])
