"""Paired comparisons of two systems on the same cases: exact McNemar test and Holm's correction."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from moot.scores.uncertainty import CaseBootstrap, mean_of

MOST = 0.5  # of a case's repeats


def mcnemar_exact(first_alone: int, second_alone: int) -> float:
    """The two-sided exact McNemar p-value: a fair coin's tails beyond the split of the cases that
    one system alone got right.

    Args:
        first_alone: cases that only the first system got right.
        second_alone: cases that only the second got right.

    Returns:
        The p-value; 1 where the two never differ.
    """
    from scipy.special import bdtr  # noqa: PLC0415 - registries are read at every start of Snakemake

    differing = first_alone + second_alone
    return min(1.0, 2 * float(bdtr(min(first_alone, second_alone), differing, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given; NaN stays NaN and counts as no test."""
    adjusted = [float("nan")] * len(p_values)
    tested = sorted((p, position) for position, p in enumerate(p_values) if not np.isnan(p))
    largest = 0.0
    for rank, (p, position) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[position] = largest
    return adjusted


def right_by_case(predictions: pd.DataFrame) -> "pd.Series[bool]":
    """Whether a system got each case right, indexed by case_id: more than half of its repeats; invalid is wrong."""
    right = (predictions["status"] == "valid") & (predictions["prediction"] == predictions["target"])
    return right.groupby(predictions["case_id"]).mean().sort_index() > MOST


def compare_paired(first: pd.DataFrame, second: pd.DataFrame, seed: int) -> dict[str, float]:
    """Compare two systems' predictions on the cases that both argued.

    Returns:
        n, first_alone, second_alone (cases), difference (accuracy of the first less that of the second), low, high
        (its bootstrap interval over cases) and p (exact McNemar); the last four NaN without common cases.
    """
    one, other = right_by_case(first), right_by_case(second)
    common = one.index.intersection(other.index)
    left, right = one[common].to_numpy(dtype=np.float64), other[common].to_numpy(dtype=np.float64)
    first_alone, second_alone = int((left > right).sum()), int((right > left).sum())
    difference, low, high = CaseBootstrap(list(common), seed).estimate(mean_of(left - right))
    p = mcnemar_exact(first_alone, second_alone) if len(common) else float("nan")
    return {
        "n": len(common),
        "first_alone": first_alone,
        "second_alone": second_alone,
        "difference": difference,
        "low": low,
        "high": high,
        "p": p,
    }
