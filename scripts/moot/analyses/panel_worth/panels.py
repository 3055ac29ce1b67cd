"""Panels: the correlation of errors, effective votes, and what independent members would reach."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from moot.stats.arrays import Floats, Truths, as_numbers, ratio
from moot.stats.statistic import SHARE, Statistic, ratio_statistic

MIN_NAMED_PANELS, MAX_NAMES = 8, 20
"""The mean number of panels of a name, and the number of names, with which each name counts."""
_DIGITS = 12  # rounding leaves 1e-17 instead of 0 where no pair counts


class Panels:
    """Panels of members at one moment, from their answers as `gather_members` returns them.

    Attributes:
        cases: the case of each panel.
        names: of the members; one name for all members where names rarely recur.
        members, wrong_members: the numbers of members by name, shape (panels, names).
        sizes, right_counts, wrong_counts: the numbers of all members, shape (panels,).
        majority_right: whether more than half of each panel are right; a half where half are.
        agreement: the share of pairs of members of each panel that agree; 0 without pairs.
        coincidences: whether two members of each panel are wrong, or right if that is rarer.
    """

    def __init__(self, answers: pd.DataFrame) -> None:
        panels_of_name = answers.groupby("member")["panel"].nunique()
        if len(panels_of_name) > MAX_NAMES or panels_of_name.mean() < MIN_NAMED_PANELS:
            answers = answers.assign(member="member")
        self._answers = answers.assign(is_wrong=answers["prediction"] != answers["target"])
        by_name = self._answers.groupby(["panel", "member"])["is_wrong"]
        members = by_name.size().unstack(fill_value=0)
        self.names = members.columns
        self.cases = answers.groupby("panel")["case_id"].first().tolist()
        self.members = as_numbers(members)
        self.wrong_members = as_numbers(by_name.sum().unstack(fill_value=0))
        self.sizes, self.wrong_counts = self.members.sum(axis=1), self.wrong_members.sum(axis=1)
        self.right_counts = self.sizes - self.wrong_counts
        self.majority_right = (np.sign(self.right_counts - self.wrong_counts) + 1) / 2
        votes = answers.groupby(["panel", "prediction"]).size()
        equal_pairs = as_numbers((votes * (votes - 1)).groupby("panel").sum())
        self.agreement = equal_pairs / np.maximum(self.sizes * (self.sizes - 1), 1)
        self.coincidences = min(self.wrong_counts, self.right_counts, key=np.sum) > 1

    def accuracy(self, names: list[int] | slice = slice(None)) -> Statistic:
        """Return the share of members who are right, by default of all names."""
        members, wrong_members = self.members[:, names], self.wrong_members[:, names]
        return ratio_statistic((members - wrong_members).sum(axis=1), members.sum(axis=1), SHARE)

    def error_correlation(self, traits: Sequence[str] = ()) -> Statistic:
        """Return the correlation of errors of two members of a panel (phi), averaged over pairs.

        It is a ratio of sums, so that a member who is almost always right matters little. With
        the trait of each name, only pairs of members with different traits count. The lower bound
        is Fréchet's (1951) of two members who are never wrong together, or never right if that is
        rarer: errors are often rare, and on the log odds above -1 intervals cover 91 %.
        """
        members, wrong_members = self.members, self.wrong_members
        groups = [np.equal(traits, trait) for trait in set(traits)]

        def correlation(weights: Floats) -> Floats:
            error = ratio(weights @ wrong_members, weights @ members, 0.0)
            spread = np.sqrt(error * (1 - error))

            def squares(names: Truths | slice) -> Floats:
                """Return the squared sums of some members' deviations, and of their spreads."""
                deviations = wrong_members[:, names].sum(axis=1) - error[:, names] @ (
                    members[:, names].T
                )
                spreads = spread[:, names] @ members[:, names].T
                return np.stack([(weights * sums**2).sum(axis=1) for sums in (deviations, spreads)])

            # the square of a sum is that of each member, or of each group, and the pairs between
            singles = (
                sum(map(squares, groups)) if groups else (weights @ members * spread**2).sum(1)
            )
            covariance, scale = squares(slice(None)) - singles
            return ratio(covariance, scale.round(_DIGITS))

        wrong, right = wrong_members.sum(axis=0), (members - wrong_members).sum(axis=0)
        # no pair of names correlates below the highest odds of either answer
        odds = (ratio(wrong, right, np.inf).max(), ratio(right, wrong, np.inf).max())
        return Statistic(correlation, (-float(min(1.0, *odds)), 1.0), self.coincidences)

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
        from scipy.special import softmax  # registries are read at every start of Snakemake

        panels, names, votes = (
            pd.factorize(self._answers[column], sort=True)[0]
            for column in ("panel", "member", "prediction")
        )
        truth = np.zeros((len(self.cases), votes.max() + 1))
        np.add.at(truth, (panels, votes), 1 / self.sizes[panels])
        labels = truth.shape[1]
        accuracies = np.full(len(self.names), np.nan)
        for _ in range(200 if labels > 1 else 0):
            previous = accuracies
            right_votes = np.bincount(names, truth[panels, votes])
            accuracies = np.clip(right_votes / np.bincount(names), 1e-6, 1 - 1e-6)
            log_odds = np.log(accuracies / ((1 - accuracies) / (labels - 1)))
            logs = np.tile(np.log(truth.mean(axis=0) + 1e-12), (len(truth), 1))
            np.add.at(logs, (panels, votes), log_odds[names])
            truth = softmax(logs, axis=1)
            if np.allclose(accuracies, previous, rtol=0, atol=1e-8):
                break
        return accuracies


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
