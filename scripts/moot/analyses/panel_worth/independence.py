"""The correlation of members' errors, effective votes, and what independent members would reach.

Each statistic takes how often every panel was drawn, shape (resamples, panels), as
`moot.stats.bootstrap` does.
"""

from collections.abc import Callable

import numpy as np

from moot.analyses.panel_worth.members import Panels
from moot.stats.bootstrap import (
    DIFFERENCE,
    SHARE,
    ClusterBootstrap,
    Floats,
    Statistic,
    Truths,
    as_numbers,
    ratio,
)
from moot.stats.score_intervals import LEVEL

FEW_COINCIDENCES = 20
_EM_STEPS = 200
_EM_TOLERANCE = 1e-8


def estimate_correlation(panels: Panels, sample: ClusterBootstrap) -> tuple[float, float, float]:
    """The correlation of errors with its interval, which rests on the panels in which errors
    coincide.
    """
    statistic = Statistic(error_correlation(panels), DIFFERENCE, coincidences(panels))
    value, low, high = sample.estimate(statistic)
    return value, low, high + rare_excess(panels, value, high)


def rare_excess(panels: Panels, value: float, high: float) -> float:
    """By how much the upper end of a correlation rises where errors coincide in few panels.

    Resamples then show too little of its skewness. The number of these panels has the exact
    interval of a Poisson count (Garwood 1936); the correlation changes in proportion, above the
    value that it has without any.
    """
    from scipy.stats import chi2  # registries are read at every start of Snakemake

    count = int(coincidences(panels).sum())
    if not 0 < count < FEW_COINCIDENCES:
        return 0.0
    largest_count = chi2.ppf(1 - (1 - LEVEL) / 2, 2 * (count + 1)) / 2
    share_right = panels.right.sum() / panels.sizes.sum()
    rare_share = min(share_right, 1 - share_right)
    lowest = -rare_share / (1 - rare_share)
    return max(0.0, float(value + (value - lowest) * (largest_count / count - 1) - high))


def coincidences(panels: Panels) -> Truths:
    """Whether two members of each panel are wrong together; right, where that is the rarer."""
    wrong = panels.sizes - panels.right
    rare = wrong if wrong.sum() <= panels.right.sum() else panels.right
    return np.asarray(rare > 1)


def error_correlation(panels: Panels, pairs: Truths | None = None) -> Callable[[Floats], Floats]:
    """The correlation of errors of two members of a panel (phi), averaged over pairs.

    Covariances and standard deviations are summed over pairs before they are divided. A member who
    is almost always right adds little to both, so that its undefined phi does not matter.

    Args:
        panels: of members.
        pairs: which pairs of names count, shape (names, names); None for all.
    """
    count = panels.members.shape[1]
    identity = np.eye(count)
    members, wrong = panels.members, panels.wrong
    both_wrong = _pairs(wrong, wrong) - _diagonal(wrong, identity)
    first_wrong = _pairs(wrong, members) - _diagonal(wrong, identity)
    present = _pairs(members, members) - _diagonal(members, identity)
    counted_pairs = np.ones((count, count)) if pairs is None else as_numbers(pairs)

    def correlation(weights: Floats) -> Floats:
        error = ratio(weights @ wrong, weights @ members, 0.0)
        shape = (len(weights), count, count)
        joint = (weights @ both_wrong).reshape(shape)
        single = (weights @ first_wrong).reshape(shape)
        panels_of_pair = (weights @ present).reshape(shape)
        first, second = error[:, :, None], error[:, None, :]
        covariance = joint - second * single - first * single.transpose(0, 2, 1)
        covariance += first * second * panels_of_pair
        spread = np.sqrt(error * (1 - error))
        scale = panels_of_pair * spread[:, :, None] * spread[:, None, :]
        return ratio(
            (covariance * counted_pairs).sum(axis=(1, 2)), (scale * counted_pairs).sum(axis=(1, 2))
        )

    return correlation


def _pairs(first: Floats, second: Floats) -> Floats:
    return as_numbers((first[:, :, None] * second[:, None, :]).reshape(len(first), -1))


def _diagonal(counts: Floats, identity: Floats) -> Floats:
    return as_numbers((counts[:, :, None] * identity).reshape(len(counts), -1))


def effective_votes(size: float, correlation: float) -> float:
    """How many independent votes have the variance of a mean of so many correlated ones.

    NaN if so many members cannot have that correlation.

    >>> effective_votes(9, 0.5)
    1.8
    """
    inflation = 1 + (size - 1) * correlation
    return size / inflation if inflation > 0 else float("nan")


