"""Trust in probabilities: area under the ROC curve and calibration error, over row weights."""

import numpy as np

from moot.stats.arrays import Floats, departs_from_mode, ratio
from moot.stats.statistic import SHARE, Statistic

BINS = 10
DRAWS = 300
_ROUNDING = 1e-9  # 1 - 0.9 belongs to the bin of 0.1


def auc_statistic(truth: Floats, score: Floats) -> Statistic:
    """Return the area under the ROC curve (Mann-Whitney, ties count half).

    It is NaN if one class is missing.

    Rows without a score are left out.

    The statistic counts the rows of both classes, or the rows whose score differs from the most
    frequent score if there are fewer of them.
    """
    is_scored = ~np.isnan(score)
    score = np.where(is_scored, score, -np.inf)
    order = np.argsort(score, kind="stable")
    _, ties = np.unique(score[order], return_index=True)

    def area(weights: Floats) -> Floats:
        weights = weights * is_scored
        positives = np.add.reduceat((weights * truth)[:, order], ties, axis=1)
        negatives = np.add.reduceat((weights * (1 - truth))[:, order], ties, axis=1)
        beaten = np.cumsum(negatives, axis=1) - negatives / 2
        return ratio(
            (positives * beaten).sum(axis=1), positives.sum(axis=1) * negatives.sum(axis=1)
        )

    classes = np.stack([truth > 0, truth <= 0], axis=1) & is_scored[:, None]
    departs = np.zeros(len(score), dtype=bool)
    departs[is_scored] = departs_from_mode(score[is_scored, None])
    are_few = departs.sum() < classes.sum(axis=0).min()
    return Statistic(area, SHARE, departs if are_few else classes)


def confidence_bins(confidence: Floats) -> Floats:
    """Return the bin of each confidence among `BINS` equal ones, one-hot.

    A confidence is from 0 to 1; the result has the shape (rows, bins).
    """
    position = np.clip(np.nan_to_num(confidence) * BINS + _ROUNDING, 0, BINS - 1).astype(int)
    one_hot: Floats = np.eye(BINS)[position]
    return one_hot


def calibration_error(confidence: Floats, correct: Floats) -> float:
    """Return the expected calibration error (Naeini, Cooper and Hauskrecht 2015, AAAI).

    It is the mean gap between confidence and accuracy over ten equal-width bins, weighted by the
    bins' sizes. Gaps arise by chance alone, so it has no interval: compare it with
    `calibration_error_by_chance`.

    It is NaN without answers, and if a confidence is missing or not from 0 to 1.
    """
    is_share = (confidence >= -_ROUNDING) & (confidence <= 1 + _ROUNDING)
    if not len(confidence) or not is_share.all():
        return float("nan")
    gaps = (confidence - correct) @ confidence_bins(confidence)
    return float(np.abs(gaps).sum() / len(confidence))


def calibration_error_by_chance(confidence: Floats, seed: int) -> float:
    """Return the expected calibration error of calibrated answers with these confidences.

    NaN without answers, and if a confidence is missing.

    With few answers a bin's accuracy differs from its confidence by chance, so the error is above 0
    although all answers are calibrated (consistency resampling, Bröcker and Smith 2007). The
    answers are assumed to be independent.
    """
    if not len(confidence) or np.isnan(confidence).any():
        return float("nan")
    random, bins = np.random.default_rng(seed), confidence_bins(confidence)
    gaps = (
        np.abs((confidence - (random.random(len(confidence)) < confidence)) @ bins)
        for _ in range(DRAWS)
    )
    return float(sum(gap.sum() for gap in gaps) / (DRAWS * len(confidence)))
