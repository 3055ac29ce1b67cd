"""Error rates by group of people, with intervals and differences from the largest group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.scores.groups import MAX_VALUES
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers
from moot.stats.differences import Difference, Sums, compare_unpaired
from moot.stats.statistic import SHARE, ratio_statistic

TRUE_POSITIVE, FALSE_POSITIVE = "true positive rate", "false positive rate"
PREDICTED = "predicted positive"
MIN_CASES = 10


@dataclass(frozen=True, slots=True)
class GroupRate:
    """A rate of one model's valid answers about a group.

    Attributes:
        attribute, group: the attribute of the cases, and its value.
        rate: `TRUE_POSITIVE`, `FALSE_POSITIVE` or `PREDICTED`.
        value, low, high: the rate with its 95 % interval by cluster. NaN if fewer than
            `MIN_CASES` cases of the group define the rate (people who were not arrested again
            define a false positive rate).
        cases, n: cases that define the rate, and valid answers about them.
        compared_with: the attribute's largest group; "" for that group itself, and if one of the
            rates is not shown.
        difference: from that group; None without a comparison. Its p is 1 if it cannot be computed.
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
        """The p of the difference; NaN without a comparison."""
        return self.difference.p if self.difference else float("nan")


def group_rates(results: ExperimentResults, model: str, rates: Sequence[str]) -> list[GroupRate]:
    """Return the rates of one model by attribute, rate and group.

    The task must have two labels; for others the list is empty.

    Groups with fewer than `MIN_CASES` cases and attributes with more than `MAX_VALUES` values
    are left out. Groups consist of different people: see `moot.stats.differences.compare_unpaired`.
    The attributes are those by which the data set groups people (`task.groups`).
    """
    if not positive_of_two(results.task):
        return []
    rows = results.predictions
    rows = rows[(rows["model"] == model) & (rows["status"] == "valid")]
    group_rows: list[GroupRate] = []
    for attribute in results.task.groups:
        value_of_case = {
            case: attributes.get(attribute, "") for case, attributes in results.attributes.items()
        }
        values = rows["case_id"].map(value_of_case)
        sizes = rows.groupby(values)["case_id"].nunique().drop("", errors="ignore")
        groups = {
            str(value): rows[values == value] for value in sorted(sizes.index[sizes >= MIN_CASES])
        }
        if groups and len(sizes) <= MAX_VALUES:
            largest = max(groups, key=lambda group: (sizes[group], group))
            for rate in rates:
                group_rows += _attribute_rates(results, attribute, rate, groups, largest)
    return group_rows


def _attribute_rates(
    results: ExperimentResults,
    attribute: str,
    rate: str,
    groups: dict[str, pd.DataFrame],
    largest: str,
) -> Iterator[GroupRate]:
    sums = {
        group: _sums(rows, positive_of_two(results.task), rate) for group, rows in groups.items()
    }
    counted_cases = {
        group: rows["case_id"][sums[group].bottoms[:, 0] > 0] for group, rows in groups.items()
    }
    large_groups = {group for group, cases in counted_cases.items() if cases.nunique() >= MIN_CASES}
    for group, rows in groups.items():
        group_sums, value = sums[group], (np.nan, np.nan, np.nan)
        if group in large_groups:
            jackknife = results.sample(rows["case_id"]).jackknife
            value = jackknife.estimate(
                ratio_statistic(group_sums.tops[:, 0], group_sums.bottoms[:, 0], SHARE)
            )
        group_rate = GroupRate(
            attribute,
            group,
            rate,
            *value,
            counted_cases[group].nunique(),
            len(counted_cases[group]),
        )
        if group == largest or not {group, largest} <= large_groups:
            yield group_rate
            continue
        difference = compare_unpaired(
            group_sums,
            sums[largest],
            [results.clusters[case] for case in rows["case_id"]],
            [results.clusters[case] for case in groups[largest]["case_id"]],
            SHARE,
        )
        yield replace(group_rate, compared_with=largest, difference=difference)


def _sums(rows: pd.DataFrame, positive: str, rate: str) -> Sums:
    """Return a rate as the sums of answers over cases, row by row."""
    is_predicted = (rows["prediction"] == positive).to_numpy()
    is_positive = (rows["target"] == positive).to_numpy()
    is_in_denominator = {
        PREDICTED: np.ones_like(is_positive),
        FALSE_POSITIVE: ~is_positive & (rows["target"] != "").to_numpy(),
    }.get(rate, is_positive)
    bottoms = as_numbers(is_in_denominator)[:, None]
    return Sums(as_numbers(is_predicted)[:, None] * bottoms, bottoms)
