"""Paired comparisons of two systems on the same cases, by each case's mean; Holm's adjustment."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from moot.stats.arrays import Floats, as_numbers
from moot.stats.clusters import Clusters
from moot.stats.differences import Difference, Sums, compare_paired
from moot.stats.statistic import DIFFERENCE

_ROUNDING = 1e-9


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's (1979) step-down adjusted p-values in the given order.

    NaN stays NaN and does not count as a test.
    """
    from statsmodels.stats.multitest import multipletests  # slow to import

    adjusted = np.array(p_values, dtype=np.float64)
    is_tested = ~np.isnan(adjusted)
    if is_tested.any():
        adjusted[is_tested] = multipletests(adjusted[is_tested], method="holm")[1]
    return [float(p) for p in adjusted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Difference):
    """The difference between two systems' shares of right answers on common cases.

    Attributes:
        first_better, second_better: cases on which one system was right more often than the other,
            by their repeats.
    """

    first_better: int
    second_better: int


def compare(first: Floats, second: Floats, clusters: Clusters) -> Comparison:
    """Compare two systems by their share of right answers on each common case.

    All three arrays have shape (cases,).
    """
    differences, weights = first - second, np.ones((len(first), 1))
    difference = compare_paired(
        Sums(first[:, None], weights), Sums(second[:, None], weights), clusters, DIFFERENCE
    )
    first_better, second_better = (differences > _ROUNDING).sum(), (differences < -_ROUNDING).sum()
    return Comparison(
        **asdict(difference), first_better=int(first_better), second_better=int(second_better)
    )


def share_right(predictions: pd.DataFrame) -> "pd.Series[float]":
    """Return a system's share of right answers on each case, over its repeats.

    The index is case_id. Invalid answers are wrong.

    A case whose truth is unknown has no share.
    """
    predictions = predictions[predictions["target"] != ""]
    is_right = (predictions["status"] == "valid") & (
        predictions["prediction"] == predictions["target"]
    )
    return is_right.groupby(predictions["case_id"]).mean().astype("float64").sort_index()


def compare_shares(
    first: "pd.Series[float]",
    second: "pd.Series[float]",
    clusters: Mapping[str, Hashable],
) -> Comparison:
    """Compare the shares of `share_right` on the cases that both systems argued."""
    common = first.index.intersection(second.index).sort_values()
    return compare(
        as_numbers(first[common]),
        as_numbers(second[common]),
        [clusters[case] for case in common],
    )
