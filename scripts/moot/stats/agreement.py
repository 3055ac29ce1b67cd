"""Agreement of raters beyond chance.

Cohen's kappa is for two raters, Krippendorff's alpha for any number. Both are functions of row
weights. Their error is that of the delta method: of kappa and independent items that of Fleiss,
Cohen and Everitt (1969, "Large sample standard errors of kappa and weighted kappa", Psychological
Bulletin 72).
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from moot.stats.arrays import Floats, Truths, departs_from_mode, ratio
from moot.stats.classification import Sums, kappa, weighted_sums
from moot.stats.statistic import DIFFERENCE, Statistic

_MIN_RATERS = _MIN_AGREED_LABELS = 2


def cohens_kappa(first: ArrayLike, second: ArrayLike) -> Statistic:
    """Return Cohen's kappa: the agreement of two raters beyond chance.

    It is NaN if both raters always give the same single label. Items that one of them did not label
    are left out. With a constant rater, kappa is 0 and has no interval.
    """
    raters = [np.asarray(labels, dtype=object) for labels in (first, second)]
    codes, labels = pd.factorize(np.concatenate(raters))
    labels = labels if len(labels) else np.array([""], dtype=object)
    both_codes = np.stack(np.split(codes, 2), axis=1)
    is_rated = np.asarray((both_codes >= 0).all(axis=1), dtype=bool)
    one_hot = np.eye(len(labels))[both_codes] * is_rated[:, None, None]
    return coefficient_of_two(kappa, one_hot[:, 0], one_hot[:, 1], is_rated)


def coefficient_of_two(
    coefficient: Callable[[Sums], Floats], first: Floats, second: Floats, is_rated: Truths
) -> Statistic:
    """Return the statistic of a coefficient of two raters.

    Args:
        coefficient: weighted sums to its values, such as `kappa` and `matthews`.
        first, second: each rater's labels, 0 or 1 of shape (items, labels).
        is_rated: which items count, shape (items,).
    """

    def value(weights: Floats) -> Floats:
        return coefficient(weighted_sums(first, second, weights * is_rated))

    return Statistic(value, DIFFERENCE, is_rated, _departing_items(first, second, is_rated))


def _departing_items(first: Floats, second: Floats, is_rated: Truths) -> Truths:
    """Return the items whose label differs from a rater's most frequent label.

    The rater is the one with fewer such items. No item is returned if the raters agree on fewer
    than two labels: then nothing shows how their agreement varies.
    """
    departs = np.zeros((2, len(first)), dtype=bool)
    for rater, labels in enumerate((first, second)):
        departs[rater, is_rated] = departs_from_mode(labels[is_rated])
    agreed_labels = (first * second)[is_rated].any(axis=0)
    if agreed_labels.sum() < _MIN_AGREED_LABELS:
        return np.zeros(len(first), dtype=bool)
    return np.asarray(min(departs, key=np.sum), dtype=bool)


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

    return Statistic(alpha, DIFFERENCE, pairable, pairable & _rows_with_rare_labels(counts))


def _rows_with_rare_labels(counts: Floats) -> Truths:
    """Return which items have a label other than the most frequent one, shape (items,).

    No item is returned if raters agree on fewer than two labels, as in `_departing_items`.

    Args:
        counts: how often each item (row) has each label (column).
    """
    if not counts.size:
        return np.zeros(len(counts), dtype=bool)
    by_label = counts.sum(axis=0)
    is_rare = np.arange(counts.shape[1]) != by_label.argmax()
    if (counts >= _MIN_RATERS).any(axis=0).sum() < _MIN_AGREED_LABELS:
        return np.zeros(len(counts), dtype=bool)
    return np.asarray(counts[:, is_rare].sum(axis=1) > 0, dtype=bool)
