"""Components of variance: the shares between cases, between judges, and between repeated questions.

The model: an answer is a mean, an independent effect of each facet (case, judge, ...) and of each
combination of facets that the design shows, and a residual (Searle, Casella and McCulloch 1992,
"Variance Components", chapter 5; Brennan 2001, "Generalizability Theory", chapter 3). For each set
of facets, take the sum of squares of answers around the mean of the answers that share the set's
levels. Its expectation is a known multiple of each component: for n answers, n minus the sum over
the component's levels of their squared numbers over n. These equations are solved (Henderson 1953,
"Estimation of variance and covariance components", Biometrics 9, method 1). The estimates are
unbiased for crossed, nested and unbalanced designs without an assumption on the distribution, so
right and wrong answers are on the scale of probabilities. For one facet, and in balanced designs,
they equal the estimates of the analysis of variance. Estimates of a small component may be negative
and are not changed, since this keeps them unbiased.

For answers in words, half the squared difference is 1 if two answers differ (Light and Margolin
1971, "An analysis of variance for categorical data", JASA 66).

Intervals: each level of a facet is left out once (the jackknife); with several crossed facets the
variances are added, and the variance for the shared levels is subtracted (Cameron, Gelbach and
Miller 2011). A share of variance is an intraclass correlation, so its interval uses Student's t
on Fisher's scale, with the degrees of freedom of Satterthwaite (1946); docs/results.md has its
coverage by simulation. If nearly all answers are equal, the jackknife needs many levels: there is
no interval with fewer than `LEVELS_BY_SKEWNESS` times the squared skewness of the answers.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.bootstrap_interval import interval_around
from moot.stats.score_intervals import LEVEL
from moot.stats.statistic import Bounds

FEWEST_LEVELS = 8
"""Minimum number of levels of a random facet; a facet with fewer levels is fixed."""
LEVELS_BY_SKEWNESS = 10
"""Levels that an interval needs, over the squared skewness of the answers."""
FEWEST_PAIRS = 8
"""Of answers that share the same facets; what fewer pairs say is left aside."""
_NO_SPREAD = 1e-12
_ROUNDING = 1e-6
_NORMAL_KURTOSIS = 3.0
_FEWEST_DEFINED = 0.9
Codes = NDArray[np.intp]
Effect = frozenset[str]


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the variance.

    Attributes:
        effect: the facets whose combination it belongs to; empty for the residual.
        confounded: the effects that the design cannot separate from it.
        variance: its estimate, which may be negative.
        share: of the sum of all components.
        low, high: the 95 % interval of the share; NaN if no facet has enough levels.
        levels: the number of observed levels (or combinations of levels).
    """

    effect: Effect
    confounded: tuple[Effect, ...]
    variance: float
    share: float
    low: float
    high: float
    levels: int


@dataclass(frozen=True, slots=True)
class Decomposition:
    """All components of the variance of some answers.

    Attributes:
        components: in the order of their facets, main effects first, the residual last.
        answers: their number.
        fixed: facets with too few levels to represent others; all intervals apply to these levels.
        left_out: facets that do not vary.
    """

    components: tuple[Component, ...]
    answers: int
    fixed: tuple[str, ...]
    left_out: tuple[str, ...]


def decompose(
    values: Floats,
    facets: Mapping[str, Sequence[Hashable]],
) -> Decomposition | None:
    """Return the components of variance of some answers.

    None if all answers are equal, no facet varies, or there are too few pairs.

    Args:
        values: the value of each answer, shape (answers,); for answers in words, one column per
            word, 1 for the given word.
        facets: the case, the judge, ... of each answer; a facet nested in another (a debate of a
            case) has distinct names in each of its levels.
    """
    columns = as_numbers(values).reshape(len(values), -1 if len(values) else 1)
    codes = {
        name: pd.factorize(np.asarray(list(map(repr, levels))))[0]
        for name, levels in facets.items()
    }
    varied = {
        name: facet_codes
        for name, facet_codes in codes.items()
        if len(facet_codes) and facet_codes.max() > 0
    }
    if not varied or np.ptp(columns, axis=0).max() <= _NO_SPREAD:
        return None
    squares = _Squares(columns, varied)
    system = _System.from_design(squares)
    if not system.equations:
        return None
    variances = system.solve(squares)[0]
    if variances.sum() <= _NO_SPREAD:
        return None
    random = [name for name in varied if squares.levels(frozenset({name})) >= FEWEST_LEVELS]
    errors, freedoms = _jackknife(squares, system, random, variances)
    levels = min((squares.levels(frozenset({name})) for name in random), default=0)
    if levels < LEVELS_BY_SKEWNESS * _squared_skewness(columns):
        errors = np.full_like(errors, np.nan)
    return Decomposition(
        tuple(_components(squares, system, variances, errors, freedoms)),
        len(columns),
        tuple(name for name in varied if name not in random),
        tuple(name for name in facets if name not in varied),
    )


