"""What precision costs: standard errors come out as those of simulated studies, and the cheapest design as by brute force."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from moot.stats.precision import AGAIN, CASE, SIDE, Precision, precision

PLANTED = {"case": 0.5, "judge": 0.2, "both": 0.3, "debate": 0.15, "again": 0.4}
"""Variances that belong to one side; cases have a variance of 1 that both sides share, and cancels."""


def world(random: np.random.Generator, cases: int, debates: int, judges: int, again: int) -> tuple[Any, Any, Any]:
    side, case, debate, judge, _ = (one.ravel() for one in np.indices((2, cases, debates, judges, again)))
    held = (side * cases + case) * debates + debate

    def effect(variance: float, *codes: np.ndarray) -> np.ndarray:
        _, found = np.unique(np.stack(codes), axis=1, return_inverse=True)
        found = found.reshape(-1)
        return random.normal(0, np.sqrt(variance), found.max() + 1)[found]

    values = effect(1.0, case) + effect(PLANTED["case"], case, side) + effect(PLANTED["judge"], judge, side)
    values += effect(PLANTED["both"], case, judge, side) + effect(PLANTED["debate"], held)
    values += random.normal(0, np.sqrt(PLANTED["again"]), len(values))
    facets = {SIDE: side.tolist(), CASE: case.tolist(), "debate": held.tolist(), "judge": judge.tolist()}
    return values, facets, {CASE: cases, "debate": debates, "judge": judges, AGAIN: again}


def planted(cases: float, debates: float, judges: float, again: float) -> float:
    by_case = PLANTED["case"] + PLANTED["debate"] / debates + PLANTED["both"] / judges
    return 2 * (by_case / cases + PLANTED["judge"] / judges + PLANTED["again"] / (cases * debates * judges * again))


def test_a_pilot_says_how_precise_another_design_would_be() -> None:
    """Of 60 pilots the mean variance that they foretell is that of studies of a tenth as many debates of more judges."""
    random, design = np.random.default_rng(1), {CASE: 15.0, "debate": 1.0, "judge": 4.0, AGAIN: 3.0}
    foretold = []
    for _ in range(60):
        values, facets, numbers = world(random, 40, 2, 10, 2)
        found = precision(values, facets, numbers)
        assert found is not None and found.planned == (CASE, "debate", "judge", AGAIN)
        foretold.append(float(found.error(design)) ** 2)
    assert np.mean(foretold) == pytest.approx(planted(15, 1, 4, 3), rel=0.08)
    differences = []
    for _ in range(1500):
        values, facets, _ = world(random, 15, 1, 4, 3)
        differences.append(np.diff([values[np.array(facets[SIDE]) == side].mean() for side in (0, 1)])[0])
    assert np.var(differences) == pytest.approx(planted(15, 1, 4, 3), rel=0.12)


PARTS = (
    (PLANTED["case"], frozenset({CASE})),
    (PLANTED["judge"], frozenset({"judge"})),
    (PLANTED["both"], frozenset({CASE, "judge"})),
    (PLANTED["debate"], frozenset({CASE, "debate"})),
    (PLANTED["again"], frozenset({CASE, "debate", "judge", AGAIN})),
)
KNOWN = Precision(PARTS, {CASE: 10, "debate": 1, "judge": 3, AGAIN: 1}, (CASE, "debate", "judge", AGAIN))


def a_case(numbers: Any) -> Any:
    return numbers["debate"] * (1.0 + 0.1 * numbers["judge"] * numbers[AGAIN])


def test_the_cheapest_design_is_that_of_all_designs_gone_through() -> None:
    found = KNOWN.cheapest(0.25, a_case)
    designs = []
    for debates, judges, again in product(range(1, 21), repeat=3):
        cases = next((n for n in range(2, 400) if planted(n, debates, judges, again) <= 0.25**2 + 1e-12), None)
        if cases:
            designs.append((cases * debates * (1 + 0.1 * judges * again), cases, debates, judges, again))
    assert found is not None and found.cost == pytest.approx(min(designs)[0])
    assert tuple(found.numbers[name] for name in KNOWN.planned) == min(designs)[1:] and found.error <= 0.25 + 1e-9


def test_few_judges_are_a_floor_that_no_number_of_cases_passes() -> None:
    assert float(KNOWN.error({CASE: 1e9})) == pytest.approx(np.sqrt(2 * PLANTED["judge"] / 3), rel=1e-3)
    assert KNOWN.cheapest(0.05, a_case, available=1000) is None


@pytest.mark.parametrize(("price", "times"), [(1.0, 2), (16.0, 8)])
def test_how_often_to_ask_about_a_debate_is_the_root_of_prices_and_variances(price: float, times: int) -> None:
    """The textbook's optimum for two stages: sqrt(variance within / between x price of a case / of an answer)."""
    two = Precision(((0.25, frozenset({CASE})), (1.0, frozenset({CASE, AGAIN}))), {CASE: 5, AGAIN: 1}, (CASE, AGAIN))
    found = two.cheapest(0.01, lambda numbers: price + numbers[AGAIN])
    assert found is not None and found.numbers[AGAIN] == times == np.sqrt(1.0 / 0.25 * price)


def test_answers_once_a_cell_leave_asking_again_unplanned_and_clusters_count(monkeypatch: pytest.MonkeyPatch) -> None:
    values, facets, numbers = world(np.random.default_rng(3), 30, 1, 8, 1)
    del facets["debate"]
    found, clustered = (precision(values, facets, numbers, design=design) for design in (1.0, 3.0))
    assert found and clustered and found.planned == (CASE, "judge")
    alone = {CASE: 20.0, "judge": float("inf")}
    assert float(clustered.error(alone)) == pytest.approx(np.sqrt(3) * float(found.error(alone)))
    kept = precision(values, facets, numbers, fixed=("judge",))
    assert kept and kept.planned == (CASE,) and float(kept.error({CASE: 1e12})) == pytest.approx(0, abs=1e-5)
