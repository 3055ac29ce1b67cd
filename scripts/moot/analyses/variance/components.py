"""Components of variance: how much of what varies lies between cases, between judges, and in asking
again.

The model: an answer is a mean, an independent effect of each facet (case, judge, ...) and of each
combination of facets that the design shows, and what is left (Searle, Casella and McCulloch 1992,
"Variance Components", chapter 5; Brennan 2001, "Generalizability Theory", chapter 3). Half the
squared difference of two answers comes to the sum of all components that the two do not share. Its
mean over all pairs that share the same facets gives one equation for each
such set, and these equations are solved: unbiased for crossed, nested and unbalanced designs, with
no assumption of a distribution, so that right and wrong answers are on the scale of probabilities
(Koch 1968, "Some further remarks concerning 'A general approach to the estimation of variance
components'", Technometrics 10). Unbiased estimates of a small component may be negative, and stay
so. In balanced designs they are those of the analysis of variance.

Of answers in words, half the squared difference is 1 where two differ (Light and Margolin 1971, "An
analysis of variance for categorical data", JASA 66).

Intervals: each level of a facet is left out once (the jackknife); of several crossed facets the
variances add, less that of leaving out what both share (Cameron, Gelbach and Miller 2011). A share
of variance is an intraclass correlation, so its interval is that of Student's t on Fisher's scale,
with the degrees of freedom of Satterthwaite (1946); docs/results.md has its coverage by simulation.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.stats.bootstrap import LEVEL, Bounds, Floats, as_numbers, interval_around, ratio

FEWEST_LEVELS = 8
"""Of a facet whose levels stand for others; fewer speak of themselves alone."""
FEWEST_PAIRS = 8
"""Of answers that share the same facets; what fewer pairs say is left aside."""
_NO_SPREAD = 1e-12
_FEWEST_DEFINED = 0.9
Codes = NDArray[np.intp]
Effect = frozenset[str]


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the variance.

    Attributes:
        effect: the facets whose combination it belongs to; none for what is left when all facets
            are the same.
        confounded: what the design cannot tell from it.
        variance: its estimate, negative ones as they are.
        share: of the sum of all components.
        low, high: the 95 % interval of the share; NaN where no facet has levels enough.
        levels: how many levels (or combinations of levels) it was seen at.
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
        components: in the order of their facets, main effects first, what is left last.
        answers: how many there are.
        fixed: facets with too few levels to stand for others: all intervals hold for these levels.
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
    """The components of variance of some answers; None where none differ, no facet varies, or pairs
    are too few.

    Args:
        values: of each answer, shape (answers,); of answers in words one column a word, 1 where
            it is given.
        facets: of each answer its case, its judge, ...; a facet within another (a debate of a
            case) has names of its own for each of its levels.
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
    pairs = _Pairs(columns, varied)
    system = _System.from_pairs(pairs)
    if not len(system.positions):
        return None
    variances = system.solve(*pairs.of_all())
    if variances.sum() <= _NO_SPREAD:
        return None
    random = [name for name in varied if pairs.levels(frozenset({name})) >= FEWEST_LEVELS]
    errors, freedoms = _jackknife(pairs, system, random, variances)
    return Decomposition(
        tuple(_components(pairs, system, variances, errors, freedoms)),
        len(columns),
        tuple(name for name in varied if name not in random),
        tuple(name for name in facets if name not in varied),
    )


def _components(
    pairs: "_Pairs", system: "_System", variances: Floats, errors: Floats, freedoms: Floats
) -> "list[Component]":
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    shares = variances / variances.sum()
    components = []
    for position, effects in enumerate(system.effects):
        share, error = float(shares[position]), float(errors[position])
        low, high = float("nan"), float("nan")
        if np.isfinite(error) and error > _NO_SPREAD:
            quantile = float(stdtrit(freedoms[position], (1 + LEVEL) / 2))
            low, high = interval_around(share, error, quantile, _bounds(pairs, effects[0], share))
        levels = pairs.levels(effects[0])
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


