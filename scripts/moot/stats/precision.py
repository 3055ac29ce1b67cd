"""What precision costs: the standard error of a difference for any numbers of cases, judges, wordings and repeats.

The model: answers of both sides are decomposed into components of variance with the side as one more facet
(`moot.stats.components`). What the sides share cancels in their difference. Each component that belongs to one side
comes in twice, divided by how many levels its facets have: a decision study (Brennan 2001, "Generalizability Theory",
chapters 4 and 5). A component that is estimated below 0 counts as 0, so that no design gains by it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
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
class Precision:
    """How precisely a design measures a difference.

    Attributes:
        parts: of each component that does not cancel its variance, and the facets whose levels divide it.
        numbers: how many cases there were, and of each other facet how many levels a case had.
        planned: the facets whose numbers can be chosen, cases first: those that the answers tell apart.
    """

    parts: tuple[tuple[float, Effect], ...]
    numbers: Numbers
    planned: tuple[str, ...]

    def error(self, numbers: Mapping[str, float | Floats]) -> Floats:
        """The standard error of the difference by a design, or by many; facets that are not named as they were."""
        chosen = {**self.numbers, **numbers}
        return np.sqrt(as_numbers(sum(2 * size / prod(chosen[name] for name in of) for size, of in self.parts)))

    def cheapest(
        self, error: float, cost: Callable[[Mapping[str, Floats]], Floats], available: float = float("inf")
    ) -> Priced | None:
        """The cheapest design with a standard error of at most this; None where no number of cases has it.

        Args:
            error: that is to be reached.
            cost: of one case, by the numbers of all other facets.
            available: how many cases there are.
        """
        others = [name for name in self.planned if name != CASE]
        grid = np.meshgrid(*[np.arange(1.0, MOST_LEVELS + 1)] * len(others), indexing="ij")
        chosen = {name: as_numbers(values.ravel()) for name, values in zip(others, grid, strict=True)}
        endless = self.error({**chosen, CASE: float("inf")}) ** 2
        by_case = self.error({**chosen, CASE: 1.0}) ** 2 - endless
        room = np.atleast_1d(np.where(endless < error**2, error**2 - endless, np.nan))
        cases = np.maximum(_FEWEST_CASES, np.ceil(ratio(np.broadcast_to(by_case, room.shape), room) - _ROUNDING))
        usd = np.where(cases <= available, cases * cost({**self._given(), **chosen}), np.nan)
        if np.isnan(usd).all():
            return None
        best = int(np.nanargmin(usd))
        numbers = {CASE: float(cases[best]), **{name: float(values[best]) for name, values in chosen.items()}}
        return Priced({**self.numbers, **numbers}, float(self.error(numbers)), float(usd[best]))

    def _given(self) -> Mapping[str, Floats]:
        return {name: as_numbers(number) for name, number in self.numbers.items()}


def precision(
    values: Floats,
    facets: Mapping[str, Sequence[Hashable]],
    numbers: Numbers,
    fixed: Sequence[str] = (),
    design: float = 1.0,
) -> Precision | None:
    """How the difference between two sides varies; None where nothing does, or pairs of answers are too few.

    Args:
        values: of each answer of both sides.
        facets: of each answer its side and case, and what else may differ; those of one side alone (a debate that it
            held) have names of their own.
        numbers: how many levels of each a case has, cases themselves and asking again among them.
        fixed: facets that stay as they are (the models of a plan).
        design: the design effect, by how much clusters of cases raise the variance of a mean.
    """
    found = decompose(values, facets, intervals=False)
    if found is None:
        return None
    varied = {name for name in facets if name not in found.left_out}
    parts, apart = list[tuple[float, Effect]](), {CASE}
    for part in found.components:
        of = (part.within if part.effect else frozenset(varied | {AGAIN})) - {SIDE}
        if not part.effect and not part.confounded:
            apart.add(AGAIN)
        if part.effect and len(part.effect) == 1:
            apart |= part.effect
        if of - set(fixed) and (SIDE in part.within or not part.effect):
            parts.append((max(0.0, part.variance) * (design if CASE in of else 1.0), of))
            apart |= part.effect if SIDE in part.effect else frozenset()
    planned = [name for name in (*facets, AGAIN) if name in apart - {SIDE, *fixed}]
    return Precision(tuple(parts), numbers, (CASE, *(name for name in planned if name != CASE)))
