"""The correlation of members' errors, effective votes, and what independent members would reach.

Functions of weights take how often each panel was drawn, shape (resamples, panels), as in
`moot.stats.bootstrap`.
"""

from collections.abc import Callable

import numpy as np

from moot.analyses.panel_worth.members import Panels
from moot.stats.bootstrap import (
    DIFFERENCE,
    SHARE,
    Bounds,
    Floats,
    Statistic,
    Truths,
    as_numbers,
    ratio,
    ratio_statistic,
)

_EM_STEPS = 200
_EM_TOLERANCE = 1e-8


def coincidences(panels: Panels) -> Truths:
    """Which panels have two members who are wrong; who are right, where that is rarer."""
    wrong_counts = panels.sizes - panels.right_counts
    is_wrong_rarer = wrong_counts.sum() <= panels.right_counts.sum()
    return np.asarray((wrong_counts if is_wrong_rarer else panels.right_counts) > 1)


def error_correlation(panels: Panels, pairs: Truths | None = None) -> Statistic:
    """The correlation of errors of two members of a panel (phi), averaged over pairs.

    Covariances and standard deviations are summed over pairs before they are divided. A member who
    is almost always right adds little to both, so that its undefined phi does not matter.

    Args:
        panels: of members.
        pairs: which pairs of names count, shape (names, names); None for all.
    """
    members, wrong_counts = panels.members, panels.wrong_counts
    count = members.shape[1]
    both_wrong = _count_pairs(wrong_counts, wrong_counts) - _count_same(wrong_counts)
    first_wrong = _count_pairs(wrong_counts, members) - _count_same(wrong_counts)
    present = _count_pairs(members, members) - _count_same(members)
    is_counted = np.ones((count, count)) if pairs is None else as_numbers(pairs)

    def correlation(weights: Floats) -> Floats:
        error = ratio(weights @ wrong_counts, weights @ members, 0.0)
        shape = (len(weights), count, count)
        joint = (weights @ both_wrong).reshape(shape)
        single = (weights @ first_wrong).reshape(shape)
        panels_of_pair = (weights @ present).reshape(shape)
        first, second = error[:, :, None], error[:, None, :]
        covariance = joint - second * single - first * single.transpose(0, 2, 1)
        covariance += first * second * panels_of_pair
        spread = np.sqrt(error * (1 - error))
        scale = panels_of_pair * spread[:, :, None] * spread[:, None, :]
        covariances = (covariance * is_counted).sum(axis=(1, 2))
        return ratio(covariances, (scale * is_counted).sum(axis=(1, 2)))

    return Statistic(correlation, DIFFERENCE, coincidences(panels))


def _count_pairs(first: Floats, second: Floats) -> Floats:
    """The pairs of each panel by two names, shape (panels, names * names)."""
    return as_numbers((first[:, :, None] * second[:, None, :]).reshape(len(first), -1))


def _count_same(counts: Floats) -> Floats:
    """The members of each panel as pairs with themselves, shape (panels, names * names)."""
    identity = np.eye(counts.shape[1])
    return as_numbers((counts[:, :, None] * identity).reshape(len(counts), -1))


def effective_votes(size: float, correlation: float) -> float:
    """How many independent votes have a mean that varies as much as that of correlated ones; NaN if
    so many members cannot have that correlation.

    >>> effective_votes(9, 0.5)
    1.8
    """
    inflation = 1 + (size - 1) * correlation
    return size / inflation if inflation > 0 else float("nan")


def votes_with_one_more(size: float, correlation: float, new_correlation: float) -> float:
    """The effective votes of a panel and one more member, whose errors have another correlation.

    >>> votes_with_one_more(1, 0.9, 0)
    2.0
    """
    variance = size + 1 + size * (size - 1) * correlation + 2 * size * new_correlation
    return (size + 1) ** 2 / variance if variance > 0 else float("nan")


def member_accuracy(panels: Panels) -> Statistic:
    """The share of members who are right."""
    return ratio_statistic(panels.right_counts, panels.sizes, SHARE)


