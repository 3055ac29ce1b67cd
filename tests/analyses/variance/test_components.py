"""Test components of variance in crossed, nested and unbalanced designs, and confounding."""

import importlib
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from moot.analyses.variance.components import Component, Decomposition, decompose

PROJECT = Path(__file__).resolve().parents[3]
CASE, JUDGE, BOTH, REPEATED = (
    frozenset({"case"}),
    frozenset({"judge"}),
    frozenset({"case", "judge"}),
    frozenset(),
)


def parts(decomposition: Decomposition | None) -> dict[frozenset[str], Component]:
    assert decomposition is not None
    return {part.effect: part for part in decomposition.components}


def crossed(
    cases: int, judges: int, answers_per_cell: int, seed: int = 0
) -> tuple[np.ndarray, dict[str, list[int]]]:
    random = np.random.default_rng(seed)
    case, judge, _ = (part.ravel() for part in np.indices((cases, judges, answers_per_cell)))
    values = (
        random.normal(0, 1, cases)[case]
        + random.normal(0, 0.5, judges)[judge]
        + random.normal(0, 1, len(case))
    )
    return values, {"case": case.tolist(), "judge": judge.tolist()}


def test_a_balanced_crossed_design_equals_the_analysis_of_variance():
    cases, judges, answers_per_cell = 12, 9, 3
    values, facets = crossed(cases, judges, answers_per_cell)
    cube = values.reshape(cases, judges, answers_per_cell)
    of_case, of_judge, cell, mean = cube.mean((1, 2)), cube.mean((0, 2)), cube.mean(2), cube.mean()
    square_case = judges * answers_per_cell * ((of_case - mean) ** 2).sum() / (cases - 1)
    square_judge = cases * answers_per_cell * ((of_judge - mean) ** 2).sum() / (judges - 1)
    residuals = cell - of_case[:, None] - of_judge + mean
    square_both = answers_per_cell * (residuals**2).sum() / ((cases - 1) * (judges - 1))
    error = ((cube - cell[:, :, None]) ** 2).sum() / (cases * judges * (answers_per_cell - 1))
    components = parts(decompose(values, facets))
    assert components[REPEATED].variance == pytest.approx(error)
    assert components[BOTH].variance == pytest.approx((square_both - error) / answers_per_cell)
    assert components[CASE].variance == pytest.approx(
        (square_case - square_both) / (judges * answers_per_cell)
    )
    assert components[JUDGE].variance == pytest.approx(
        (square_judge - square_both) / (cases * answers_per_cell)
    )
    assert sum(part.share for part in components.values()) == pytest.approx(1)


def test_a_balanced_nested_design_equals_the_analysis_of_variance():
    random = np.random.default_rng(4)
    case, run, _ = (part.ravel() for part in np.indices((10, 3, 4)))
    cube = (
        random.normal(0, 1, (10, 3, 4))
        + random.normal(0, 1, (10, 3, 1))
        + random.normal(0, 2, (10, 1, 1))
    )
    components = parts(
        decompose(cube.ravel(), {"case": case.tolist(), "debate": (case * 3 + run).tolist()})
    )
    means = cube.mean(2)
    within_debates = ((cube - means[:, :, None]) ** 2).sum() / (10 * 3 * 3)
    between_runs = 4 * ((means - means.mean(1)[:, None]) ** 2).sum() / (10 * 2)
    between_cases = 12 * ((means.mean(1) - means.mean()) ** 2).sum() / 9
    assert components[REPEATED].variance == pytest.approx(within_debates)
    assert components[frozenset({"debate"})].variance == pytest.approx(
        (between_runs - within_debates) / 4
    )
    assert components[CASE].variance == pytest.approx((between_cases - between_runs) / 12)


def test_judges_who_differ_less_than_by_chance_have_a_negative_component():
    answers = [[1.0, 0.0], [0.0, 1.0]] * 4
    facets = {"case": [0, 1] * 8, "judge": list(np.repeat(np.arange(8), 2))}
    components = parts(decompose(np.ravel(answers), facets))
    assert components[JUDGE].variance < 0 and components[JUDGE].share < 0