def _bounds(pairs: "_Pairs", effect: Effect, share: float) -> Bounds:
    """The least and the greatest share that an estimate can have: an intraclass correlation of k
    answers, or of means of answers, lies above -1 / (k - 1).
    """
    finer = [pairs.levels(facets) for facets in pairs.shared if effect < facets] if effect else []
    units = [number for number in (*finer, len(pairs.values)) if number > pairs.levels(effect)]
    levels = pairs.levels(effect or pairs.shared[-1])
    smallest_share = -1 / (max(2.0, min(units or [0]) / levels) - 1)
    low, high = (smallest_share, 1.0) if effect else (0.0, 1 - smallest_share)
    return (low if share > low else low - 2 * (low - share) - 1), (
        high if share < high else 2 * share
    )


class _Pairs:
    """Pairs of answers, by the facets that both share: how many, and the sum of half their squared
    differences.
    """

    def __init__(self, values: Floats, codes: Mapping[str, Codes]) -> None:
        self.values, self.codes = values, codes
        names = list(codes)
        self.shared = [
            frozenset(facets)
            for size in range(len(names) + 1)
            for facets in combinations(names, size)
        ]
        self._groups = {facets: self._group(facets) for facets in self.shared}

    def _group(self, facets: Effect) -> Codes:
        group = np.zeros(len(self.values), dtype=np.intp)
        for name in sorted(facets):
            group = np.unique(
                group * (self.codes[name].max() + 1) + self.codes[name], return_inverse=True
            )[1]
        return group

    def levels(self, facets: Effect) -> int:
        """How many combinations of levels there are."""
        return int(self._groups[facets].max()) + 1

    def closure(self, facets: Effect) -> Effect:
        """These facets and all that are the same wherever these are."""
        equivalent_sets = (
            candidate
            for candidate in self.shared
            if facets <= candidate and self.levels(candidate) == self.levels(facets)
        )
        return max(equivalent_sets, key=len)

    def of_all(self) -> tuple[Floats, Floats]:
        """Numbers and sums over all answers, shape (1, sets of shared facets)."""
        numbers, sums, _, _ = self._pair_moments(frozenset())
        return self._sharing_exactly(numbers), self._sharing_exactly(sums)

    def leaving_out(self, facets: Effect) -> tuple[Floats, Floats]:
        """The same without each level of some facets, shape (levels, sets of shared facets)."""
        numbers, sums, lost_numbers, lost_sums = self._pair_moments(facets)
        return self._sharing_exactly(numbers - lost_numbers), self._sharing_exactly(
            sums - lost_sums
        )

    def _pair_moments(self, facets: Effect) -> tuple[Floats, ...]:
        """Of pairs that share at least some facets: numbers and sums, and what of them goes with
        each level.
        """
        parts = [self._moments_without_levels(shared, facets) for shared in self.shared]
        numbers, sums, lost_numbers, lost_sums = zip(*parts, strict=True)
        return (
            np.array([numbers]),
            np.array([sums]),
            np.stack(lost_numbers, axis=1),
            np.stack(lost_sums, axis=1),
        )

    def _moments_without_levels(
        self, shared: Effect, out: Effect
    ) -> tuple[float, float, Floats, Floats]:
        group, level = self._groups[shared], self._groups[out]
        cells, cell = np.unique(group * (level.max() + 1) + level, return_inverse=True)
        groups, levels = np.divmod(cells, level.max() + 1)
        group_moments, cell_moments = self._moments(group), self._moments(cell)
        of_group, of_cell = (
            _half_squares(*group_moments),
            _half_squares(*(one[groups] for one in group_moments)),
        )
        rest = _half_squares(
            *(one[groups] - other for one, other in zip(group_moments, cell_moments, strict=True))
        )
        gone = [_sums(levels, before - after) for before, after in zip(of_cell, rest, strict=True)]
        return float(of_group[0].sum()), float(of_group[1].sum()), gone[0], gone[1]

    def _moments(self, group: Codes) -> tuple[Floats, Floats, Floats]:
        sums = np.stack([_sums(group, column) for column in self.values.T], axis=1)
        return _sums(group, np.ones(len(group))), sums, _sums(group, (self.values**2).sum(axis=1))

    def _sharing_exactly(self, at_least: Floats) -> Floats:
        """From pairs that share at least some facets to those that share these and no others."""
        exact = at_least.astype(np.float64)
        for name in self.codes:
            for position, facets in enumerate(self.shared):
                if name not in facets:
                    exact[:, position] -= exact[:, self.shared.index(facets | {name})]
        return exact


