"""Agreement of raters beyond chance.

Cohen's kappa is for two raters, Krippendorff's alpha for any number. Both are functions of row
weights.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from moot.stats.arrays import Floats, Truths, ratio
from moot.stats.classification import (
    MIN_AGREED_LABELS,
    kappa,
    rows_behind_agreement,
    weighted_sums,
)
from moot.stats.statistic import DIFFERENCE, Statistic

_MIN_RATERS = 2


def cohens_kappa(first: ArrayLike, second: ArrayLike) -> Statistic:
    """Return Cohen's kappa: the agreement of two raters beyond chance.

    It is NaN if both raters always give the same single label. Items that one of them did not label
    are left out. The statistic's rows are the items whose label differs from a rater's most
    frequent label, for the rater with fewer such items. With a constant rater, kappa is 0 and has
    no interval.
    """
    raters = [np.asarray(labels, dtype=object) for labels in (first, second)]
    codes, labels = pd.factorize(np.concatenate(raters))
    labels = labels if len(labels) else np.array([""], dtype=object)
    both_codes = np.stack(np.split(codes, 2), axis=1)
    is_rated = np.asarray((both_codes >= 0).all(axis=1), dtype=bool)
    one_hot = np.eye(len(labels))[both_codes] * is_rated[:, None, None]
    first_labels, second_labels = one_hot[:, 0], one_hot[:, 1]

    def value(weights: Floats) -> Floats:
        return kappa(weighted_sums(first_labels, second_labels, weights * is_rated))

    return Statistic(
        value, DIFFERENCE, rows_behind_agreement(first_labels, second_labels, is_rated)
    )


def krippendorffs_alpha(ratings: NDArray[np.object_]) -> Statistic:
    """Return Krippendorff's alpha: the agreement of any number of raters on a nominal scale.

    It is NaN if fewer than two labels occur. Source: Krippendorff 2011, "Computing Krippendorff's
    alpha-reliability".

    Args:
        ratings: the label of each item (row) by each rater (column), a string; anything else is
            missing.
    """
    labels = sorted({value for value in ratings.ravel() if isinstance(value, str)})
    rater_counts = [(ratings == label).sum(axis=1) for label in labels]
    counts = np.array(rater_counts, dtype=np.float64).reshape(len(labels), len(ratings)).T
    raters = counts.sum(axis=1)
    pairable = raters >= _MIN_RATERS
    counts = np.where(pairable[:, None], counts, 0.0)
    other_raters = np.where(pairable, raters - 1, 1.0)
    agreeing = (counts * (counts - 1)).sum(axis=1) / other_raters

    def alpha(weights: Floats) -> Floats:
        by_label = weights @ counts
        total = by_label.sum(axis=1)
        observed, expected = total - weights @ agreeing, total**2 - (by_label**2).sum(axis=1)
        return 1 - ratio((total - 1) * observed, expected)

    return Statistic(alpha, DIFFERENCE, pairable & rows_with_rare_labels(counts))


def rows_with_rare_labels(counts: Floats) -> Truths:
    """Return which items have a label other than the most frequent one, shape (items,).

    No item is returned if raters agree on fewer than two labels, as in `rows_behind_agreement`.

    Args:
        counts: how often each item (row) has each label (column).
    """
    if not counts.size:
        return np.zeros(len(counts), dtype=bool)
    by_label = counts.sum(axis=0)
    is_rare = np.arange(counts.shape[1]) != by_label.argmax()
    if (counts >= _MIN_RATERS).any(axis=0).sum() < MIN_AGREED_LABELS:
        return np.zeros(len(counts), dtype=bool)
    return np.asarray(counts[:, is_rare].sum(axis=1) > 0, dtype=bool)
