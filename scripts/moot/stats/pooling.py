"""Partial pooling: each case's or judge's estimate, drawn towards that of all as far as its own
answers are few.

The model: the true shares of the levels of a facet (cases, judges, ...) have a beta distribution,
and each level's own answers say as much as so many independent ones (Gelman et al. 2013, "Bayesian
Data Analysis", section 5.3). How many follows from the components of variance of
`moot.stats.components`: it is the variance of one answer over that of the level's mean, adjusted
for the other facets by generalised least squares (Searle, Casella and McCulloch 1992, "Variance
Components", chapter 7). Answers between 0 and 1 count for more, as far as they vary less than those
of 0 and 1 (Williams 1982, "Extra-binomial variation in logistic linear models", Applied Statistics
31).

Of the mean of all levels and of the correlation of two answers of one level, every value is equally
probable beforehand, and estimates are averages over what the data say of both: a single best value
of the correlation is often 0 where levels are few, and would give intervals of no width.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.stats.bootstrap import LEVEL, Floats, as_numbers
from moot.stats.components import Decomposition

FEWEST_LEVELS = 4
"""Fewer say nothing of how far levels lie apart."""
_GRID = (np.arange(60) + 0.5) / 60
_LEAST_LEFT = 1e-6
"""Of all variance: what is left is not taken to be less, so that every answer has some error."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """The estimate of one level.

    Attributes:
        level: the case, judge, ...
        answers: how many are its own.
        raw: their mean.
        value, low, high: the partially pooled mean with its 95 % interval.
        borrowed: the weight that the mean of all levels has in it, 0 to 1; the level's own answers
            have the rest.
    """

    level: Hashable
    answers: int
    raw: float
    value: float
    low: float
    high: float
    borrowed: float


def partially_pooled(
    values: Floats, facets: Mapping[str, Sequence[Hashable]], of: str, found: Decomposition
) -> list[Pooled]:
    """The raw and the partially pooled mean of every level of a facet.

    Args:
        values: of each answer, 0 to 1, shape (answers,).
        facets: of each answer its case, its judge, ...
        of: the facet whose levels are estimated.
        found: the components of variance of these answers.
    """
    from scipy.stats import beta  # registries are read at every start of Snakemake

    codes, levels = pd.factorize(np.asarray(facets[of], dtype=object))
    of_levels, others = _told_apart(codes, facets, found)
    means, worth = _adjusted(values, _indicators(codes), others, of_levels, found)
    value, variance, borrowed = _posterior(means, worth)
    strength = value * (1 - value) / variance - 1
    tail = (1 - LEVEL) / 2
    low, high = (
        as_numbers(beta.ppf(side, value * strength, (1 - value) * strength))
        for side in (tail, 1 - tail)
    )
    answers = np.bincount(codes)
    raw = as_numbers(np.bincount(codes, values) / answers)
    return [
        Pooled(
            level,
            int(answers[at]),
            *(float(column[at]) for column in (raw, value, low, high, borrowed)),
        )
        for at, level in enumerate(levels)
    ]


def _posterior(means: Floats, worth: Floats) -> tuple[Floats, ...]:
    """Mean and variance of each level's true share, and the weight of the mean of all.

    Args:
        means: of the levels' answers, shape (levels,).
        worth: how many independent answers each rests on.
    """
    from scipy.special import betaln  # as above

    common, correlation = (grid.ravel()[:, None] for grid in np.meshgrid(_GRID, _GRID))
    prior = 1 / correlation - 1  # what the mean of all levels counts for, in answers
    yes, no = prior * common + worth * means, prior * (1 - common) + worth * (1 - means)
    likelihood = (betaln(yes, no) - betaln(prior * common, prior * (1 - common))).sum(axis=1)
    weights = np.exp(likelihood - likelihood.max())
    weights /= weights.sum()
    all_of_it = yes + no
    share = yes / all_of_it
    value = weights @ share
    variance = weights @ (share * (1 - share) / (all_of_it + 1) + share**2) - value**2
    return value, variance, as_numbers(weights @ (prior / all_of_it))


def _adjusted(
    values: Floats, own: Any, others: Any, of_levels: float, found: Decomposition
) -> tuple[Floats, Floats]:
    """The levels' means, adjusted for the other facets, and how many independent answers each is
    worth.
    """
    from scipy.sparse import identity  # as above
    from scipy.sparse.linalg import splu

    parts = {part.effect: max(part.variance, 0.0) for part in found.components}
    every = sum(parts.values())
    left = max(parts.get(frozenset(), 0.0), _LEAST_LEFT * every)
    solver = splu((identity(others.shape[1]) + others.T @ others / left).tocsc())
    columns = np.column_stack([values, own.toarray()])
    weighed = (
        columns - others @ solver.solve(others.T @ columns / left)
    ) / left  # Woodbury's identity
    covariance = np.linalg.inv(own.T @ weighed[:, 1:])
    levels = len(covariance)
    shared = (covariance.sum() - np.trace(covariance)) / (
        levels * (levels - 1)
    )  # by all levels alike: the same cases
    within = max(every - of_levels, left)
    overall = values.mean()
    of_answers = (
        left / as_numbers(own.sum(axis=0)).ravel()
    )  # no mean is surer than its own answers let it be
    errors = np.maximum(np.diag(covariance) - shared, of_answers)
    worth = within * (overall * (1 - overall) / every) / errors
    return np.clip(covariance @ (own.T @ weighed[:, 0]), 0, 1), worth


def _told_apart(
    codes: NDArray[np.intp], facets: Mapping[str, Sequence[Hashable]], found: Decomposition
) -> tuple[float, Any]:
    """The variance between the levels, and which level of each other effect an answer has, times
    the effect's standard deviation. What is the same in all answers of a level (the court of a
    case) is the level's own.
    """
    from scipy.sparse import csr_matrix, hstack  # as above

    of_levels, columns = 0.0, []
    for part in found.components:
        if part.effect and part.variance > 0:
            of_effect = pd.factorize(
                pd.MultiIndex.from_arrays([list(map(repr, facets[name])) for name in part.effect])
            )[0]
            if pd.Series(of_effect).groupby(codes).nunique().max() == 1:
                of_levels += part.variance
            else:
                columns.append(_indicators(of_effect) * np.sqrt(part.variance))
    return of_levels, hstack(columns).tocsr() if columns else csr_matrix((found.answers, 0))


def _indicators(codes: Any) -> Any:
    from scipy.sparse import csr_matrix  # as above

    return csr_matrix((np.ones(len(codes)), (np.arange(len(codes)), codes)))
