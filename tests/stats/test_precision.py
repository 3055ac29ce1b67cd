"""What precision costs: standard errors come out as those of simulated studies, and the cheapest
design as by brute force.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from moot.stats.precision import AGAIN, CASE, SIDE, Part, Precision, precision

PLANTED = {
    "case": (0.3, 0.8),
    "judge": (0.05, 0.3),
    "both": (0.1, 0.5),
    "debate": (0.1, 0.4),
    "again": (0.2, 0.9),
}
"""Variances of either side."""
SHARED = {"case": 0.6, "judge": 0.5, "both": 0.4}
"""How effects of the same case, judge, or both correlate between the sides."""
Sizes = Mapping[str, tuple[int, int]]


def world(
    random: np.random.Generator, cases: int, sizes: Sizes, judges_in_all: int = 0
) -> tuple[Any, Any, Any]:
    """Answers of two sides; with `judges_in_all` each case has its own judges of these, else all
    have the same.
    """
    judges = judges_in_all or max(sizes["judge"])

    def effect(name: str, *shape: int) -> Any:
        drawn = random.normal(size=(2, *shape))
        drawn[1] = SHARED[name] * drawn[0] + np.sqrt(1 - SHARED[name] ** 2) * drawn[1]
        return np.stack(
            [one * np.sqrt(variance) for one, variance in zip(drawn, PLANTED[name], strict=True)]
        )

    by_case, by_judge, by_both = (
        effect("case", cases),
        effect("judge", judges),
        effect("both", cases, judges),
    )
    of_case = [
        random.permutation(judges) if judges_in_all else np.arange(judges) for _ in range(cases)
    ]
    parts, numbers = [], []
    for side in (0, 1):
        size = {name: both[side] for name, both in sizes.items()}
        case, debate, place, _ = (one.ravel() for one in np.indices((cases, *size.values())))
        judge = np.array([of_case[some][at] for some, at in zip(case, place, strict=True)])
        held = random.normal(0, np.sqrt(PLANTED["debate"][side]), (cases, size["debate"]))[
            case, debate
        ]
        again = random.normal(0, np.sqrt(PLANTED["again"][side]), len(case))
        value = (
            by_case[side][case] + by_judge[side][judge] + by_both[side][case, judge] + held + again
        )
        named = (side * cases + case) * size["debate"] + debate
        parts.append((value, np.full(len(case), side), case, named, judge))
        numbers.append({CASE: cases, **size})
    values, *levels = (np.concatenate(some) for some in zip(*parts, strict=True))
    facets = {
        name: some.tolist()
        for name, some in zip((SIDE, CASE, "debate", "judge"), levels, strict=True)
    }
    return values, facets, tuple(numbers)


def sizes(debates: tuple[int, int], judges: tuple[int, int], again: tuple[int, int]) -> Sizes:
    return {"debate": debates, "judge": judges, AGAIN: again}


@pytest.mark.parametrize(
    ("pilot", "design", "cases", "judges"),
    [
        (sizes((2, 3), (10, 6), (2, 3)), sizes((1, 4), (3, 5), (1, 2)), 15, 0),
        (sizes((2, 2), (3, 3), (2, 2)), sizes((1, 2), (3, 3), (2, 1)), 60, 20),
    ],
    ids=["sides of other numbers and variances", "each case has its own judges of twenty"],
)
def test_a_pilot_says_how_precise_another_design_would_be(
    pilot: Sizes, design: Sizes, cases: int, judges: int
) -> None:
    """The mean variance that pilots foretell is that of studies of another design."""
    random, foretold, differences = np.random.default_rng(1), [], []
    for _ in range(40):
        values, facets, numbers = world(random, 50, pilot, judges)
        found = precision(values, facets, numbers, pools={"judge": judges / 3} if judges else None)
        assert found is not None and found.planned == (CASE, "debate", "judge", AGAIN)
        either = [
            {CASE: cases, **{name: both[side] for name, both in design.items()}} for side in (0, 1)
        ]
        foretold.append(float(found.error(*either)) ** 2)
    for _ in range(800):
        values, facets, _ = world(random, cases, design, judges)
        differences.append(
            np.diff([values[np.array(facets[SIDE]) == side].mean() for side in (0, 1)])[0]
        )
    assert np.mean(foretold) == pytest.approx(np.var(differences), rel=0.15)


VARIANCES = {(CASE,): 0.5, ("judge",): 0.2, (CASE, "judge"): 0.3, (CASE, "debate"): 0.15}
PARTS = [Part(size, side, frozenset(of)) for of, size in VARIANCES.items() for side in (0, 1)]
PARTS += [Part(0.4, side, frozenset({CASE, "debate", "judge", AGAIN})) for side in (0, 1)]
NUMBERS = {CASE: 10.0, "debate": 1.0, "judge": 3.0, AGAIN: 1.0}
KNOWN = Precision(tuple(PARTS), (NUMBERS, NUMBERS), (CASE, "debate", "judge", AGAIN))


def planted(cases: float, debates: float, judges: float, again: float) -> float:
    by_case = 0.5 + 0.15 / debates + 0.3 / judges + 0.4 / (debates * judges * again)
    return 2 * (by_case / cases + 0.2 / judges)


def a_case(numbers: Any) -> Any:
    return numbers["debate"] * (1.0 + 0.1 * numbers["judge"] * numbers[AGAIN])


def test_the_cheapest_design_is_that_of_all_designs_gone_through() -> None:
    found = KNOWN.cheapest(0.25, a_case)
    designs = []
    for debates, judges, again in product(range(1, 21), repeat=3):
        cases = next(
            (n for n in range(2, 400) if planted(n, debates, judges, again) <= 0.25**2 + 1e-12),
            None,
        )
        if cases:
            designs.append(
                (cases * debates * (1 + 0.1 * judges * again), cases, debates, judges, again)
            )
    assert found is not None and found.cost == pytest.approx(min(designs)[0])
    assert (
        tuple(found.numbers[name] for name in KNOWN.planned) == min(designs)[1:]
        and found.error <= 0.25 + 1e-9
    )


def test_few_judges_are_a_floor_that_no_number_of_cases_passes() -> None:
    assert float(KNOWN.error({CASE: 1e9})) == pytest.approx(np.sqrt(2 * 0.2 / 3), rel=1e-3)
    assert KNOWN.cheapest(0.05, a_case, available=1000) is None


@pytest.mark.parametrize(("price", "times"), [(1.0, 2), (16.0, 8)])
def test_how_often_to_ask_about_a_debate_is_the_root_of_prices_and_variances(
    price: float, times: int
) -> None:
    """The textbook's optimum for two stages: sqrt(variance within / between x price of a case / of
    an answer).
    """
    parts = [
        Part(size, side, frozenset(of))
        for size, of in ((0.25, {CASE}), (1.0, {CASE, AGAIN}))
        for side in (0, 1)
    ]
    two = Precision(tuple(parts), ({CASE: 5, AGAIN: 1},) * 2, (CASE, AGAIN))
    found = two.cheapest(0.01, lambda numbers: price + numbers[AGAIN])
    assert found is not None and found.numbers[AGAIN] == times == np.sqrt(1.0 / 0.25 * price)


def test_answers_once_a_cell_leave_asking_again_unplanned_and_clusters_count() -> None:
    values, facets, numbers = world(np.random.default_rng(3), 30, sizes((1, 1), (8, 8), (1, 1)))
    del facets["debate"]
    found, clustered = (precision(values, facets, numbers, design=design) for design in (1.0, 3.0))
    assert found and clustered and found.planned == (CASE, "judge")
    alone = {CASE: 20.0, "judge": float("inf")}
    assert float(clustered.error(alone)) == pytest.approx(np.sqrt(3) * float(found.error(alone)))
    kept = precision(values, facets, numbers, fixed=("judge",))
    assert (
        kept
        and kept.planned == (CASE,)
        and float(kept.error({CASE: 1e12})) == pytest.approx(0, abs=1e-5)
    )


def test_sides_that_vary_alike_say_nothing_of_a_design() -> None:
    values = np.tile(np.repeat([1.0, 0.0], [9, 3]), 2)
    facets = {SIDE: np.repeat([0, 1], 12).tolist(), CASE: [*range(12)] * 2}
    assert precision(values, facets, ({CASE: 12.0, AGAIN: 1.0}, {CASE: 12.0, AGAIN: 1.0})) is None
