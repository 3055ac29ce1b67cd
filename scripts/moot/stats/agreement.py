"""Agreement of raters beyond chance: Cohen's kappa for two, Krippendorff's alpha for any number,
over row weights; and of pairs of answers that have something in common.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from moot.stats.bootstrap import DIFFERENCE, Floats, Statistic, ratio
from moot.stats.classification import kappa, weighted_sums

_FEWEST_RATERS = 2


def cohens_kappa(first: ArrayLike, second: ArrayLike) -> Statistic:
    """Agreement of two raters' labels of the same items beyond chance;
    NaN where chance alone would agree always.
    """
    codes, labels = pd.factorize(
        np.concatenate([np.asarray(first, dtype=object), np.asarray(second, dtype=object)])
    )
    first_labels, second_labels = np.split(np.eye(len(labels))[codes], 2)
    return Statistic(
        lambda weights: kappa(weighted_sums(first_labels, second_labels, weights)), DIFFERENCE
    )


def krippendorffs_alpha(ratings: NDArray[np.object_]) -> Statistic:
    """Agreement of any number of raters on a nominal scale (Krippendorff 2011, "Computing
    Krippendorff's alpha-reliability"); NaN where fewer than two labels occur.

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

    return Statistic(alpha, DIFFERENCE, pairable)


def count_agreeing_pairs(
    rows: pd.DataFrame, common: Sequence[str], *, excluded: Sequence[str] = ()
) -> pd.DataFrame:
    """How many pairs of answers there are, and how many of them agree.

    Args:
        rows: answers, with the columns case_id, prediction, and those named.
        common: what both answers of a pair have in common, case_id among it.
        excluded: what both do not have in common, all of it, in addition.

    Returns:
        A row a case_id: agree, pairs.
    """
    pairs = _count_pairs(rows, common)
    return pairs - _count_pairs(rows, [*common, *excluded]) if excluded else pairs


def _count_pairs(rows: pd.DataFrame, common: Sequence[str]) -> pd.DataFrame:
    answers = rows.groupby([*common, "prediction"], sort=True).size()
    agreeing_pairs, all_pairs = (
        counts * (counts - 1) / 2 for counts in (answers, rows.groupby([*common], sort=True).size())
    )
    return pd.DataFrame(
        {
            "agree": agreeing_pairs.groupby("case_id").sum(),
            "pairs": all_pairs.groupby("case_id").sum(),
        }
    )
