"""Panels: the correlation of errors, effective votes, and what independent members would reach."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from moot.report.notes import NO_TRUTH
from moot.report.study_results import Run
from moot.scores.panel_metrics import answers_of_seats
from moot.stats.arrays import Floats, Truths, as_numbers, ratio
from moot.stats.statistic import SHARE, Statistic, ratio_statistic

MIN_NAMED_PANELS, MAX_NAMES = 8, 20
"""The mean number of panels of a name, and the number of names, with which each name counts."""
_DIGITS = 12  # rounding leaves 1e-17 instead of 0 where no pair counts
SEPARATOR = " · "
SINGLE, FIRST, LAST = "answers", "first answers", "last answers"
MIDDLE = ("second answers", "third answers", "fourth answers", "fifth answers")
"""The answers between the first and the last that have rows."""
ONE_MEMBER = "two members: no case has answers with a label of two members, judges or repeats"


def gather_members(run: Run) -> tuple[str, pd.DataFrame, str]:
    """Return the answers of a run's members, in panels of at least two.

    Returns:
        The kind of the members; a row for each answer, with its panel, case_id, member, moment,
        prediction and target ("" if unknown); the reason why a measure is missing, or "". Cases
        without a true label are left out if others have one. All cases may have the same true
        label, such as `right` for groups that solve a puzzle.
    """
    debates = list(_answers_of_debates(run))
    rows = run.valid[run.valid["case_id"].notna()]
    names = rows[["judge", "persona", "judge_repeat"]].astype(object).fillna("").astype(str)
    judges = (names["judge"] + SEPARATOR + names["persona"]).str.strip(SEPARATOR)
    has_judges = judges.nunique() > 1
    if len(debates) > 1 or (debates and not has_judges):
        kind, answers = "members of a debate", pd.concat(debates).query("prediction != ''")
    else:
        kind = "judges of a debate" if has_judges else "repeats of a debate"
        panels = rows["case_id"]
        if has_judges:  # the same judge who is asked again belongs to another panel
            panels = panels + "#" + rows["repeat"].astype(str) + "#" + names["judge_repeat"]
        answers = rows.assign(panel=panels, member=judges, moment=SINGLE)
        answers = answers[answers.groupby("panel")["panel"].transform("size") > 1]
    answers = answers.fillna({"target": ""})
    has_truth = answers["target"] != ""
    if run.results.task.multilabel:
        reason = "a single label: cases have several labels at once"
    elif answers.empty:
        reason = ONE_MEMBER
    else:
        reason = "" if has_truth.any() else NO_TRUTH
    return kind, answers[has_truth] if has_truth.any() else answers, reason


def _answers_of_debates(run: Run) -> Iterator[pd.DataFrame]:
    """Yield the answers of seats after each number of stated opinions."""
    opinions = answers_of_seats(run.results, run.model)
    opinions = opinions.rename(columns={"debate_id": "panel", "speaker": "member"})
    if opinions.empty:
        return
    places = opinions.groupby(["panel", "member"]).cumcount()
    rounds = int(places.max()) + 1
    moments = dict(enumerate((FIRST, *MIDDLE)[: rounds - 1], start=1))
    moments[rounds] = LAST if moments else SINGLE
    for count, moment in moments.items():
        answers = opinions[places < count].drop_duplicates(["panel", "member"], keep="last")
        yield answers.assign(moment=moment)


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
            covariance, scale = self._products_of_pairs(weights)
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

    def correlation_between(self, groups: Sequence[str]) -> float:
        """Return the correlation of errors of two members whose names are in different groups."""
        weights = np.ones((1, len(self.members)))
        products = self._products_of_pairs(weights)
        for group in set(groups):
            products = products - self._products_of_pairs(weights, np.array(groups) == group)
        return float(ratio(*products.round(_DIGITS))[0])

    def _products_of_pairs(self, weights: Floats, names: Truths | slice = slice(None)) -> Floats:
        """Return what the error correlation of pairs of members is made of, shape (2, samples).

        The first row is the sum over pairs of the product of their errors' deviations, the second
        that of the product of their standard deviations.
        """
        members, wrong_members = self.members[:, names], self.wrong_members[:, names]
        error = ratio(weights @ wrong_members, weights @ members, 0.0)
        spread = np.sqrt(error * (1 - error))
        deviations = wrong_members.sum(axis=1) - error @ members.T
        # the square of a sum is that of each member, and the pairs between
        sums = np.stack([deviations, spread @ members.T])
        singles = (weights @ members * spread**2).sum(axis=1)
        return as_numbers((weights * sums**2).sum(axis=2) - singles)

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
