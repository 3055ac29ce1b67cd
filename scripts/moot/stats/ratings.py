"""Ratings from pairwise comparisons: a Bradley-Terry model with ties and further terms.

The model: with strengths b and terms g of a pair's features x, eta = b_first - b_second + g x, and
the first wins, the second wins, or neither does in the proportions exp(eta / 2) : exp(-eta / 2) :
nu (Davidson 1970, "On extending the Bradley-Terry model to accommodate ties in paired comparison
experiments", JASA 65; terms as in Agresti 2013, "Categorical Data Analysis", section 11.6).
Strengths have finite estimates within a group in which chains of wins (or ties) lead from each
member to every other (Ford 1957, American Mathematical Monthly 64). Strengths are relative to the
mean of the largest such group.

Verdicts of one cluster (a topic) are dependent. Therefore variances come from the jackknife, which
leaves out one cluster at a time (Efron and Stein 1981, "The jackknife estimate of variance", Annals
of Statistics 9). The degrees of freedom of t are one less than the number of clusters. Sandwich
variances are too small with few clusters: with 10 topics their intervals cover 71 % of strengths. A
term's interval applies to the judges in the data, since judges are not left out.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.stats.arrays import Floats, Truths, as_numbers
from moot.stats.score_intervals import LEVEL

FIRST, TIE, SECOND = 0.5, 0.0, -0.5
"""Outcomes of a pair."""
MIN_TOPICS = 10
_PRIOR = 1e-4
"""The weight of a pull towards 0. It keeps unbounded estimates finite (a debater who always wins)
and barely changes all others.
"""
_MAX_PRIOR_SHARE = 0.01
"""The maximum share of the pull in the information about an estimate. The share is far above it if
nothing else bounds the estimate, and far below it otherwise.
"""

_MAX_NEWTON_STEPS = 30
_MIN_STEP = 1e-6
_MAX_LOSS_LEFT = 1e-9


@dataclass(frozen=True, slots=True)
class RatingEstimate:
    """A strength or the effect of a term, in log odds, with its 95 % interval.

    The interval is NaN with too few clusters. It is also NaN if nothing bounds the estimate, as for
    a debater who always wins or a judge who always names the same side.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """The result of fitting a model of pairs.

    Attributes:
        strengths: by name, minus the mean of the largest group that chains of wins connect; names
            outside the group have no interval.
        terms: by name.
        ties: the probability of a tie between equals.
        pairs, clusters: how many there are.
    """

    strengths: Mapping[str, RatingEstimate]
    terms: Mapping[str, RatingEstimate]
    ties: float
    pairs: int
    clusters: int


def fit_ratings(
    first: Sequence[str],
    second: Sequence[str],
    outcomes: Floats,
    clusters: Sequence[Hashable],
    terms: Mapping[str, Floats] | None = None,
    weights: Floats | None = None,
) -> Ratings | None:
    """Fit strengths and terms to pairs; return None if fewer than two names were compared.

    Pairs without an outcome, a weight above 0 or a term are left out.

    Args:
        first, second: the two names of each pair.
        outcomes: FIRST, SECOND or TIE, shape (pairs,).
        clusters: of each pair.
        terms: features that favour the first name if they are above 0, each of shape (pairs,).
        weights: of each pair.
    """
    terms = terms or {}
    weights = np.ones(len(outcomes)) if weights is None else weights
    numbers = np.stack([as_numbers(outcomes), as_numbers(weights), *terms.values()])
    counts = np.isfinite(numbers).all(axis=0) & (as_numbers(weights) > 0)
    if not counts.all():
        positions = np.flatnonzero(counts).tolist()
        return fit_ratings(
            [first[position] for position in positions],
            [second[position] for position in positions],
            outcomes[counts],
            [clusters[position] for position in positions],
            {name: values[counts] for name, values in terms.items()},
            weights[counts],
        )
    names = sorted({*first, *second})
    if len(names) <= 1:
        return None
    columns = [
        as_numbers(np.asarray(first) == name) - as_numbers(np.asarray(second) == name)
        for name in names
    ]
    features = np.stack([*columns, *terms.values()], axis=1)
    model = _Davidson(features, as_numbers(outcomes), weights)
    parameters = model.fit()
    is_joined = _largest_joined_group(features[:, : len(names)], model.outcomes)
    reference_group = is_joined if is_joined.any() else np.ones(len(names), dtype=bool)
    contrast_weights = np.eye(len(parameters))[:-1]
    contrast_weights[: len(names), : len(names)] -= reference_group / reference_group.sum()
    codes = pd.factorize(np.asarray(list(map(repr, clusters))))[0]
    number = int(codes.max()) + 1
    errors = np.full(len(contrast_weights), np.nan)
    if number >= MIN_TOPICS:
        covariance = model.covariance(parameters, codes)
        errors = np.sqrt(np.einsum("ij,jk,ik->i", contrast_weights, covariance, contrast_weights))
    errors[model.prior_share(parameters, contrast_weights) > _MAX_PRIOR_SHARE] = np.nan
    estimates = _with_intervals(contrast_weights @ parameters, errors, number)
    strengths = dict(zip(names, estimates, strict=False))
    ties = float(np.exp(parameters[-1]) / (2 + np.exp(parameters[-1]))) if model.has_ties else 0.0
    return Ratings(
        strengths,
        dict(zip(terms, estimates[len(names) :], strict=True)),
        ties,
        len(features),
        number,
    )