def test_components_of_labels_are_shares_of_disagreement():
    words = np.array(["pro", "con", "neutral", "pro"] * 30)
    random = np.random.default_rng(1)
    words = np.where(random.random(120) < 0.2, random.permutation(words), words)
    facets = {"case": list(np.arange(120) % 12), "judge": list(np.arange(120) % 10)}
    components = parts(
        decompose((words[:, None] == ["pro", "con", "neutral"]).astype(float), facets)
    )
    disagreements = []
    for first, second in combinations(range(120), 2):
        is_comparable = (
            facets["case"][first] != facets["case"][second]
            and facets["judge"][first] != facets["judge"][second]
        )
        if is_comparable:
            disagreements.append(words[first] != words[second])
    disagreement = np.mean(disagreements)
    assert sum(part.variance for part in components.values()) == pytest.approx(disagreement)
    two = parts(decompose((words == "pro").astype(float), facets))
    both = parts(decompose((words == "pro")[:, None] == [True, False], facets))
    assert [both[effect].share for effect in two] == pytest.approx(
        [part.share for part in two.values()]
    )


def test_confounded_components_are_named():
    values, facets = crossed(10, 9, 1)
    components = parts(decompose(values, facets))
    assert set(components) == {CASE, JUDGE, REPEATED} and components[REPEATED].confounded == (BOTH,)
    of_cases = [f"the judge of {case}" for case in facets["case"]]
    components = parts(decompose(values, {"case": facets["case"], "judge": of_cases}))
    assert set(components) == {CASE, REPEATED} and components[CASE].confounded == (JUDGE,)


def test_facets_of_one_level_are_dropped_and_of_few_levels_have_no_interval():
    values, facets = crossed(10, 3, 2)
    decomposition = decompose(values, {**facets, "model": ["one"] * len(values)})
    assert (
        decomposition is not None
        and decomposition.left_out == ("model",)
        and decomposition.fixed == ("judge",)
    )
    values, facets = crossed(4, 3, 2)
    assert all(
        np.isnan([part.low, part.high]).all() for part in parts(decompose(values, facets)).values()
    )


def test_cases_with_one_answer_are_one_confounded_component():
    decomposition = decompose(np.array([0.0, 1, 1, 0, 1, 0]), {"case": list("abcdef")})
    (component,) = decomposition.components
    assert (
        component.share == 1
        and component.effect == frozenset()
        and component.confounded == (frozenset({"case"}),)
    )


def test_constant_answers_have_no_components():
    assert decompose(np.ones(6), {"case": [0, 1, 2] * 2}) is None
    assert decompose(np.array([0.0, 1.0]), {"case": [0, 0]}) is None
    assert decompose(np.array([]), {"case": []}) is None


def test_the_order_of_answers_does_not_matter():
    values, facets = crossed(12, 9, 2)
    order = np.random.default_rng(3).permutation(len(values))
    shuffled_facets = {name: np.array(levels)[order] for name, levels in facets.items()}
    shuffled = decompose(values[order], shuffled_facets)
    for effect, part in parts(decompose(values, facets)).items():
        reordered = parts(shuffled)[effect]
        assert (reordered.share, reordered.low, reordered.high) == pytest.approx(
            (part.share, part.low, part.high)
        )


# Coverage


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        return importlib.import_module("benchmark_components")


@pytest.mark.parametrize("number", [0, 4, 6])
def test_planted_components_are_recovered(simulation, number):
    """Test three designs: nested, crossed and nested, unbalanced. The document has all with 500
    worlds each.
    """
    design = list(simulation.DESIGNS.values())[number]
    for effect, recovery in simulation.measure(design, 100).items():
        assert abs(recovery.bias) < 0.06, effect
        assert recovery.covered >= 0.87, effect