def majority_right(panels: Panels) -> Floats:
    """Whether more than half of each panel are right; a half where exactly half are."""
    return as_numbers((np.sign(2 * panels.right_counts - panels.sizes) + 1) / 2)


def independent_majority(panels: Panels) -> Statistic:
    """How often a majority would be right if members erred independently."""
    compositions, kinds = np.unique(panels.members, axis=0, return_inverse=True)
    membership = np.eye(len(compositions))[kinds.reshape(-1)]

    def share_right(weights: Floats) -> Floats:
        accuracy = 1 - ratio(weights @ panels.wrong_counts, weights @ panels.members, 0.0)
        total = np.zeros(len(weights))
        panels_of_kind = weights @ membership
        for number, composition in enumerate(compositions):
            accuracies = np.repeat(accuracy, composition.astype(int), axis=1)
            total += panels_of_kind[:, number] * poisson_binomial_majority(accuracies)
        return ratio(total, weights.sum(axis=1))

    return Statistic(share_right, SHARE)


def poisson_binomial_majority(accuracies: Floats) -> Floats:
    """The chance that more than half of independent members are right; ties count a half.

    Args:
        accuracies: of each member, shape (resamples, members).

    Returns:
        The chances, shape (resamples,).
    """
    from scipy.stats import poisson_binom  # registries are read at every start of Snakemake

    half = accuracies.shape[1] / 2
    more_than_half = poisson_binom.sf(np.floor(half), accuracies)
    at_least_half = poisson_binom.sf(np.ceil(half) - 1, accuracies)
    return as_numbers((more_than_half + at_least_half) / 2)


def condorcet_distance(panels: Panels) -> Statistic:
    """The accuracy of the majority of independent members, less that of the actual majority."""
    independent, actual = independent_majority(panels), majority_right(panels)

    def distance(weights: Floats) -> Floats:
        return independent(weights) - ratio(weights @ actual, weights.sum(axis=1))

    return Statistic(distance, DIFFERENCE)


def change(
    measure: Callable[[Panels], Statistic], first: Panels, last: Panels, bounds: Bounds
) -> Statistic:
    """A measure of the last panels, less that of the first."""
    first_measure, last_measure = measure(first), measure(last)
    return Statistic(lambda weights: last_measure(weights) - first_measure(weights), bounds)


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
    right_counts, sizes = panels.right_counts[is_large], panels.sizes[is_large]
    decides_right = hypergeom.sf(votes_needed - 1, sizes, right_counts, size)
    decides_wrong = hypergeom.sf(votes_needed - 1, sizes, sizes - right_counts, size)
    return as_numbers(decides_right), as_numbers(decides_wrong)


def estimate_accuracies_without_truth(votes: Floats) -> Floats:
    """The accuracies of members by the model of Dawid and Skene (1979, JRSS C 28) with one accuracy
    of a member for all labels, by expectation and maximisation from the shares of votes.

    Args:
        votes: of each panel by name and label, shape (panels, names, labels).

    Returns:
        The accuracy of each name, shape (names,); NaN where all votes are for one label.
    """
    if votes.shape[2] == 1:
        return np.full(votes.shape[1], np.nan)
    label_votes = votes.sum(axis=1)
    truth = label_votes / label_votes.sum(axis=1, keepdims=True)
    accuracies = np.zeros(votes.shape[1])
    for _ in range(_EM_STEPS):
        previous = accuracies
        right_votes = (votes * truth[:, None, :]).sum(axis=(0, 2))
        accuracies = np.clip(right_votes / votes.sum(axis=(0, 2)), 1e-6, 1 - 1e-6)
        wrong_shares = (1 - accuracies) / (votes.shape[2] - 1)
        log_odds = np.log(accuracies / wrong_shares)
        logs = (votes * log_odds[:, None]).sum(axis=1) + np.log(truth.mean(axis=0) + 1e-12)
        truth = np.exp(logs - logs.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
        if np.abs(accuracies - previous).max() < _EM_TOLERANCE:
            break
    return as_numbers(accuracies)
