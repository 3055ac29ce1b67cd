"""Clusters of dependent rows: their numbers, their kinds, and how many they effectively are."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.stats.arrays import Numbers, Truths

Clusters = Iterable[Hashable]
MIN_CLUSTERS = 2


def effective_number(sizes: Numbers) -> float:
    """Return the effective number of clusters of these sizes or weights, shape (clusters,).

    If sizes are unequal, few clusters may decide. The number is the squared sum of sizes over the
    sum of squared sizes (Kish 1965; Carter, Schnepel and Steigerwald 2017, "Asymptotic behavior of
    a t-test robust to cluster heterogeneity", Review of Economics and Statistics 99). It is at
    least 2 if there are two clusters.
    """
    positive = sizes[sizes > 0]
    if len(positive) < MIN_CLUSTERS:
        return float(len(positive))
    positive = positive / positive.max()  # squares of tiny weights are 0
    return max(float(MIN_CLUSTERS), float(positive.sum() ** 2 / (positive**2).sum()))


def bell_mccaffrey_freedom(sizes: Numbers) -> float:
    """Return the degrees of freedom of t for a mean over clusters of these sizes.

    The jackknife's variance is a quadratic form of the clusters' means; its first two moments are
    those of a chi-squared variable (Bell and McCaffrey 2002, "Bias reduction in standard errors for
    linear regression with multi-stage samples", Survey Methodology 28), if the rows of a cluster
    are equal (the working model of Imbens and Kolesár 2016, Review of Economics and Statistics 98,
    with a correlation of 1, as repeats of a debate nearly have). Clusters of equal sizes have one
    degree of freedom less than there are clusters. It is 0 for fewer than two clusters.
    """
    positive = sizes[sizes > 0]
    if len(positive) < MIN_CLUSTERS:
        return 0.0
    shares = positive / positive.sum()
    squares, total = (shares / (1 - shares)) ** 2, float((shares**2).sum())
    zeroth, first, second = (float((squares * shares**power).sum()) for power in range(3))
    trace = zeroth - 2 * first + total * zeroth
    # the sum of squares of squares[g] * squares[h] * ((g == h) - shares[g] - shares[h] + total)
    trace_of_square = (total * zeroth) ** 2 - 4 * total * zeroth * first
    trace_of_square += 2 * zeroth * second + 2 * first**2
    trace_of_square += float((squares**2 * (1 + 2 * total - 4 * shares)).sum())
    return trace**2 / trace_of_square


def cluster_sizes(codes: NDArray[np.intp], rows: Truths | None) -> list[NDArray[np.intp]]:
    """Return how many of some rows each cluster has.

    Of two classes of rows (columns) it is how many of each class, or of the rarer class if a
    cluster has rows of both.
    """
    selections = [np.ones(len(codes), dtype=bool)] if rows is None else np.atleast_2d(rows.T)
    number = int(codes.max(initial=-1)) + 1
    sizes = [np.bincount(codes[selected], minlength=number) for selected in selections]
    are_apart = (np.count_nonzero(sizes, axis=0) <= 1).all()
    return sizes if are_apart else [min(sizes, key=np.count_nonzero)]


def satterthwaite(variances: Sequence[float], freedoms: Iterable[float]) -> float:
    """Return the degrees of freedom of a sum of variances (Satterthwaite 1946).

    They are those of the first one if all variances are 0.
    """
    pairs = list(zip(variances, freedoms, strict=True))
    terms = sum(variance**2 / freedom for variance, freedom in pairs)
    return sum(variances) ** 2 / terms if terms else pairs[0][1]


def kinds_of_clusters(clusters: Clusters) -> list[tuple[NDArray[np.intp], int]]:
    """Return the cluster numbers of each row, and the number of kinds of clusters.

    The numbers are those by each single kind, then by each pair of kinds, and so on.
    """
    rows = list(clusters)
    if not rows or not isinstance(rows[0], tuple):
        return [(_number_clusters(rows), 1)]
    kinds = [_number_clusters(names) for names in zip(*rows, strict=True)]
    numbered_kinds: list[tuple[NDArray[np.intp], int]] = []
    for number in range(1, len(kinds) + 1):
        for subset in combinations(kinds, number):
            codes = np.unique(np.stack(subset), axis=1, return_inverse=True)[1]
            numbered_kinds.append((codes.reshape(-1), number))
    return numbered_kinds


def _number_clusters(names: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the number of each row's cluster; rows without a cluster form one cluster together."""
    array = np.asarray(names, dtype=object)
    return pd.factorize(array, sort=True, use_na_sentinel=False)[0]
