"""Risk by coverage, and thresholds that bound the error among kept answers.

Learn-then-Test (Angelopoulos et al. 2022, "Learn then Test: Calibrating predictive algorithms to
achieve risk control"): the hypothesis of each threshold is that the error among kept answers
exceeds the allowed error. A binomial test on one answer of each cluster rejects it, with
Bonferroni's correction for the number of thresholds. The thresholds are quantiles of the signal in
the half of the clusters that does not test them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, inf, log, nan

import numpy as np
from numpy.typing import NDArray

from moot.stats.bootstrap import SHARE, Floats, Statistic, Truths, ratio

CONFIDENCE = 0.95
COVERAGES = np.linspace(1.0, 0.2, 5)
"""The shares of answers that the candidate thresholds keep."""


@dataclass(frozen=True, slots=True)
class Deferral:
    """A threshold that was learnt on one half of the clusters and measured on the other half.

    Attributes:
        threshold: answers with a lower signal go to a person; infinite if all answers do.
        measured_answers, kept_answers, errors: answers of the second half, those of them that are
            kept, and the wrong ones among the kept answers.
        needed_clusters: clusters in both halves with which a method without errors could keep
            every answer.
    """

    threshold: float
    measured_answers: int
    kept_answers: int
    errors: int
    needed_clusters: int

    @property
    def share_deferred(self) -> float:
        """The share of answers that go to a person."""
        return 1 - self.kept_answers / self.measured_answers

    @property
    def error(self) -> tuple[float, float, float]:
        """The error among kept answers and its 95 % interval (Clopper and Pearson 1934); NaN
        without kept answers.
        """
        from scipy.stats import binomtest  # registries are read at every start of Snakemake

        if not self.kept_answers:
            return nan, nan, nan
        test = binomtest(self.errors, self.kept_answers)
        interval = test.proportion_ci(CONFIDENCE, method="exact")
        return float(test.statistic), float(interval.low), float(interval.high)


def defer(
    signals: Floats, is_wrong: Truths, clusters: Sequence[Hashable], allowed_error: float, seed: int
) -> Deferral:
    """Learn a threshold on one answer of each cluster of one half, and measure it on the other."""
    positions = draw_one_per_cluster(clusters, seed)
    first, second = positions[: len(positions) // 2], positions[len(positions) // 2 :]
    candidates = candidate_thresholds(signals[second], allowed_error)
    threshold = learn_threshold(signals[first], is_wrong[first], candidates, allowed_error)
    is_kept = signals[second] >= threshold
    errors = is_wrong[second][is_kept].sum()
    needed_clusters = 2 * answers_needed(allowed_error, max(1, len(candidates)))
    return Deferral(threshold, len(second), int(is_kept.sum()), int(errors), needed_clusters)


def draw_one_per_cluster(clusters: Sequence[Hashable], seed: int) -> "NDArray[np.intp]":
    """The position of one row of each cluster, in random order, shape (clusters,)."""
    generator = np.random.default_rng(seed)
    positions: dict[Hashable, int] = {}
    for position in generator.permutation(len(clusters)):
        positions.setdefault(clusters[position], int(position))
    return generator.permutation(np.array(list(positions.values()), dtype=int))


def candidate_thresholds(signals: Floats, allowed_error: float) -> Floats:
    """The thresholds to test, from the lowest up, without those that keep too few answers for any
    test to pass.
    """
    finite = signals[np.isfinite(signals)]
    if not len(finite):
        return np.array([])
    thresholds = np.unique(np.quantile(finite, 1 - COVERAGES, method="lower"))
    while len(thresholds):
        kept_answers = (signals >= thresholds[-1]).sum()
        if kept_answers >= answers_needed(allowed_error, len(thresholds)):
            break
        thresholds = thresholds[:-1]
    return thresholds


def answers_needed(allowed_error: float, thresholds: int = 1) -> int:
    """How many kept answers without an error bound the error, for a number of thresholds."""
    return ceil(log((1 - CONFIDENCE) / thresholds) / log(1 - allowed_error))


def learn_threshold(
    signals: Floats, is_wrong: Truths, candidates: Floats, allowed_error: float
) -> float:
    """The lowest threshold whose error among kept answers is shown to be at most the allowed one;
    infinite if none is.

    Args:
        signals: of one answer per cluster; -inf for an answer that cannot be kept.
        is_wrong: whether each answer is wrong.
        candidates: thresholds from other clusters, from the lowest up.
        allowed_error: the allowed share of errors.
    """
    from scipy.stats import binom  # registries are read at every start of Snakemake

    for threshold in candidates:
        is_kept = signals >= threshold
        p = binom.cdf(int(is_wrong[is_kept].sum()), int(is_kept.sum()), allowed_error)
        if p <= (1 - CONFIDENCE) / len(candidates):
            return float(threshold)
    return inf


def risk_by_coverage(signals: Floats, is_wrong: Truths, weights: Floats) -> tuple[Floats, Floats]:
    """The shares of answers that thresholds keep, from the highest signal to all answers, and the
    shares of wrong answers among them.

    Args:
        signals, is_wrong: of each answer, shape (answers,).
        weights: how often each answer counts, shape (resamples, answers).

    Returns:
        Two arrays of shape (resamples, distinct signals).
    """
    order = np.argsort(-signals, kind="stable")
    _, starts = np.unique(-signals[order], return_index=True)
    kept_answers = np.add.reduceat(weights[:, order], starts, axis=1).cumsum(axis=1)
    errors = np.add.reduceat((weights * is_wrong)[:, order], starts, axis=1).cumsum(axis=1)
    return kept_answers / kept_answers[:, -1:], ratio(errors, kept_answers, 0.0)


def area_statistic(signals: Floats, is_wrong: Truths) -> Statistic:
    """The area below risk and coverage: the mean error among kept answers over all coverages."""

    def area(weights: Floats) -> Floats:
        coverage, risk = risk_by_coverage(signals, is_wrong, weights)
        return np.asarray((np.diff(coverage, axis=1, prepend=0.0) * risk).sum(axis=1))

    return Statistic(area, SHARE)