def _squared_skewness(columns: Floats) -> float:
    """Return the largest squared skewness of the columns; a column without spread has none."""
    deviations = columns - columns.mean(axis=0)
    squares = (deviations**2).mean(axis=0)
    cubes = (deviations**3).mean(axis=0)
    return float(ratio(cubes**2, squares**3, 0.0).max())


def _components(
    squares: "_Squares", system: "_System", variances: Floats, errors: Floats, freedoms: Floats
) -> "list[Component]":
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    shares = variances / variances.sum()
    components = []
    for position, effects in enumerate(system.effects):
        share, error = float(shares[position]), float(errors[position])
        low, high = float("nan"), float("nan")
        if np.isfinite(error) and error > _NO_SPREAD:
            quantile = float(stdtrit(freedoms[position], (1 + LEVEL) / 2))
            low, high = interval_around(share, error, quantile, _bounds(squares, effects[0], share))
        levels = squares.levels(effects[0])
        components.append(
            Component(
                effects[0],
                effects[1:],
                float(variances[position]),
                share,
                low,
                high,
                levels,
            )
        )
    return components


def _bounds(squares: "_Squares", effect: Effect, share: float) -> Bounds:
    """Return the least and the greatest share that an estimate can have: an intraclass correlation
    of k answers, or of means of answers, lies above -1 / (k - 1).
    """
    finer = (
        [squares.levels(facets) for facets in squares.shared if effect < facets] if effect else []
    )
    units = [number for number in (*finer, len(squares.values)) if number > squares.levels(effect)]
    levels = squares.levels(effect or squares.shared[-1])
    smallest_share = -1 / (max(2.0, min(units or [0]) / levels) - 1)
    low, high = (smallest_share, 1.0) if effect else (0.0, 1 - smallest_share)
    return (low if share > low else low - 2 * (low - share) - 1), (
        high if share < high else 2 * share
    )


