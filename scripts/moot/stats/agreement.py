"""Agreement of raters beyond chance, and agreement of pairs of answers.

Cohen's kappa is for two raters, Krippendorff's alpha for any number. Both are functions of row
weights.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

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

_FEWEST_RATERS = 2


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
    pairable = raters >= _FEWEST_RATERS
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
    if (counts >= _FEWEST_RATERS).any(axis=0).sum() < MIN_AGREED_LABELS:
        return np.zeros(len(counts), dtype=bool)
    return np.asarray(counts[:, is_rare].sum(axis=1) > 0, dtype=bool)


def count_agreeing_pairs(
    rows: pd.DataFrame, common: Sequence[str], *, excluded: Sequence[str] = ()
) -> pd.DataFrame:
    """Count the pairs of answers, and the pairs that agree.

    Args:
        rows: answers, with the columns case_id, prediction, `common` and `excluded`.
        common: columns that are equal in both answers of a pair, including case_id.
        excluded: columns that must not all be equal in both answers.

    Returns:
        One row per case_id, with the columns agree and pairs.
    """
    pairs = _count_pairs(rows, common)
    return pairs - _count_pairs(rows, [*common, *excluded]) if excluded else pairs


def _count_pairs(rows: pd.DataFrame, common: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "agree": _count_equal_pairs(rows, [*common, "prediction"]),
            "pairs": _count_equal_pairs(rows, [*common]),
        }
    )


def _count_equal_pairs(rows: pd.DataFrame, columns: list[str]) -> "pd.Series[float]":
    """Return the number of pairs of rows that are equal in some columns, by case_id.

    Rows in which one of the columns is missing are in no pair.
    """
    complete_rows = rows.dropna(subset=columns)
    keys = zip(*(complete_rows[name].tolist() for name in columns), strict=True)
    case_position = columns.index("case_id")
    pairs: defaultdict[str, float] = defaultdict(float)
    for key, count in Counter(keys).items():
        pairs[key[case_position]] += count * (count - 1) / 2
    return pd.Series(pairs, dtype=np.float64).rename_axis("case_id").sort_index()
