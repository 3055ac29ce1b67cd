"""Risk against coverage, and thresholds whose error among the kept answers is bounded.

Learn-then-Test (Angelopoulos et al. 2022, "Learn then Test: Calibrating predictive algorithms to
achieve risk control"): every threshold is a hypothesis "the error among kept answers is above the
allowed share". A binomial test of one answer per cluster rejects it, with Bonferroni's correction
over the thresholds. The thresholds come from the signals of the other half of the clusters, so
that they are fixed for the half that tests them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from moot.stats.bootstrap import SHARE, Floats, Statistic, Truths, ratio

CONFIDENCE = 0.95
COVERAGES = np.linspace(1.0, 0.2, 5)
"""The shares of answers that the candidate thresholds keep."""
MAX_STEPS = 50
"""Distinct values of a signal in a curve; more are grouped by rank."""


@dataclass(frozen=True, slots=True)
class Deferral:
    """A threshold learnt on one half of the clusters, measured on the other.

    Attributes:
        threshold: answers whose signal is below it go to a person; None: all answers do.
        kept_answers, errors: answers of the second half that are kept, and the wrong ones among
            them.
        measured_answers: answers of the second half.
        low, high: the 95 % interval of the error among kept answers; NaN without any.
        needed_clusters: clusters in both halves with which a faultless method could pass at full
            coverage.
    """

    threshold: float | None
    kept_answers: int
    errors: int
    measured_answers: int
    low: float
    high: float
    needed_clusters: int

    @property
    def error(self) -> float:
        """The share of kept answers that are wrong; NaN without any."""
        return self.errors / self.kept_answers if self.kept_answers else float("nan")

    @property
    def share_deferred(self) -> float:
        """The share of answers that go to a person."""
        return (
            1 - self.kept_answers / self.measured_answers if self.measured_answers else float("nan")
        )


def draw_one_per_cluster(clusters: Sequence[Hashable], seed: int) -> "NDArray[np.intp]":
    """The position of one row of each cluster, in random order, shape (clusters,)."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(clusters))
    positions: dict[Hashable, int] = {}
    for position in order:
        positions.setdefault(clusters[position], int(position))
    return generator.permutation(np.array(list(positions.values()), dtype=int))


def candidate_thresholds(signals: Floats, allowed_error: float) -> Floats:
    """The thresholds to test, from the lowest up; those that keep too few answers for any test to
    pass are left out.
    """
    finite = signals[np.isfinite(signals)]
    if not len(finite):
        return np.array([])
    quantiles = np.quantile(finite, 1 - COVERAGES, method="lower")
    thresholds = np.unique(quantiles)
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
) -> float | None:
    """The lowest threshold whose error among kept answers is shown to be at most the allowed one.

    Args:
        signals: of one answer per cluster; -inf for an answer that cannot be kept.
        is_wrong: whether each answer is wrong.
        candidates: thresholds from other clusters, from the lowest up.
        allowed_error: the allowed share of errors.

    Returns:
        The threshold, or None where none is shown.
    """
    from scipy.stats import binom  # registries are read at every start of Snakemake

    for threshold in candidates:
        is_kept = signals >= threshold
        p = binom.cdf(int(is_wrong[is_kept].sum()), int(is_kept.sum()), allowed_error)
        if p <= (1 - CONFIDENCE) / len(candidates):
            return float(threshold)
    return None


def defer(
    signals: Floats,
    is_wrong: Truths,
    clusters: Sequence[Hashable],
    allowed_error: float,
    seed: int,
) -> Deferral:
    """Learn a threshold on one answer of each cluster of one half, and measure it on the other."""
    positions = draw_one_per_cluster(clusters, seed)
    first, second = positions[: len(positions) // 2], positions[len(positions) // 2 :]
    candidates = candidate_thresholds(signals[second], allowed_error)
    threshold = learn_threshold(signals[first], is_wrong[first], candidates, allowed_error)
    needed_clusters = 2 * answers_needed(allowed_error, max(1, len(candidates)))
    if threshold is None:
        return Deferral(None, 0, 0, len(second), float("nan"), float("nan"), needed_clusters)
    is_kept = signals[second] >= threshold
    errors, kept_answers = int(is_wrong[second][is_kept].sum()), int(is_kept.sum())
    low, high = exact_interval(errors, kept_answers)
    return Deferral(threshold, kept_answers, errors, len(second), low, high, needed_clusters)


def exact_interval(errors: int, answers: int) -> tuple[float, float]:
    """The 95 % interval of a share by Clopper and Pearson (1934); NaN without answers."""
    from scipy.stats import binomtest

    if not answers:
        return float("nan"), float("nan")
    interval = binomtest(errors, answers).proportion_ci(CONFIDENCE, method="exact")
    return float(interval.low), float(interval.high)


def signal_steps(signals: Floats) -> "NDArray[np.intp]":
    """The step of each answer in the order of deferral, 0 for the last to be deferred."""
    _, steps = np.unique(-signals, return_inverse=True)
    steps = steps.reshape(-1)
    if steps.max(initial=0) >= MAX_STEPS:
        edges = np.quantile(steps, np.linspace(0, 1, MAX_STEPS + 1)[1:-1])
        _, steps = np.unique(np.searchsorted(edges, steps, side="left"), return_inverse=True)
    return steps.reshape(-1)


def risk_by_coverage(signals: Floats, is_wrong: Truths) -> tuple[Floats, Floats]:
    """The share of answers that are kept, and the share of wrong ones among them, from the
    answers with the highest signal to all.
    """
    steps = signal_steps(signals)
    answers = np.cumsum(np.bincount(steps))
    errors = np.cumsum(np.bincount(steps, weights=is_wrong.astype(np.float64)))
    return answers / len(signals), errors / answers


def area_statistic(signals: Floats, is_wrong: Truths) -> Statistic:
    """The mean error among kept answers over all coverages: the area below risk and coverage."""
    steps = signal_steps(signals)
    membership = np.eye(int(steps.max(initial=0)) + 1)[steps]
    wrong_membership = membership * is_wrong[:, None]

    def area(weights: Floats) -> Floats:
        answers = weights @ membership
        kept = np.cumsum(answers, axis=1)
        risks = ratio(np.cumsum(weights @ wrong_membership, axis=1), kept, 0.0)
        return ratio((answers * risks).sum(axis=1), answers.sum(axis=1))

    return Statistic(area, SHARE)