class _Squares:
    """Sums of squares within groups of answers that share facets, and the components' shares in
    them.
    """

    def __init__(self, values: Floats, codes: Mapping[str, Codes]) -> None:
        self.values, self.codes = values, codes
        self.shared = _subsets(list(codes))
        self._groups = {facets: self._group(facets) for facets in self.shared}

    def _group(self, facets: Effect) -> Codes:
        group = np.zeros(len(self.values), dtype=np.intp)
        for name in sorted(facets):
            group = np.unique(
                group * (self.codes[name].max() + 1) + self.codes[name], return_inverse=True
            )[1]
        return group

    def levels(self, facets: Effect) -> int:
        """Return how many combinations of levels there are."""
        return int(self._groups[facets].max()) + 1

    def closure(self, facets: Effect) -> Effect:
        """Return these facets and all facets that they determine."""
        equivalent_sets = (
            candidate
            for candidate in self.shared
            if facets <= candidate and self.levels(candidate) == self.levels(facets)
        )
        return max(equivalent_sets, key=len)

    def number_of_pairs(self) -> Floats:
        """Count the pairs of answers that share exactly these facets, shape (sets of facets,)."""
        pairs = np.zeros(len(self.shared))
        for position, facets in enumerate(self.shared):
            sizes = np.bincount(self._groups[facets]).astype(np.float64)
            pairs[position] = (sizes * (sizes - 1) / 2).sum()
        for name in self.codes:
            for position, facets in enumerate(self.shared):
                if name not in facets:
                    pairs[position] -= pairs[self.shared.index(facets | {name})]
        return pairs

    def sum_within(self, facets: Effect, left_out: Effect | None = None) -> Floats:
        """Return the sum of squares of answers around the mean of those that share some facets.

        Returns:
            Shape (1,), or without each level of `left_out`, shape (levels,).
        """
        group = self._groups[facets]
        sums = np.stack([_sums(group, column) for column in self.values.T], axis=1)
        squares = _sums(group, (self.values**2).sum(axis=1))
        sizes = _sums(group, np.ones(len(group)))
        total = (squares - _over(sums**2, sizes)).sum()
        if left_out is None:
            return np.array([total])
        cells = _Cells.of(group, self._groups[left_out])
        lost_sums = np.stack([_sums(cells.cell, column) for column in self.values.T], axis=1)
        lost_squares = _sums(cells.cell, (self.values**2).sum(axis=1))
        squares_before = (squares - _over(sums**2, sizes))[cells.groups]
        squares_after = (
            squares[cells.groups]
            - lost_squares
            - _over((sums[cells.groups] - lost_sums) ** 2, sizes[cells.groups] - cells.sizes)
        )
        return as_numbers(total - _sums(cells.levels, squares_before - squares_after))

    def coefficients(
        self, facets: Effect, effect: Effect, left_out: Effect | None = None
    ) -> Floats:
        """Return how often the variance of an effect is in `sum_within`, in the same shape.

        The effect without facets is the residual of each answer.
        """
        group = self._groups[facets]
        by_effect = self._groups[effect] if effect else np.arange(len(group), dtype=np.intp)
        sizes = _sums(group, np.ones(len(group)))
        parts = _Cells.of(group, by_effect)
        squares = _sums(parts.groups, parts.sizes**2)
        total = (sizes - _over(squares[:, None], sizes)).sum()
        if left_out is None:
            return np.array([total])
        cells = _Cells.of(group, self._groups[left_out])
        inner = _Cells.of(parts.cell, self._groups[left_out])
        whole_sizes = parts.sizes[inner.groups]
        first_rows = np.unique(inner.cell, return_index=True)[1]
        lost_squares = _sums(
            cells.cell[first_rows], whole_sizes**2 - (whole_sizes - inner.sizes) ** 2
        )
        terms_before = (sizes - _over(squares[:, None], sizes))[cells.groups]
        rest = sizes[cells.groups] - cells.sizes
        terms_after = rest - _over((squares[cells.groups] - lost_squares)[:, None], rest)
        return as_numbers(total - _sums(cells.levels, terms_before - terms_after))


@dataclass(frozen=True)
class _Cells:
    """The combinations of two groupings that occur.

    Attributes:
        cell: the cell of each answer.
        groups, levels: the codes of both groupings, for each cell.
        sizes: the number of answers in each cell.
    """

    cell: Codes
    groups: Codes
    levels: Codes
    sizes: Floats

    @classmethod
    def of(cls, group: Codes, level: Codes) -> "_Cells":
        """Return the cells of two groupings of the same answers."""
        number = int(level.max()) + 1
        cells, cell = np.unique(group * number + level, return_inverse=True)
        groups, levels = np.divmod(cells, number)
        return cls(cell, groups, levels, _sums(cell, np.ones(len(cell))))


def _sums(group: Codes, values: Floats) -> Floats:
    return as_numbers(np.bincount(group, weights=values))


def _over(columns: Floats, sizes: Floats) -> Floats:
    """Return the sums of columns over sizes; 0 for a size of 0."""
    return ratio(columns.sum(axis=1), sizes, 0.0)


