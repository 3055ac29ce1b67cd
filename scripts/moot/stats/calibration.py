"""How far a probability can be trusted: area under the ROC curve and expected calibration error,
over row weights.
"""

import numpy as np

from moot.stats.bootstrap import SHARE, Floats, Statistic, ratio

BINS = 10
DRAWS = 300
_ROUNDING = 1e-9  # 1 - 0.9 belongs to the bin of 0.1


def auc_statistic(truth: Floats, score: Floats) -> Statistic:
    """The area under the ROC curve (Mann-Whitney, ties count half); NaN where one class is missing.

    It rests on the rows of the rarer class.
    """
    order = np.argsort(score, kind="stable")
    _, ties = np.unique(score[order], return_index=True)

    def area(weights: Floats) -> Floats:
        positives = np.add.reduceat((weights * truth)[:, order], ties, axis=1)
        negatives = np.add.reduceat((weights * (1 - truth))[:, order], ties, axis=1)
        beaten = np.cumsum(negatives, axis=1) - negatives / 2
        return ratio(
            (positives * beaten).sum(axis=1), positives.sum(axis=1) * negatives.sum(axis=1)
        )

    positive = truth > 0
    return Statistic(area, SHARE, positive if 2 * positive.sum() <= len(positive) else ~positive)


def confidence_bins(confidence: Floats) -> Floats:
    """The bin of each confidence (0 to 1) among `BINS` equal ones, one-hot, shape (rows, bins)."""
    position = np.clip((confidence * BINS + _ROUNDING).astype(int), 0, BINS - 1)
    one_hot: Floats = np.eye(BINS)[position]
    return one_hot


def calibration_error_statistic(confidence: Floats, correct: Floats) -> Statistic:
    """The mean gap between confidence and accuracy over ten equal-width bins, weighted by the bins'
    sizes.
    """
    bins = confidence_bins(confidence)

    def error(weights: Floats) -> Floats:
        gaps = np.abs((weights * (confidence - correct)) @ bins)
        return ratio(gaps.sum(axis=1), weights.sum(axis=1))

    return Statistic(error, SHARE)


def calibration_error_by_chance(confidence: Floats, seed: int) -> float:
    """The calibration error to be expected of calibrated answers with these confidences; NaN of
    none.

    With few answers a bin's accuracy differs from its confidence by chance alone, so that the
    error is above 0 though every confidence is deserved (consistency resampling, Bröcker and
    Smith 2007). Answers are taken as independent.
    """
    if not len(confidence):
        return float("nan")
    random, bins = np.random.default_rng(seed), confidence_bins(confidence)
    gaps = (
        np.abs((confidence - (random.random(len(confidence)) < confidence)) @ bins)
        for _ in range(DRAWS)
    )
    return float(sum(gap.sum() for gap in gaps) / (DRAWS * len(confidence)))