def _sums(group: Codes, values: Floats) -> Floats:
    return as_numbers(np.bincount(group, weights=values))


def _half_squares(number: Floats, sums: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Pairs within groups, and the sum of half the squared differences within them."""
    return number * (number - 1) / 2, (number * squares - (sums**2).sum(axis=-1)) / 2


@dataclass(frozen=True)
class _System:
    """Which components can be told apart, and how they follow from pairs.

    Attributes:
        positions: the positions of those sets of facets that pairs enough share, and no others.
        effects: for each unknown the effects that stand for it, the simplest first; none for what
            is left.
        matrix: which unknowns come into the pairs of each set, shape (seen, unknowns).
    """

    positions: Codes
    effects: tuple[tuple[Effect, ...], ...]
    matrix: Floats

    @classmethod
    def from_pairs(cls, pairs: _Pairs) -> "_System":
        """The system of a design."""
        numbers, _ = pairs.of_all()
        positions = np.flatnonzero(numbers[0] > FEWEST_PAIRS - 0.5)
        patterns = [pairs.shared[position] for position in positions]
        simplest: dict[Effect, list[Effect]] = {}
        for effect in pairs.shared[1:]:
            equivalent_effects = simplest.setdefault(pairs.closure(effect), [])
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
        matrix = np.array([*unknowns, columns[0]], dtype=np.float64).T
        return cls(
            positions, (*map(tuple, unknowns.values()), (frozenset(), *residual_effects)), matrix
        )

    def solve(self, numbers: Floats, sums: Floats) -> Floats:
        """The components, shape (unknowns,) or (levels left out, unknowns);
        NaN where a set of pairs is gone.
        """
        means = ratio(sums[:, self.positions], np.round(numbers[:, self.positions]))
        solution = as_numbers(means @ np.linalg.pinv(self.matrix).T)
        return solution if len(solution) > 1 else solution[0]


def _jackknife(
    pairs: _Pairs, system: _System, random: Sequence[str], components: Floats
) -> tuple[Floats, Floats]:
    """The standard errors of the shares, and the degrees of freedom of each."""
    independent = [
        name
        for name in random
        if not any(_is_within(pairs, name, container, random) for container in random)
    ]
    kinds = [
        frozenset(subset)
        for size in range(1, len(independent) + 1)
        for subset in combinations(independent, size)
    ]
    variances, single = [np.zeros_like(components)], []
    for kind in kinds:
        solutions = system.solve(*pairs.leaving_out(kind))
        shares = ratio(solutions, solutions.sum(axis=1, keepdims=True))
        defined = ~np.isnan(shares).any(axis=1)
        number = int(defined.sum())
        spread = np.full_like(components, np.nan)
        if number >= max(FEWEST_LEVELS, _FEWEST_DEFINED * len(shares)):
            spread = (number - 1) * np.var(shares[defined], axis=0)
        variances.append(spread if len(kind) % 2 else -spread)
        if len(kind) == 1:
            single.append((spread, len(shares) - 1))
    if not single:
        return np.full_like(components, np.nan), np.ones_like(components)
    single_spreads = np.stack([spread for spread, _ in single])
    both = np.maximum(np.sum(variances, axis=0), single_spreads.max(axis=0))
    freedom = ratio(
        single_spreads.sum(axis=0) ** 2,
        np.sum([spread**2 / size for spread, size in single], axis=0),
    )
    return np.sqrt(both), freedom


def _is_within(pairs: _Pairs, name: str, container: str, among: Sequence[str]) -> bool:
    """Whether each level of a facet belongs to one of another; of two that are the same, the later
    one is.
    """
    if name == container or container not in pairs.closure(frozenset({name})):
        return False
    return name not in pairs.closure(frozenset({container})) or among.index(
        container
    ) < among.index(name)
