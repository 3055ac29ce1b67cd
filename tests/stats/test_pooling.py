"""Partial pooling recovers the shares that were planted, better than raw means do, and its
intervals hold them.
"""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from moot.stats.components import decompose
from moot.stats.pooling import partially_pooled

WORLDS = 200


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    with monkeypatch.context() as patched:
        patched.syspath_prepend(Path(__file__).resolve().parents[2] / "benchmarks")
        return importlib.import_module("coverage_pooling")


@pytest.mark.slow  # only many worlds show what an interval covers
def test_planted_shares_lie_in_the_intervals_and_nearer_than_raw_means(
    simulation: ModuleType,
) -> None:
    for name, design in simulation.DESIGNS.items():
        found = simulation.measure(design, WORLDS)
        assert (0.88 if "most shares near" in name else 0.91) <= found.covered <= 0.98, name
        assert found.pooled < 1.02 * found.raw, name


def test_judges_of_different_cases_are_compared_as_if_they_had_judged_the_same() -> None:
    generator = np.random.default_rng(3)
    easy, hard, judges = 0.9, 0.3, range(6)
    cases = [f"case {number}" for number in range(40)]
    share = {case: easy if number < 20 else hard for number, case in enumerate(cases)}
    rows = []
    for judge in judges:  # the first three hear the easy cases four times as often as the hard ones
        for case in cases:
            often = 4 if (share[case] == easy) == (judge < 3) else 1
            rows += [
                (case, f"judge {judge}", float(generator.random() < share[case]))
                for _ in range(often)
            ]
    named, heard, said = map(list, zip(*rows, strict=True))
    facets = {"case": named, "judge": heard}
    found = decompose(np.array(said), facets, intervals=False)
    assert found
    pooled = {one.level: one for one in partially_pooled(np.array(said), facets, "judge", found)}
    raw = [
        np.mean([pooled[f"judge {judge}"].raw for judge in some]) for some in ((0, 1, 2), (3, 4, 5))
    ]
    adjusted = [
        np.mean([pooled[f"judge {judge}"].value for judge in some])
        for some in ((0, 1, 2), (3, 4, 5))
    ]
    assert raw[0] - raw[1] > 0.25
    assert abs(adjusted[0] - adjusted[1]) < 0.08
    assert all(one.low <= 0.6 <= one.high for one in pooled.values())


def test_the_more_answers_a_level_has_the_less_it_borrows() -> None:
    said = np.array([1.0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1])
    facets = {"case": ["a"] * 3 + ["b"] * 4 + ["c"] * 5 + ["d"] * 10}
    found = decompose(said, facets, intervals=False)
    assert found
    pooled = partially_pooled(said, facets, "case", found)
    borrowed = [one.borrowed for one in pooled]
    assert [one.answers for one in pooled] == [3, 4, 5, 10]
    assert borrowed == sorted(borrowed, reverse=True) and 0 < borrowed[-1] < borrowed[0] < 1
    assert all(
        min(one.raw, said.mean()) - 0.1 < one.value < max(one.raw, said.mean()) + 0.1
        for one in pooled
    )


def test_what_each_level_has_one_of_counts_as_its_own() -> None:
    generator = np.random.default_rng(1)
    courts = np.repeat(np.arange(5), 4 * 12)
    said = (generator.random(len(courts)) < (0.1 + 0.2 * courts)).astype(float)
    cases = {"case": [f"case {number // 12}" for number in range(len(courts))]}
    nested = cases | {"court": courts.tolist()}
    twins = cases | {"persona": [f"of {case}" for case in cases["case"]]}

    def pooled(facets: dict[str, list[str]], of: str) -> np.ndarray:
        found = decompose(said, facets, intervals=False)
        assert found
        return np.array(
            [(one.value, one.low, one.high) for one in partially_pooled(said, facets, of, found)]
        )

    alone = pooled(cases, "case")
    assert pooled(nested, "case") == pytest.approx(alone, abs=0.05)
    assert pooled(twins, "persona") == pytest.approx(alone, abs=1e-9)


def test_a_judge_of_all_cases_beside_judges_of_three_keeps_a_share() -> None:
    """The error that judges of the same three cases share is none of the judge of all cases."""
    generator = np.random.default_rng(0)
    chance = generator.beta(0.6, 0.6, 100)
    heard = [(case, "all") for case in range(100)]
    heard += [(case, judge) for judge in ("b", "c", "d") for case in range(3) for _ in range(6)]
    said = np.array([generator.random() < chance[case] for case, _ in heard], dtype=float)
    facets = {"case": [case for case, _ in heard], "judge": [judge for _, judge in heard]}
    found = decompose(said, facets, intervals=False)
    assert found
    for one in partially_pooled(said, facets, "judge", found):
        assert 0 < one.low < one.value < one.high < 1 and 0 < one.borrowed < 1
