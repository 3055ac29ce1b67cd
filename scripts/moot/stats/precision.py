"""What precision costs: the standard error of a difference for any numbers of cases, judges,
wordings and repeats.

The model: answers of each side are decomposed into components of variance, and pairs of answers of
both sides into components of covariance (`moot.stats.components`). The variance of the difference
is that of each side's mean, each component divided by how many levels its facets have on that side,
less twice the covariance of both means: a multivariate decision study (Brennan 2001,
"Generalizability Theory", chapters 9 to 11). The levels of the side with fewer are taken to be
among those of the other. A component that is estimated below 0 counts as 0, and a covariance as no
larger than that of a correlation of 1, so that no design gains by either.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from moot.stats.bootstrap import Floats, as_numbers, ratio
from moot.stats.components import Effect, decompose

SIDE, CASE, AGAIN = "side", "case", "asking again"
MOST_LEVELS = 20
"""Of a facet, in the search for the cheapest design; cases have no limit but that of the data."""
_FEWEST_CASES = 2
_ROUNDING = 1e-9
Numbers = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Priced:
    """A design, its standard error, and what it costs."""

    numbers: Numbers
    error: float
    cost: float


@dataclass(frozen=True, slots=True)
class Part:
    """A component of the difference's variance.

    Attributes:
        size: its variance on one side, or minus twice a covariance of both.
        side: 0 or 1; None of a covariance.
        of: the facets whose levels divide it.
    """

    size: float
    side: int | None
    of: Effect


@dataclass(frozen=True, slots=True)
class Precision:
    """How precisely a design measures a difference.

    Attributes:
        parts: of its variance.
        numbers: of either side how many cases there were, and of each other facet how many levels a
            case had.
        planned: the facets whose numbers can be chosen, cases first: those that the answers tell
            apart.
        pools: of each facet how many levels there were in all for each that a case had: 1 where all
            cases have all.
    """

    parts: tuple[Part, ...]
    numbers: tuple[Numbers, Numbers]
    planned: tuple[str, ...]
    pools: Numbers = field(default_factory=dict)

    def error(self, *chosen: Mapping[str, float | Floats]) -> Floats:
        """The standard error of the difference by a design of both sides, or of either; or by many
        designs.

                Facets that are not named are as they were.
        """
        sides = [
            {**known, **one}
            for known, one in zip(self.numbers, (chosen[0], chosen[-1]), strict=True)
        ]
        sides.append(
            {
                name: np.maximum(sides[0].get(name, 1.0), sides[1].get(name, 1.0))
                for one in sides
                for name in one
            }
        )
        found = as_numbers(
            sum(
                part.size / self._levels(part, sides[2 if part.side is None else part.side])
                for part in self.parts
            )
        )
        return np.sqrt(np.maximum(0.0, found))

    def _levels(self, part: Part, numbers: Mapping[str, float | Floats]) -> float | Floats:
        pools = [1.0 if CASE in part.of else self.pools.get(name, 1.0) for name in part.of]
        return prod((numbers.get(name, 1.0) for name in part.of), start=prod(pools))

    def cheapest(
        self,
        error: float,
        cost: Callable[[Mapping[str, Floats]], Floats],
        available: float = float("inf"),
    ) -> Priced | None:
        """The cheapest design, the same on both sides, with a standard error of at most this; None
        where none is.

                Args:
                    error: that is to be reached.
                    cost: of one case, by the numbers of all other facets.
                    available: how many cases there are.
        """
        others = [name for name in self.planned if name != CASE]
        grid = np.meshgrid(*[np.arange(1.0, MOST_LEVELS + 1)] * len(others), indexing="ij")
        chosen = {
            name: as_numbers(values.ravel()) for name, values in zip(others, grid, strict=True)
        }
        endless = self.error({**chosen, CASE: float("inf")}) ** 2
        by_case = self.error({**chosen, CASE: 1.0}) ** 2 - endless
        room = np.atleast_1d(np.where(endless < error**2, error**2 - endless, np.nan))
        cases = np.maximum(
            _FEWEST_CASES, np.ceil(ratio(np.broadcast_to(by_case, room.shape), room) - _ROUNDING)
        )
        usd = np.where(cases <= available, cases * cost(chosen), np.nan)
        if np.isnan(usd).all():
            return None
        best = int(np.nanargmin(usd))
        numbers = {
            CASE: float(cases[best]),
            **{name: float(values[best]) for name, values in chosen.items()},
        }
        return Priced(numbers, float(self.error(numbers)), float(usd[best]))


def precision(
    values: Floats,
    facets: Mapping[str, Sequence[Hashable]],
    numbers: tuple[Numbers, Numbers],
    fixed: Sequence[str] = (),
    design: float = 1.0,
    pools: Numbers | None = None,
) -> Precision | None:
    """How the difference between two sides varies; None where nothing does, or pairs of answers are
    too few.

        A facet of one level on a side stays as it is there.

        Args:
            values: of each answer of both sides.
            facets: of each answer its side (0 or 1) and case, and what else may differ; those of
                one side alone (a debate that it held) have names of their own.
            numbers: of either side how many levels of each a case has, cases themselves and asking
                again among them.
            fixed: facets that stay as they are (the models of a plan).
            design: the design effect, by how much clusters of cases raise the variance of a mean.
            pools: of a facet how many levels there are for each that a case has.
    """
    sides = np.asarray(facets[SIDE])
    parts, apart = list[Part](), {CASE}
    for side in (0, 1):
        mine = np.flatnonzero(sides == side)
        if np.ptp(values[mine]) <= _ROUNDING:
            continue
        of_side = {
            name: [levels[int(at)] for at in mine]
            for name, levels in facets.items()
            if name != SIDE
        }
        found = decompose(values[mine], of_side, intervals=False)
        if found is None:
            return None
        all_of = frozenset(set(of_side) - set(found.left_out) | {AGAIN})
        for part in found.components:
            parts.append(
                Part(max(0.0, part.variance), side, part.within if part.effect else all_of)
            )
            apart |= part.effect if len(part.effect) == 1 else frozenset()
            apart |= {AGAIN} if not part.effect and not part.confounded else set()
    shared = (
        decompose(values, facets, intervals=False, apart=SIDE)
        if len({part.side for part in parts}) > 1
        else None
    )
    for part in shared.components if shared else ():
        if part.effect and SIDE not in part.within:
            most = prod(_within(parts, side, part.within) for side in (0, 1)) ** 0.5
            parts.append(Part(-2 * float(np.clip(part.variance, -most, most)), None, part.within))
            apart |= part.effect if len(part.effect) == 1 else frozenset()
    parts = [
        Part(part.size * (design if CASE in part.of else 1.0), part.side, part.of)
        for part in parts
        if part.size and part.of - set(fixed)
    ]
    planned = [name for name in (*facets, AGAIN) if name in apart - {SIDE, CASE, *fixed}]
    whole = Precision(tuple(parts), numbers, (CASE, *planned), pools or {})
    return (
        whole if whole.error({}) > _ROUNDING**0.5 else None
    )  # both sides may vary alike, and their difference not


def _within(parts: Sequence[Part], side: int, effect: Effect) -> float:
    """The variance, on a side, of the component that an effect is part of there."""
    mine = [part for part in parts if part.side == side and effect <= part.of]
    return min(mine, key=lambda part: len(part.of)).size if mine else 0.0
