"""Paired comparisons of two systems on the same cases: mean of each case, interval and test by cluster, Holm."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from moot.stats.bootstrap import DIFFERENCE, ClusterBootstrap, Floats, as_numbers, mean_statistic

EXACT_CLUSTERS = 14  # up to here all 2^14 patterns of signs are counted
PATTERNS = 9999
_ROUNDING = 1e-9
_SIGNS_AT_ONCE = 2**23  # 64 MB


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


def sign_flip(differences: Floats, seed: int) -> float:
    """The two-sided p-value of a randomisation test: between equal systems each difference could have either sign.

    Exact for up to `EXACT_CLUSTERS` differences other than 0, else from `PATTERNS` random patterns of signs (the
    observed one is counted too: Phipson and Smyth 2010). With differences of 1 and -1 alone it is McNemar's exact test.

    Args:
        differences: one sum of differences for each independent unit (case, or cluster of cases).
        seed: of the random patterns.
    """
    moved = differences[np.abs(differences) > _ROUNDING]
    if not len(moved):
        return 1.0
    sizes = np.abs(moved)
    if (np.abs(sizes - sizes[0]) <= _ROUNDING).all():
        return mcnemar_exact(int((moved > 0).sum()), int((moved < 0).sum()))
    least = abs(moved.sum()) - _ROUNDING
    if len(moved) <= EXACT_CLUSTERS:
        bits = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return float((np.abs((2 * bits - 1) @ moved) >= least).mean())
    random = np.random.default_rng(seed)
    signs = (random.choice([-1.0, 1.0], size=(some, len(moved))) for some in portions(PATTERNS, len(moved)))
    reached = sum(int((np.abs(some @ moved) >= least).sum()) for some in signs)
    return float((1 + reached) / (1 + PATTERNS))


def portions(patterns: int, units: int) -> Iterator[int]:
    """So many patterns of all units at a time as fit into memory, until there are `patterns`; few are one portion."""
    at_once = max(1, _SIGNS_AT_ONCE // max(units, 1))
    for start in range(0, patterns, at_once):
        yield min(at_once, patterns - start)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given; NaN stays NaN and counts as no test."""
    adjusted = [float("nan")] * len(p_values)
    tested = sorted((p, position) for position, p in enumerate(p_values) if not np.isnan(p))
    largest = 0.0
    for rank, (p, position) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[position] = largest
    return adjusted


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a paired comparison found.

    Attributes:
        n: common cases.
        clusters: clusters that they belong to.
        first_better: cases on which the first system was right more often, by their repeats.
        second_better: cases on which the second was.
        difference: the mean over cases of the first's share of right answers less the second's.
        low: lower end of its interval by cluster.
        high: upper end.
        p: by `sign_flip` over clusters; exact McNemar where each case stands for itself and has one repeat.
    """

    n: int
    clusters: int
    first_better: int
    second_better: int
    difference: float
    low: float
    high: float
    p: float


def compare(first: Floats, second: Floats, clusters: ArrayLike, seed: int) -> Comparison:
    """Compare two systems by their share of right answers on each common case; all three of shape (cases,)."""
    differences = first - second
    bootstrap = ClusterBootstrap(clusters, seed)
    difference, low, high = bootstrap.estimate(mean_statistic(differences, DIFFERENCE))
    sums = as_numbers(np.bincount(bootstrap.codes, weights=differences)) if len(differences) else differences
    p = sign_flip(sums, seed) if len(differences) else float("nan")
    better, worse = (differences > _ROUNDING).sum(), (differences < -_ROUNDING).sum()
    return Comparison(len(differences), bootstrap.clusters, int(better), int(worse), difference, low, high, p)


def share_right(predictions: pd.DataFrame) -> "pd.Series[float]":
    """A system's share of right answers on each case, over its repeats, indexed by case_id; invalid is wrong."""
    right = (predictions["status"] == "valid") & (predictions["prediction"] == predictions["target"])
    return right.groupby(predictions["case_id"]).mean().astype("float64").sort_index()


def compare_predictions(
    first: pd.DataFrame, second: pd.DataFrame, clusters: Mapping[str, str], seed: int
) -> Comparison:
    """Compare two systems' predictions on the cases that both argued; `clusters` holds the cluster of each case."""
    return compare_shares(share_right(first), share_right(second), clusters, seed)


def compare_shares(
    one: "pd.Series[float]", other: "pd.Series[float]", clusters: Mapping[str, str], seed: int
) -> Comparison:
    """As `compare_predictions`, from what `share_right` gives for each system."""
    common = one.index.intersection(other.index).sort_values()
    return compare(
        as_numbers(one[common]),
        as_numbers(other[common]),
        [clusters[case] for case in common],
        seed,
    )
