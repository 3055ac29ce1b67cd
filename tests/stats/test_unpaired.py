"""Test intervals and tests of unpaired sides with few or clustered cases."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import fisher_exact

from moot.stats.arrays import as_numbers
from moot.stats.differences import Difference, Sums, compare_paired, compare_unpaired
from moot.stats.statistic import AMOUNT, SHARE

PROJECT = Path(__file__).resolve().parents[2]


def means(values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def shares(first_right: int, cases: int, other_right: int, other_cases: int) -> Difference:
    first = [1] * first_right + [0] * (cases - first_right)
    second = [1] * other_right + [0] * (other_cases - other_right)
    return compare_unpaired(
        means(first), means(second), range(cases), range(cases, cases + other_cases), 0, SHARE
    )


def agrees(difference: Difference) -> bool:
    """Return whether interval and p agree about a difference of 0."""
    return np.isnan(difference.low) or (difference.p < 0.05) != (
        difference.low <= 0 <= difference.high
    )


@pytest.mark.parametrize(
    ("counts", "p"),
    [((10, 10, 180, 200), 0.60), ((14, 14, 25, 31), 0.156), ((1, 5, 4, 200), 0.117)],
)
def test_a_unanimous_group_has_an_uncertain_share(counts, p):
    difference = shares(*counts)
    assert difference.p == pytest.approx(p, abs=0.005)
    assert difference.low <= 0 <= difference.high


def test_independent_shares_have_newcombes_interval_and_fishers_test():
    """Check the examples of Newcombe (1998), method 10; with one wrong case of ten, the interval of
    Agresti and Caffo (2000) counts.
    """
    for counts, ends in (
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1600, 0.8400)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
    ):
        first_right, cases, second_right, second_cases = counts
        difference = shares(*counts)
        assert agrees(difference)
        if difference.p < 0.05 or counts[0] == 5:
            assert (difference.low, difference.high) == pytest.approx(ends, abs=1e-3)
        if cases == second_cases:  # elsewhere scipy orders tables by probability
            assert difference.p == pytest.approx(
                fisher_exact(
                    [
                        [first_right, cases - first_right],
                        [second_right, second_cases - second_right],
                    ]
                ).pvalue
            )


def test_an_undefined_test_shows_no_difference():
    clusters = list(np.repeat(["b", "c", "d"], 3))
    single_cluster = compare_unpaired(
        means([1, 1, 1]), means([0] * 9), ["a"] * 3, clusters, 0, SHARE
    )
    assert np.isnan(single_cluster.low) and single_cluster.p == 1
    undefined = Sums(np.zeros((4, 1)), np.zeros((4, 1)))
    nothing = compare_unpaired(undefined, means([1, 0, 1]), range(4), range(4, 7), 0, SHARE)
    assert np.isnan(nothing.difference) and nothing.p == 1
    assert compare_paired(undefined, undefined, range(4), 0, (-1.0, 1.0)).p == 1


def test_amounts_are_compared_with_separate_variances():
    random = np.random.default_rng(3)
    small_sample, large_sample = random.lognormal(0, 1, 8), random.lognormal(0, 0.1, 60)
    difference = compare_unpaired(
        means(small_sample), means(large_sample), range(8), range(8, 68), 0, AMOUNT
    )
    assert difference.low < 0 < difference.high and difference.p > 0.05
    far = compare_unpaired(
        means(small_sample + 50), means(large_sample), range(8), range(8, 68), 0, AMOUNT
    )
    assert far.p < 0.001 and far.low > 0


def f1(random: np.random.Generator, cases: int, skill: float) -> Sums:
    true, is_known = random.random(cases) < 0.4, random.random(cases) < skill
    predicted = np.where(is_known, true, ~true)
    return Sums(
        as_numbers(2 * (true & predicted))[:, None],
        (as_numbers(true) + as_numbers(predicted))[:, None],
    )


@pytest.mark.parametrize("seed", range(40))
def test_interval_and_p_of_one_row_agree_on_every_path(seed):
    random = np.random.default_rng(seed)
    cases, skills = int(random.integers(6, 70)), random.uniform(0.45, 0.8, 2)
    of_three, both = np.arange(cases) // 3, [(f"s{n % 7}", f"j{n % 5}") for n in range(cases)]
    correct = [as_numbers(random.random(cases) < skill) for skill in skills]
    sides = [
        (means(correct[0]), means(correct[1])),
        (f1(random, cases, skills[0]), f1(random, cases, skills[1])),
    ]
    for first, second in sides:
        for clusters in (range(cases), of_three, both):
            assert agrees(compare_paired(first, second, clusters, seed, (-1.0, 1.0)))
            assert agrees(compare_unpaired(first, second, clusters, clusters, seed, SHARE))
        for second_clusters in (range(cases, 2 * cases), of_three + cases):
            assert agrees(
                compare_unpaired(first, second, range(cases), second_clusters, seed, SHARE)
            )
            assert agrees(compare_unpaired(first, second, of_three, second_clusters, seed, SHARE))


def test_the_interval_follows_the_test_if_they_disagree():
    """The t interval just excludes 0 although the randomisation test does not reject, and vice
    versa.
    """
    differences = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        first, second = random.integers(0, 4, 12) / 3, random.integers(0, 4, 12) / 3
        difference = compare_paired(
            means(first), means(np.minimum(second, 1)), range(12), 0, (-1.0, 1.0)
        )
        assert agrees(difference) and difference.low <= difference.difference <= difference.high
        differences.append(difference)
    assert any(difference.p < 0.05 for difference in differences)


# Coverage


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        return importlib.import_module("coverage_differences")


@pytest.mark.parametrize(
    ("name", "rate", "correlation"),
    [
        ("10 against 200 cases", 0.9, 0.0),
        ("5 against 100 cases", 0.3, 0.0),
        ("3 clusters of 20 against 60 single cases", 0.5, 0.5),
        ("8 clusters of 1 to 12 against 32", 0.1, 0.2),
    ],
)
def test_equal_rates_differ_in_5_percent_and_intervals_cover(simulation, name, rate, correlation):
    [cell] = [
        candidate
        for candidate in simulation.cells()
        if (candidate.name, candidate.rates, candidate.correlation)
        == (name, (rate, rate), correlation)
    ]
    measurement = simulation.measure(cell, 200)
    assert measurement.rejected <= 0.07, cell
    assert measurement.covered >= 0.93, cell


def test_intervals_cover_for_crossed_clusters(simulation):
    """With one kind of cluster only, half of the intervals would miss."""
    coverage = simulation.measure_crossed(50, 12, (0.2, 0.2), 60)
    assert coverage.covered >= 0.9


@pytest.mark.parametrize("name", ["rounds (geometric)", "exponential", "costs (log-normal, 1)"])
def test_intervals_cover_for_skewed_amounts_of_few_cases(simulation, name):
    assert simulation.amounts(name, 20, 300) >= 0.9


def test_the_document_has_every_row_of_the_simulation(simulation):
    table = simulation.PART.read()
    for name in (
        *simulation.INDEPENDENT_CASES,
        *simulation.CLUSTERED,
        *simulation.CROSSED,
        *simulation.AMOUNTS,
    ):
        assert f"| {name} |" in table
