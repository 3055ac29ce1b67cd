"""Test differences of rates far apart, of skewed amounts and of F1 of rare labels.

The intervals of these cells of the grid (docs/results.md) once covered too seldom.
"""

import numpy as np
import pytest
from scipy.stats import binom

from moot.stats.amounts import lognormal_interval
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.clusters import kinds_of_clusters
from moot.stats.differences import MIN_HITS, Difference, Sums, compare_paired, compare_unpaired
from moot.stats.independent import Independent
from moot.stats.score_intervals import agresti_caffo_interval
from moot.stats.statistic import AMOUNT, DIFFERENCE, SHARE, mean_statistic

MIN_COVERAGE = 0.92
WORLDS = 120


def means(values) -> Sums:
    column = np.asarray(values, dtype=float)[:, None]
    return Sums(column, np.ones_like(column))


def compare_counts(first_right: int, first: int, second_right: int, second: int) -> Difference:
    sides = np.arange(first) < first_right, np.arange(second) < second_right
    return compare_unpaired(
        means(sides[0]), means(sides[1]), range(first), range(first, first + second), 0, SHARE
    )


def exact_coverage(first: int, second: int, rates: tuple[float, float]) -> float:
    """Return how often the interval holds the difference of the rates, over all likely counts."""
    probabilities = [
        binom.pmf(np.arange(n + 1), n, rate) for n, rate in zip((first, second), rates, strict=True)
    ]
    covered = 0.0
    for first_right, second_right in np.ndindex(first + 1, second + 1):
        weight = probabilities[0][first_right] * probabilities[1][second_right]
        if weight < 1e-4:
            covered += weight
            continue
        difference = compare_counts(first_right, first, second_right, second)
        covered += weight * (difference.low <= rates[0] - rates[1] <= difference.high)
    return covered


@pytest.mark.parametrize(
    ("cases", "rates"),
    [
        ((30, 30), (0.02, 0.98)),
        ((25, 25), (0.05, 0.95)),
        ((8, 8), (0.2, 0.7)),
        ((8, 15), (0.05, 0.98)),
        ((3, 5), (0.1, 0.9)),
    ],
)
def test_rates_far_apart_are_covered(cases, rates):
    assert exact_coverage(*cases, rates) >= MIN_COVERAGE


def test_agresti_and_caffo_stay_within_the_possible_differences():
    assert agresti_caffo_interval(10, 10, 0, 20) == pytest.approx((0.6922, 1.0), abs=5e-5)
    assert np.isnan(agresti_caffo_interval(0, 0, 3, 5)).all()


def test_many_right_and_wrong_cases_have_newcombes_interval():
    difference = compare_counts(56, 70, 48, 80)
    assert (difference.low, difference.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(
    ("spreads", "cases"), [((1, 1), (15, 150)), ((1.5, 0.5), (8, 60)), ((1.5, 0.1), (30, 30))]
)
def test_skewed_amounts_are_covered(spreads, cases):
    random = np.random.default_rng(15)
    kinds = kinds_of_clusters(range(sum(cases)))
    covered = 0
    for _ in range(WORLDS):
        first, second = (
            means(random.lognormal(-(spread**2) / 2, spread, number)).to_part(AMOUNT)
            for spread, number in zip(spreads, cases, strict=True)
        )
        low, high = Independent((first, second), kinds).interval()
        covered += low <= 0 <= high
    assert covered / WORLDS >= MIN_COVERAGE


def test_amounts_with_short_tails_keep_their_interval():
    random = np.random.default_rng(2)
    amounts = random.exponential(1, 200)
    assert lognormal_interval(amounts, np.ones(200), 200) is None
    assert lognormal_interval(np.append(amounts, 0.0), np.ones(201), 201) is None
    assert lognormal_interval(np.full(20, 3.0), np.ones(20), 20) is None
    low, high = ClusterBootstrap(range(200), 0).interval(mean_statistic(amounts, AMOUNT))
    assert high - low < 0.4


@pytest.mark.parametrize("cases", [2, 3, 5, 7])
def test_a_mean_of_few_amounts_has_no_interval(cases):
    amounts = np.arange(1.0, cases + 1)
    assert lognormal_interval(amounts, np.ones(cases), cases) is None
    interval = ClusterBootstrap(range(cases), 0).interval(mean_statistic(amounts, AMOUNT))
    assert np.isnan(interval).all()


@pytest.mark.parametrize("cases", [8, 12, 20])
def test_the_mean_of_skewed_amounts_is_covered(cases):
    random = np.random.default_rng(4)
    bootstrap = ClusterBootstrap(range(cases), 0)
    covered = 0
    for _ in range(WORLDS):
        amounts = random.lognormal(-1.125, 1.5, cases)
        low, high = bootstrap.interval(mean_statistic(amounts, AMOUNT))
        covered += low <= 1 <= high
    assert covered / WORLDS >= MIN_COVERAGE


def f1(true, predicted) -> Sums:
    hits = np.asarray(true, dtype=float) * predicted
    return Sums(2 * hits[:, None], (np.asarray(true, dtype=float) + predicted)[:, None], MIN_HITS)


@pytest.mark.parametrize(
    ("cases", "base", "recall"), [(100, 0.1, 0.8), (200, 0.1, 0.95), (200, 0.05, 0.9)]
)
def test_f1_against_an_always_positive_side_is_covered(cases, base, recall):
    random = np.random.default_rng(9)
    false_rate = (2 * base * recall * (1 + base) / (2 * base) - base - base * recall) / (1 - base)
    covered = intervals = 0
    for _ in range(WORLDS):
        true = random.random(cases) < base
        predicted = random.random(cases) < np.where(true, recall, false_rate)
        difference = compare_paired(
            f1(true, np.ones(cases)), f1(true, predicted), range(cases), 0, DIFFERENCE
        )
        intervals += not np.isnan(difference.low)
        covered += difference.low <= 0 <= difference.high
    assert intervals > WORLDS / 10
    assert covered / intervals >= MIN_COVERAGE


@pytest.mark.parametrize("hits", [0, 1, MIN_HITS - 1, MIN_HITS])
@pytest.mark.parametrize("cases", [20, 200])
def test_f1_of_few_hits_has_no_interval_and_says_why(hits, cases):
    true, predicted = np.arange(cases) < hits, np.arange(cases) < max(1, hits // 2)
    difference = compare_paired(
        f1(true, np.ones(cases)), f1(true, predicted), range(cases), 0, DIFFERENCE, 0.1
    )
    if hits == MIN_HITS:
        assert difference.reason == "" and difference.low <= difference.high
        return
    assert np.isnan([difference.low, difference.high]).all()
    assert difference.p == 1 and difference.equivalence == 1
    assert f"found {hits}, expected at least {MIN_HITS}" in difference.reason


def test_hits_of_one_cluster_count_once():
    true = np.arange(60) < 30
    difference = compare_paired(
        f1(true, np.ones(60)), f1(true, true), np.repeat(np.arange(6), 10), 0, DIFFERENCE
    )
    assert "found 3, expected" in difference.reason