@dataclass(frozen=True)
class _System:
    """Which components can be separated, and how they follow from sums of squares.

    Attributes:
        equations: the sets of facets that enough pairs share exactly.
        effects: for each unknown the effects that it combines, the simplest first; empty for the
            residual.
    """

    equations: tuple[Effect, ...]
    effects: tuple[tuple[Effect, ...], ...]

    @classmethod
    def from_design(cls, squares: _Squares) -> "_System":
        """Return the system of a design."""
        has_pairs = squares.number_of_pairs() > FEWEST_PAIRS - 0.5
        patterns = [
            facets
            for facets, is_sufficient in zip(squares.shared, has_pairs, strict=True)
            if is_sufficient
        ]
        simplest: dict[Effect, list[Effect]] = {}
        for effect in squares.shared[1:]:
            equivalent_effects = simplest.setdefault(squares.closure(effect), [])
            equivalent_effects += [effect] * (
                not equivalent_effects or len(effect) == len(equivalent_effects[0])
            )
        unknowns: dict[tuple[bool, ...], list[Effect]] = {}
        for closure, effects in simplest.items():
            unknowns.setdefault(tuple(not closure <= pattern for pattern in patterns), []).extend(
                effects
            )
        residual_effects = unknowns.pop((True,) * len(patterns), [])
        unknowns = {column: effects for column, effects in unknowns.items() if any(column)}
        columns: list[tuple[bool, ...]] = [(True,) * len(patterns)]
        for column in list(unknowns):
            if np.linalg.matrix_rank(np.array([*columns, column], dtype=float)) == len(columns) + 1:
                columns.append(column)
            else:  # the equations do not suffice for it: it is taken not to matter
                del unknowns[column]
        return cls(
            tuple(patterns), (*map(tuple, unknowns.values()), (frozenset(), *residual_effects))
        )

    def solve(self, squares: _Squares, left_out: Effect | None = None) -> Floats:
        """Return the components, shape (1, unknowns), or without each level of `left_out`, shape
        (levels, unknowns); NaN if an equation is gone.
        """
        sums = np.stack([squares.sum_within(facets, left_out) for facets in self.equations], axis=1)
        rows = []
        for facets in self.equations:
            row = [squares.coefficients(facets, effects[0], left_out) for effects in self.effects]
            rows.append(np.stack(row, axis=1))
        matrices = np.stack(rows, axis=1)
        answers = matrices[:, :, -1]  # degrees of freedom within
        is_left = np.asarray(answers > _ROUNDING)
        scale = np.where(is_left, answers, 1.0)
        is_defined = np.asarray(is_left.all(axis=1))
        inverses = np.linalg.pinv(matrices / scale[:, :, None])
        solutions = np.einsum("lue,le->lu", inverses, sums / scale)
        return np.where(is_defined[:, None], solutions, np.nan)


def _jackknife(
    squares: _Squares, system: _System, random: Sequence[str], components: Floats
) -> tuple[Floats, Floats]:
    """Return the standard errors of the shares, and the degrees of freedom of each."""
    independent = [name for name in random if not _is_within_any(squares, name, containers=random)]
    variances, single = [np.zeros_like(components)], []
    for kind in _subsets(independent)[1:]:
        solutions = system.solve(squares, kind)
        shares = ratio(solutions, solutions.sum(axis=1, keepdims=True))
        defined = ~np.isnan(shares).any(axis=1)
        number = int(defined.sum())
        spread = np.full_like(components, np.nan)
        if number >= max(FEWEST_LEVELS, _FEWEST_DEFINED * len(shares)):
            spread = (number - 1) * np.var(shares[defined], axis=0)
        variances.append(spread if len(kind) % 2 else -spread)
        if len(kind) == 1:
            single.append((spread, _freedom(shares[defined])))
    if not single:
        return np.full_like(components, np.nan), np.ones_like(components)
    single_spreads = np.stack([spread for spread, _ in single])
    both = np.maximum(np.sum(variances, axis=0), single_spreads.max(axis=0))
    freedom = ratio(
        single_spreads.sum(axis=0) ** 2,
        np.sum([spread**2 / size for spread, size in single], axis=0),
    )
    return np.sqrt(both), freedom


def _freedom(shares: Floats) -> Floats:
    """Return the degrees of freedom of the variance of jackknifed shares, shape (components,).

    With n normal shares the variance has n - 1. If few levels carry it, because they have most of
    the answers, it has 2 n / (kurtosis - 1), which is less.
    """
    number = len(shares)
    deviations = shares - shares.mean(axis=0)
    squares = (deviations**2).mean(axis=0)
    kurtosis = ratio((deviations**4).mean(axis=0), squares**2, _NORMAL_KURTOSIS)
    by_kurtosis = 2 * number / np.maximum(kurtosis - 1, 1.0)
    return np.clip(by_kurtosis, 1.0, max(1.0, number - 1.0))


def _subsets(names: Sequence[str]) -> list[Effect]:
    """Return the sets of some names, the empty one first, then by size."""
    subsets: list[Effect] = []
    for size in range(len(names) + 1):
        subsets += map(frozenset, combinations(names, size))
    return subsets


def _is_within_any(squares: _Squares, name: str, containers: Sequence[str]) -> bool:
    """Return whether each level of a facet belongs to a level of one of the containers."""
    return any(_is_within(squares, name, container, containers) for container in containers)


def _is_within(squares: _Squares, name: str, container: str, among: Sequence[str]) -> bool:
    """Return whether each level of a facet belongs to one of another; of two that are the same, the
    later one is.
    """
    if name == container or container not in squares.closure(frozenset({name})):
        return False
    return name not in squares.closure(frozenset({container})) or among.index(
        container
    ) < among.index(name)