def _largest_joined_group(sides: Floats, outcomes: Floats) -> Truths:
    """Return which names form the largest connected group.

    In it each name beats or ties every other, directly or through further names of the group.

    None if every group has a single name.

    Args:
        sides: 1 for the first and -1 for the second of a pair, shape (pairs, names).
        outcomes: of each pair.
    """
    from scipy.sparse.csgraph import (
        connected_components,
    )  # registries are read at every start of Snakemake

    first, second = as_numbers(sides > 0), as_numbers(sides < 0)
    beaten = (
        first[outcomes >= TIE].T @ second[outcomes >= TIE]
        + second[outcomes <= TIE].T @ first[outcomes <= TIE]
    )
    _, groups = connected_components(beaten, connection="strong")
    sizes = np.bincount(groups)
    is_joined: Truths = (groups == sizes.argmax()) & (sizes.max() > 1)
    return is_joined


def _with_intervals(values: Floats, errors: Floats, clusters: int) -> list[RatingEstimate]:
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    reach = float(stdtrit(max(1, clusters - 1), (1 + LEVEL) / 2))
    return [
        RatingEstimate(float(value), float(value - reach * error), float(value + reach * error))
        for value, error in zip(values, errors, strict=True)
    ]


class _Davidson:
    """The likelihood of pairs; the last parameter is the logarithm of nu."""

    def __init__(self, features: Floats, outcomes: Floats, weights: Floats) -> None:
        self.features, self.outcomes, self.weights = features, outcomes, weights / weights.mean()
        self.tied = as_numbers(outcomes == TIE)
        self.has_ties = bool(self.tied.any())
        self.size = features.shape[1] + 1

    def fit(self) -> Floats:
        """Return the maximum likelihood estimates of the parameters."""
        from scipy.optimize import minimize

        start = np.zeros(self.size)
        result = minimize(
            self._loss, start, jac=self._slope, hess=self._curvature, method="trust-exact", tol=1e-8
        )
        return as_numbers(result.x)

    def covariance(self, parameters: Floats, clusters: NDArray[np.intp]) -> Floats:
        """Return the covariance of the parameters, by leaving out each cluster once.

        The shape is (parameters, parameters).
        """
        estimates = []
        for cluster in range(int(clusters.max()) + 1):
            remains = clusters != cluster
            model = _Davidson(self.features[remains], self.outcomes[remains], self.weights[remains])
            estimates.append(model.refit(parameters))
        deviations = np.stack(estimates) - np.mean(estimates, axis=0)
        return as_numbers(deviations.T @ deviations * (1 - 1 / len(estimates)))

    def refit(self, start: Floats) -> Floats:
        """Return the maximum likelihood estimates by Newton's method from close parameters."""
        parameters, loss = start, self._loss(start)
        for _ in range(_MAX_NEWTON_STEPS):
            step = np.linalg.solve(self._curvature(parameters), self._slope(parameters))
            length = 1.0
            while (
                new_loss := self._loss(parameters - length * step)
            ) > loss and length > _MIN_STEP:
                length /= 2
            parameters, is_close = parameters - length * step, loss - new_loss < _MAX_LOSS_LEFT
            loss = new_loss
            if is_close:
                break
        return as_numbers(parameters)

    def prior_share(self, parameters: Floats, weights: Floats) -> Floats:
        """Return the pull's share of the information about sums of parameters, shape (sums,).

        `weights`: their weights, shape (sums, parameters).
        """
        parts = weights @ np.linalg.inv(self._curvature(parameters))
        return as_numbers(_PRIOR * (parts**2).sum(axis=1) / (parts * weights).sum(axis=1))

    def _shares(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """Return expected outcomes, chances of a tie, and the logarithms of the proportions'
        sums.
        """
        eta = self.features @ parameters[:-1]
        parts = np.stack(
            [eta / 2, -eta / 2, np.full_like(eta, parameters[-1] if self.has_ties else -np.inf)]
        )
        log_totals = np.logaddexp.reduce(parts, axis=0)
        first, second, tied = np.exp(parts - log_totals)
        return (first - second) / 2, tied, log_totals

    def _loss(self, parameters: Floats) -> float:
        likelihood = (
            self.outcomes * (self.features @ parameters[:-1])
            + self.tied * parameters[-1]
            - self._shares(parameters)[2]
        )
        return float(_PRIOR * (parameters @ parameters) / 2 - self.weights @ likelihood)

    def _slope(self, parameters: Floats) -> Floats:
        return as_numbers(_PRIOR * parameters - self._scores(parameters).sum(axis=0))

    def _scores(self, parameters: Floats) -> Floats:
        """Return the gradient of each pair's likelihood, shape (pairs, parameters)."""
        expected, tied, _ = self._shares(parameters)
        of_features = (self.outcomes - expected)[:, None] * self.features
        return as_numbers(self.weights[:, None] * np.column_stack([of_features, self.tied - tied]))

    def _curvature(self, parameters: Floats) -> Floats:
        expected, tied, _ = self._shares(parameters)
        spread = self.weights * ((1 - tied) / 4 - expected**2)
        cross = self.features.T @ (self.weights * -expected * tied)
        curvature = np.empty((self.size, self.size))
        curvature[:-1, :-1] = self.features.T @ (spread[:, None] * self.features)
        curvature[-1, :-1] = curvature[:-1, -1] = cross
        curvature[-1, -1] = self.weights @ (tied * (1 - tied))
        return curvature + _PRIOR * np.eye(self.size)
