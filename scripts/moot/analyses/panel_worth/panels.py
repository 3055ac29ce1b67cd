"""Panels: the correlation of errors, effective votes, and what independent members would reach."""

from functools import cached_property

import numpy as np
import pandas as pd

from moot.stats.arrays import Floats, ratio
from moot.stats.statistic import DIFFERENCE, SHARE, Statistic, ratio_statistic

MIN_NAMED_PANELS, MAX_NAMES = 8, 20
"""The mean number of panels of a name, and the number of names, with which each name counts."""


class Panels:
    """Panels of members at one moment, from their answers as `gather_members` returns them.

    Attributes:
        cases: the case of each panel.
        names: of the members; one name for all members where names rarely recur.
        votes: the answers of each panel by name and label, shape (panels, names, labels).
        members, wrong_members: the numbers of members by name, shape (panels, names).
        sizes, right_counts, wrong_counts: the numbers of all members, shape (panels,).
        majority_right: whether more than half of each panel are right; a half where half are.
        agreement: the share of pairs of members of each panel that agree; 0 without pairs.
        coincidences: whether two members of each panel are wrong, or right if that is rarer.
    """

    def __init__(self, answers: pd.DataFrame) -> None:
        answers = answers.sort_values("panel", kind="stable")
        members = answers["member"]
        panels_of_name = answers.groupby("member")["panel"].nunique()
        if len(panels_of_name) > MAX_NAMES or panels_of_name.mean() < MIN_NAMED_PANELS:
            members = pd.Series("member", answers.index)
        panels, panel_names = pd.factorize(answers["panel"])
        names, self.names = pd.factorize(members, sort=True)
        labels, label_names = pd.factorize(answers["prediction"], sort=True)
        self.cases = answers.drop_duplicates("panel")["case_id"].tolist()
        self.votes: Floats = np.zeros((len(panel_names), len(self.names), len(label_names)))
        np.add.at(self.votes, (panels, names, labels), 1)
        self.members: Floats = self.votes.sum(axis=2)
        self.wrong_members: Floats = np.zeros_like(self.members)
        np.add.at(self.wrong_members, (panels, names), answers["prediction"] != answers["target"])
        self.sizes: Floats = self.members.sum(axis=1)
        self.wrong_counts: Floats = self.wrong_members.sum(axis=1)
        self.right_counts: Floats = self.sizes - self.wrong_counts
        self.majority_right: Floats = (np.sign(self.right_counts - self.wrong_counts) + 1) / 2
        equal_pairs = (self.votes.sum(axis=1) ** 2).sum(axis=1) - self.sizes
        self.agreement: Floats = equal_pairs / np.maximum(self.sizes * (self.sizes - 1), 1)
        counts = self.wrong_counts, self.right_counts
        self.coincidences = min(counts, key=np.sum) > 1

    def accuracy(self, names: list[int] | slice = slice(None)) -> Statistic:
        """Return the share of members who are right, by default of all names."""
        members, wrong_members = self.members[:, names], self.wrong_members[:, names]
        return ratio_statistic((members - wrong_members).sum(axis=1), members.sum(axis=1), SHARE)

    def error_correlation(self, pairs: Floats | float = 1.0) -> Statistic:
        """Return the correlation of errors of two members of a panel (phi), averaged over pairs.

        It is a ratio of sums, so that a member who is almost always right matters little. `pairs`
        is 1 for the pairs of names that count and 0 for others, shape (names, names).
        """
        members, wrong_members = self.members, self.wrong_members
        both_wrong = _count_pairs(wrong_members, wrong_members)
        first_wrong = _count_pairs(wrong_members, members)
        present = _count_pairs(members, members)

        def correlation(weights: Floats) -> Floats:
            error = ratio(weights @ wrong_members, weights @ members, 0.0)
            first, second = error[:, :, None], error[:, None, :]
            single = np.tensordot(weights, first_wrong, 1)
            number = np.tensordot(weights, present, 1)
            covariance = np.tensordot(weights, both_wrong, 1) - second * single
            covariance -= first * single.transpose(0, 2, 1)
            covariance += first * second * number
            spread = np.sqrt(error * (1 - error))
            scale = number * spread[:, :, None] * spread[:, None, :]
            return ratio((covariance * pairs).sum(axis=(1, 2)), (scale * pairs).sum(axis=(1, 2)))

        return Statistic(correlation, DIFFERENCE, self.coincidences)

    def independent_majority(self) -> Statistic:
        """Return the accuracy of a majority if members erred independently (Poisson-binomial)."""
        from scipy.stats import poisson_binom  # registries are read at every start of Snakemake

        compositions, kinds = np.unique(self.members.astype(int), axis=0, return_inverse=True)

        def share_right(weights: Floats) -> Floats:
            accuracy = 1 - ratio(weights @ self.wrong_members, weights @ self.members, 0.0)
            total = np.zeros(len(weights))
            for kind, composition in enumerate(compositions):
                accuracies = np.repeat(accuracy, composition, axis=1)
                half = composition.sum() / 2
                more_than_half = poisson_binom.sf(np.floor(half), accuracies)
                at_least_half = poisson_binom.sf(np.ceil(half) - 1, accuracies)
                panels_of_kind = weights[:, kinds.reshape(-1) == kind].sum(axis=1)
                total += panels_of_kind * (more_than_half + at_least_half) / 2
            return ratio(total, weights.sum(axis=1))

        return Statistic(share_right, SHARE)

    @cached_property
    def accuracies_without_truth(self) -> Floats:
        """The accuracy of each name by the model of Dawid and Skene (1979, JRSS C 28), with one
        accuracy for all labels and EM from the shares of votes; NaN with a single label.
        """
        votes, labels = self.votes, self.votes.shape[2]
        accuracies = np.full(len(self.names), np.nan)
        truth = votes.sum(axis=1) / self.sizes[:, None]
        for _ in range(200 if labels > 1 else 0):
            previous = accuracies
            right_votes = (votes * truth[:, None, :]).sum(axis=(0, 2))
            accuracies = np.clip(right_votes / votes.sum(axis=(0, 2)), 1e-6, 1 - 1e-6)
            log_odds = np.log(accuracies / ((1 - accuracies) / (labels - 1)))
            logs = (votes * log_odds[:, None]).sum(axis=1) + np.log(truth.mean(axis=0) + 1e-12)
            truth = np.exp(logs - logs.max(axis=1, keepdims=True))
            truth /= truth.sum(axis=1, keepdims=True)
            if np.allclose(accuracies, previous, rtol=0, atol=1e-8):
                break
        return accuracies


def _count_pairs(first: Floats, second: Floats) -> Floats:
    """Count pairs of members of two sets, the first within the second, by panel and two names."""
    return np.asarray(first[:, :, None] * (second[:, None, :] - np.eye(first.shape[1])))


def effective_votes(size: float, correlation: float) -> float:
    """Return the number of independent votes whose mean varies as much; NaN if there is none."""
    inflation = 1 + (size - 1) * correlation
    return size / inflation if inflation > 0 else float("nan")


def votes_with_another(size: float, correlation: float, new_correlation: float) -> float:
    """Return the effective votes with one more member, whose errors have another correlation."""
    variance = size + 1 + size * (size - 1) * correlation + 2 * size * new_correlation
    return (size + 1) ** 2 / variance if variance > 0 else float("nan")


def difference(first: Statistic, second: Statistic, largest: float = 1.0) -> Statistic:
    """Return the first statistic less the second, between -`largest` and `largest`."""
    return Statistic(lambda weights: first(weights) - second(weights), (-largest, largest))
