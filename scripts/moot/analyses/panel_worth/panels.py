"""Panels: the correlation of errors, effective votes, and what independent members would reach."""

import numpy as np
import pandas as pd

from moot.stats.arrays import Floats, as_numbers, ratio
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
        answers = answers.assign(is_wrong=answers["prediction"] != answers["target"])
        by_name = answers.groupby(["panel", "member"])["is_wrong"]
        members = by_name.size().unstack(fill_value=0)
        self.names = members.columns
        self.cases = answers.groupby("panel")["case_id"].first().tolist()
        self.members = as_numbers(members)
        self.wrong_members = as_numbers(by_name.sum().unstack(fill_value=0))
        self.sizes, self.wrong_counts = self.members.sum(axis=1), self.wrong_members.sum(axis=1)
        self.right_counts = self.sizes - self.wrong_counts
        self.majority_right = np.heaviside(self.right_counts - self.wrong_counts, 0.5)
        votes = answers.groupby(["panel", "prediction"]).size()
        equal_pairs = as_numbers((votes * (votes - 1)).groupby("panel").sum())
        self.agreement = equal_pairs / np.maximum(self.sizes * (self.sizes - 1), 1)
        self.coincidences = min(self.wrong_counts, self.right_counts, key=np.sum) > 1

    def accuracy(self, names: list[int] | slice = slice(None)) -> Statistic:
        """Return the share of members who are right, by default of all names."""
        members, wrong_members = self.members[:, names], self.wrong_members[:, names]
        return ratio_statistic((members - wrong_members).sum(axis=1), members.sum(axis=1), SHARE)

    def error_correlation(self) -> Statistic:
        """Return the correlation of errors of two members of a panel (phi), averaged over pairs.

        It is a ratio of sums, so that a member who is almost always right matters little. The lower
        bound is that of members who are never wrong together, or never right if that is rarer
        (Fréchet 1951), averaged alike: errors are often rare, and on the log odds above -1
        intervals cover too little.
        """
        members, wrong_members = self.members, self.wrong_members

        def correlation(weights: Floats) -> Floats:
            error = ratio(weights @ wrong_members, weights @ members, 0.0)
            spread = np.sqrt(error * (1 - error))
            deviations = self.wrong_counts - error @ members.T
            # the square of a sum is that of each member, and the pairs between
            singles = (weights @ members * spread**2).sum(axis=1)
            covariance = (weights * deviations**2).sum(axis=1) - singles
            scale = (weights * (spread @ members.T) ** 2).sum(axis=1) - singles
            return ratio(covariance, scale.round(_DIGITS))

        error = ratio(wrong_members.sum(axis=0), members.sum(axis=0), 0.0)
        right = 1 - error
        pairs = members.T @ members - np.diag(members.sum(axis=0))
        furthest = (pairs * np.minimum(np.outer(error, error), np.outer(right, right))).sum()
        spread = np.sqrt(error * right)
        low = -float(ratio(furthest, spread @ pairs @ spread, 1.0))
        # panels of unequal sizes can lie beyond it
        low = low if correlation(np.ones((1, len(members))))[0] > low else -1.0
        return Statistic(correlation, (low, 1.0), self.coincidences)

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
                panels_of_kind = weights[:, kinds == kind].sum(axis=1)
                total += panels_of_kind * (more_than_half + at_least_half) / 2
            return ratio(total, weights.sum(axis=1))

        return Statistic(share_right, SHARE)


def effective_votes(size: float, correlation: float) -> float:
    """Return the number of independent votes whose mean varies as much; NaN if there is none."""
    inflation = 1 + (size - 1) * correlation
    return size / inflation if round(inflation, _DIGITS) > 0 else float("nan")


def difference(first: Statistic, second: Statistic, largest: float = 1.0) -> Statistic:
    """Return the first statistic less the second, between -`largest` and `largest`."""
    return Statistic(lambda weights: first(weights) - second(weights), (-largest, largest))
