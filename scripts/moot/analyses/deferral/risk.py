"""Risk by coverage, and thresholds that bound the error among kept answers.

Learn-then-Test (Angelopoulos et al. 2022, "Learn then Test: Calibrating predictive algorithms to
achieve risk control"): the hypothesis of each threshold is that the error among kept answers
exceeds the allowed error. A binomial test on one answer of each cluster rejects it, with
Bonferroni's correction for the number of thresholds.
"""

from collections.abc import Hashable, Sequence
from math import ceil, inf, log

import numpy as np
from numpy.typing import NDArray

from moot.stats.arrays import Floats, Truths, as_numbers, ratio
from moot.stats.statistic import SHARE, Statistic

CONFIDENCE = 0.95
COVERAGES = np.linspace(1.0, 0.2, 5)
"""The shares of answers that the candidate thresholds keep."""


def draw_one_per_cluster(clusters: Sequence[Hashable], seed: int) -> "NDArray[np.intp]":
    """Return the position of one row of each cluster, in random order, shape (clusters,)."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(clusters))
    _, first_places = np.unique(np.asarray(clusters)[order], return_index=True)
    return generator.permutation(order[np.sort(first_places)])


def candidate_thresholds(signals: Floats, allowed_error: float) -> Floats:
    """Return quantiles of the signals that test no threshold, from the lowest up.

    Those that keep too few answers for any test to pass are left out.
    """
    finite = signals[np.isfinite(signals)]
    if not len(finite):
        return finite
    thresholds = np.unique(np.quantile(finite, 1 - COVERAGES, method="lower"))
    kept_answers = (signals >= thresholds[:, None]).sum(axis=1)
    numbers = range(1, len(thresholds) + 1)
    needed_answers = [answers_needed(allowed_error, number) for number in numbers]
    return as_numbers(thresholds[kept_answers >= needed_answers])


def answers_needed(allowed_error: float, thresholds: int = 1) -> int:
    """Return how many kept answers without an error bound the error, for some thresholds."""
    return ceil(log((1 - CONFIDENCE) / thresholds) / log(1 - allowed_error))


def learn_threshold(
    signals: Floats, is_wrong: Truths, candidates: Floats, allowed_error: float
) -> float:
    """Return the lowest candidate that is shown to keep the error within the allowed one.

    The error is that of kept answers; the threshold is infinite if no candidate is shown to keep
    it. Signals and truths are of one answer per cluster. A signal of -inf is never kept.
    """
    from scipy.stats import binom  # registries are read at every start of Snakemake

    is_kept = signals >= candidates[:, None]
    p = binom.cdf((is_kept & is_wrong).sum(axis=1), is_kept.sum(axis=1), allowed_error)
    return float(min(candidates[p <= (1 - CONFIDENCE) / max(1, len(candidates))], default=inf))


def risk_by_coverage(signals: Floats, is_wrong: Truths, weights: Floats) -> tuple[Floats, Floats]:
    """Return the shares of answers that thresholds keep, and the shares of wrong ones among them.

    Thresholds run from the highest signal to one that keeps all answers. Signals and truths have
    the shape (answers,), weights (resamples, answers), and the two results (resamples, distinct
    signals).
    """
    order = np.argsort(-signals, kind="stable")
    _, starts = np.unique(-signals[order], return_index=True)
    kept_answers = np.add.reduceat(weights[:, order], starts, axis=1).cumsum(axis=1)
    errors = np.add.reduceat((weights * is_wrong)[:, order], starts, axis=1).cumsum(axis=1)
    return kept_answers / kept_answers[:, -1:], ratio(errors, kept_answers, 0.0)


def area_statistic(signals: Floats, is_wrong: Truths) -> Statistic:
    """Return the area below risk and coverage: the mean error among kept answers over coverages."""

    def area(weights: Floats) -> Floats:
        coverage, risk = risk_by_coverage(signals, is_wrong, weights)
        return np.asarray((np.diff(coverage, axis=1, prepend=0.0) * risk).sum(axis=1))

    return Statistic(area, SHARE)
