"""Test sequential analysis: error rate, coverage and verdicts on planted differences."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from moot.analyses.stopping.sequential import (
    BETS,
    DIFFERENCE_SHOWN,
    FUTILE,
    OPEN,
    SMALLER,
    PairedDifferences,
)
from moot.stats.statistic import DIFFERENCE

PROJECT = Path(__file__).resolve().parents[3]


def paired_differences(first_alone: int, second_alone: int, equal: int = 0) -> PairedDifferences:
    sums = np.repeat([1.0, -1.0, 0.0], [first_alone, second_alone, equal])
    return PairedDifferences(sums, np.ones(len(sums)), 1, DIFFERENCE)


def test_a_stake_equals_the_mean_product_of_its_bets() -> None:
    stakes = paired_differences(5, 2, 3)
    assert np.exp(stakes.stake_above(0)) == pytest.approx(
        np.mean((1 + BETS) ** 5 * (1 - BETS) ** 2)
    )
    assert np.exp(stakes.stake_below(0)) == pytest.approx(
        np.mean((1 - BETS) ** 5 * (1 + BETS) ** 2)
    )
    supposed = 0.2
    gains = np.array([0.8 / 1.2] * 5 + [-1.2 / 1.2] * 2 + [-0.2 / 1.2] * 3)
    products = np.prod(1 + BETS[:, None] * gains, axis=1)
    assert np.exp(stakes.stake_above(supposed)) == pytest.approx(products.mean())
    assert stakes.p() == pytest.approx(min(1, 2 / np.mean((1 + BETS) ** 5 * (1 - BETS) ** 2)))


def test_exchanging_the_sides_changes_only_the_sign() -> None:
    forward, reversed_sides = paired_differences(40, 15, 45), paired_differences(15, 40, 45)
    assert forward.p() == reversed_sides.p() < 0.05
    low, high = reversed_sides.interval()
    assert forward.interval() == pytest.approx((-high, -low))
    assert forward.interval()[0] > 0
    assert forward.interval(0.01)[0] < forward.interval()[0]


@pytest.mark.parametrize(
    ("differences", "share", "verdict"),
    [
        (paired_differences(40, 10, 50), 0.4, DIFFERENCE_SHOWN),
        (paired_differences(100, 100, 1800), 0.4, SMALLER),
        (paired_differences(20, 20, 60), 0.4, OPEN),
        (paired_differences(20, 20, 60), 0.5, FUTILE),
        (paired_differences(20, 20, 60), 1.0, OPEN),
        (paired_differences(26, 14, 60), 0.5, OPEN),
        (paired_differences(0, 0, 0), 0.0, OPEN),
    ],
)
def test_a_verdict_has_its_reason(
    differences: PairedDifferences, share: float, verdict: str
) -> None:
    assert differences.verdict(0.05, share=share) == verdict
    if verdict == FUTILE:
        assert differences.verdict(0.05, share=share, futility=False) == OPEN


def test_an_interval_without_data_is_unbounded_and_equal_cases_show_no_difference() -> None:
    assert paired_differences(0, 0, 0).interval() == DIFFERENCE
    assert paired_differences(0, 0, 0).p() == 1
    low, high = paired_differences(0, 0, 200).interval()
    assert -0.05 < low < 0 < high < 0.05


def test_no_extreme_case_makes_a_stake_infinite() -> None:
    """The largest possible loss of a bet leaves a positive stake."""
    for sums in ([1.0] * 300, [-1.0] * 300):
        differences = PairedDifferences(np.array(sums), np.ones(300), 1, DIFFERENCE)
        assert np.isfinite(
            [
                differences.stake_above(0.9),
                differences.stake_below(0.9),
                differences.stake_above(-0.9),
                *differences.interval(),
            ]
        ).all()
        assert differences.interval()[sums[0] > 0] == pytest.approx(sums[0], abs=1e-6)


def test_cases_of_a_cluster_count_as_one_bet() -> None:
    """Five equal cases in each cluster show no more than one of them."""
    single = paired_differences(30, 10, 10)
    clustered = PairedDifferences(single.sums * 5, single.sizes * 5, 5, DIFFERENCE)
    assert clustered.interval() == pytest.approx(single.interval())
    assert clustered.p() == pytest.approx(single.p())
    smaller = PairedDifferences(single.sums, single.sizes, 5, DIFFERENCE)
    assert smaller.p() > single.p(), "further cases can still change it"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return importlib.import_module("benchmark_sequential")


def test_the_benchmark_and_the_package_stop_at_the_same_case(benchmark: ModuleType) -> None:
    reasons = set()
    for number in range(40):
        random = np.random.default_rng(number)
        difference = (0.0, 0.1, 0.3)[number % 3]
        world = (benchmark.independent, benchmark.clustered)[number % 2]
        sums, sizes = world(difference, 510)(random)
        end = benchmark.StakeHistory(sums, sizes, sizes.max()).stop(
            difference, 0.1, 20, futility=True
        )
        cases_seen, total_cases = sizes.cumsum(), sizes.sum()
        for clusters_seen in range(1, len(sums) + 1):
            if (
                clusters_seen < len(sums)
                and cases_seen[clusters_seen] // 20 == cases_seen[clusters_seen - 1] // 20
            ):
                continue
            differences = PairedDifferences(
                sums[:clusters_seen], sizes[:clusters_seen], sizes.max(), DIFFERENCE
            )
            verdict = differences.verdict(0.1, share=cases_seen[clusters_seen - 1] / total_cases)
            if verdict != OPEN:
                break
        low, high = differences.interval()
        assert (end.reason, end.cases, end.covered) == (
            verdict,
            cases_seen[clusters_seen - 1],
            low <= difference <= high,
        )
        reasons.add(verdict)
    assert {DIFFERENCE_SHOWN, SMALLER, FUTILE} <= reasons


@pytest.mark.slow
def test_the_error_rate_is_at_most_5_percent_and_intervals_cover(
    benchmark: ModuleType,
) -> None:
    for name, truth, rejections, covered in benchmark.errors(400):
        assert covered >= 0.95, name
        assert truth != 0 or rejections <= 0.05, name
    rows = list(benchmark.savings(100))
    saved = [1 - stops["cases"].mean() / planned_cases for _, planned_cases, _, stops in rows]
    assert saved[-1] > 0.7 and min(saved) > 0