def votes_with_one_more(size: float, correlation: float, new_correlation: float) -> float:
    """The effective votes of so many members and one more whose errors correlate otherwise.

    >>> votes_with_one_more(1, 0.9, 0)
    2.0
    """
    variance = size + 1 + size * (size - 1) * correlation + 2 * size * new_correlation
    return (size + 1) ** 2 / variance if variance > 0 else float("nan")


def member_accuracy(panels: Panels) -> Statistic:
    """The share of members who are right."""
    right, sizes = panels.right, panels.sizes
    return Statistic(lambda weights: ratio(weights @ right, weights @ sizes), SHARE)


def majority_right(panels: Panels) -> Floats:
    """Whether more than half of each panel are right; a half where exactly half are."""
    twice_right = 2 * panels.right
    return as_numbers(np.where(twice_right == panels.sizes, 0.5, twice_right > panels.sizes))


def independent_majority(panels: Panels) -> Callable[[Floats], Floats]:
    """How often a majority would be right if members erred independently (Poisson-binomial)."""
    compositions, kinds = np.unique(panels.members, axis=0, return_inverse=True)
    membership = np.eye(len(compositions))[kinds.reshape(-1)]

    def share_right(weights: Floats) -> Floats:
        accuracy = 1 - ratio(weights @ panels.wrong, weights @ panels.members, 0.0)
        total = np.zeros(len(weights))
        panels_of_kind = weights @ membership
        for number, composition in enumerate(compositions):
            total += panels_of_kind[:, number] * poisson_binomial_majority(accuracy, composition)
        return ratio(total, weights.sum(axis=1))

    return share_right


def poisson_binomial_majority(accuracy: Floats, members: Floats) -> Floats:
    """The chance that more than half of independent members are right; ties count a half.

    Args:
        accuracy: of a member by name, shape (resamples, names).
        members: members by name, shape (names,).

    Returns:
        The chances, shape (resamples,).
    """
    chances = np.ones((len(accuracy), 1))
    for name, count in enumerate(members.astype(int)):
        for _ in range(count):
            is_right = accuracy[:, name, None]
            more = np.pad(chances * is_right, ((0, 0), (1, 0)))
            chances = more + np.pad(chances * (1 - is_right), ((0, 0), (0, 1)))
    twice_right = 2 * np.arange(chances.shape[1])
    size = chances.shape[1] - 1
    worth = np.where(twice_right == size, 0.5, twice_right > size)
    return as_numbers(chances @ worth)


def condorcet_distance(panels: Panels) -> Statistic:
    """The accuracy of the majority of independent members, less that of the actual majority."""
    independent, actual = independent_majority(panels), majority_right(panels)

    def distance(weights: Floats) -> Floats:
        return independent(weights) - ratio(weights @ actual, weights.sum(axis=1))

    return Statistic(distance, DIFFERENCE)


def decision_shares(panels: Panels, size: int, votes_needed: int) -> tuple[Floats, Floats]:
    """The chances that members drawn from each panel decide right, and wrong.

    Args:
        panels: all of at least `size` members count.
        size: members that are drawn without replacement.
        votes_needed: equal votes that a decision takes.

    Returns:
        Both chances for each panel of at least `size` members; the rest is hung.
    """
    from scipy.stats import hypergeom  # registries are read at every start of Snakemake

    is_large = panels.sizes >= size
    right, sizes = panels.right[is_large], panels.sizes[is_large]
    decides_right = hypergeom.sf(votes_needed - 1, sizes, right, size)
    decides_wrong = hypergeom.sf(votes_needed - 1, sizes, sizes - right, size)
    return as_numbers(decides_right), as_numbers(decides_wrong)


def estimate_accuracy_without_truth(votes: Floats) -> tuple[float, Floats]:
    """The accuracy of members by the model of Dawid and Skene (1979, JRSS C 28) with one accuracy
    for all members and labels, by expectation and maximisation from the shares of votes.

    Args:
        votes: members of each panel by label, shape (panels, labels).

    Returns:
        The accuracy, and the frequency of each label, shape (labels,).
    """
    labels = votes.shape[1]
    sizes = votes.sum(axis=1, keepdims=True)
    truth = votes / sizes
    accuracy = 0.5
    for _ in range(_EM_STEPS):
        share = (truth * votes).sum() / votes.sum()
        frequency = truth.mean(axis=0)
        share = float(np.clip(share, 1e-6, 1 - 1e-6))
        log_odds = np.log(share) - np.log((1 - share) / (labels - 1))
        logs = np.log(np.maximum(frequency, 1e-12)) + votes * log_odds
        truth = np.exp(logs - logs.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
        if abs(share - accuracy) < _EM_TOLERANCE:
            break
        accuracy = share
    return accuracy, as_numbers(truth.mean(axis=0))
