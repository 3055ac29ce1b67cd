"""Differences that are analysed after every case: the error, the coverage and the verdicts, on
planted truths.
"""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from moot.analyses.stopping.sequential import BETS, FUTILE, OPEN, SHOWN, SMALLER, PairedDifferences
from moot.stats.bootstrap import DIFFERENCE

PROJECT = Path(__file__).resolve().parents[3]


def watched(first_alone: int, second_alone: int, equal: int = 0) -> PairedDifferences:
    sums = np.repeat([1.0, -1.0, 0.0], [first_alone, second_alone, equal])
    return PairedDifferences(sums, np.ones(len(sums)), 1, DIFFERENCE)


def test_a_stake_is_the_mean_of_the_products_of_its_bets() -> None:
    found = watched(5, 2, 3)
    assert np.exp(found.above(0)) == pytest.approx(np.mean((1 + BETS) ** 5 * (1 - BETS) ** 2))
    assert np.exp(found.below(0)) == pytest.approx(np.mean((1 - BETS) ** 5 * (1 + BETS) ** 2))
    supposed = 0.2
    gains = [0.8 / 1.2] * 5 + [-1.2 / 1.2] * 2 + [-0.2 / 1.2] * 3
    assert np.exp(found.above(supposed)) == pytest.approx(
        np.mean([np.prod([1 + r * g for g in gains]) for r in BETS])
    )
    assert found.p() == pytest.approx(min(1, 2 / np.mean((1 + BETS) ** 5 * (1 - BETS) ** 2)))


def test_sides_that_change_places_change_the_sign_alone() -> None:
    one, other = watched(40, 15, 45), watched(15, 40, 45)
    assert one.p() == other.p() < 0.05
    assert one.interval() == pytest.approx([-end for end in reversed(other.interval())])
    assert one.interval()[0] > 0
    assert one.interval(0.01)[0] < one.interval()[0]


@pytest.mark.parametrize(
    ("found", "share", "verdict"),
    [
        (watched(40, 10, 50), 0.4, SHOWN),
        (watched(100, 100, 1800), 0.4, SMALLER),
        (watched(20, 20, 60), 0.4, OPEN),
        (watched(20, 20, 60), 0.5, FUTILE),
        (watched(20, 20, 60), 1.0, OPEN),
        (watched(26, 14, 60), 0.5, OPEN),
        (watched(0, 0, 0), 0.0, OPEN),
    ],
)
def test_a_verdict_has_its_reason(found: PairedDifferences, share: float, verdict: str) -> None:
    assert found.verdict(0.05, share=share) == verdict
    if verdict == FUTILE:
        assert found.verdict(0.05, share=share, futility=False) == OPEN


def test_nothing_known_excludes_nothing_and_equal_cases_are_no_difference() -> None:
    assert watched(0, 0, 0).interval() == DIFFERENCE
    assert watched(0, 0, 0).p() == 1
    low, high = watched(0, 0, 200).interval()
    assert -0.05 < low < 0 < high < 0.05


def test_each_case_of_the_bounds_may_be_the_last_without_ruin() -> None:
    """The greatest loss that a bet may make leaves it something."""
    for sums in ([1.0] * 300, [-1.0] * 300):
        found = PairedDifferences(np.array(sums), np.ones(300), 1, DIFFERENCE)
        assert np.isfinite(
            [found.above(0.9), found.below(0.9), found.above(-0.9), *found.interval()]
        ).all()
        assert found.interval()[sums[0] > 0] == pytest.approx(sums[0], abs=1e-6)


def test_cases_of_a_cluster_count_as_one_bet() -> None:
    """Five equal cases in each cluster show no more than each fifth of them alone."""
    alone = watched(30, 10, 10)
    together = PairedDifferences(alone.sums * 5, alone.sizes * 5, 5, DIFFERENCE)
    assert together.interval() == pytest.approx(alone.interval())
    assert together.p() == pytest.approx(alone.p())
    smaller = PairedDifferences(alone.sums, alone.sizes, 5, DIFFERENCE)
    assert smaller.p() > alone.p(), "while one of five cases may come"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return importlib.import_module("coverage_sequential")


def test_the_benchmark_stops_where_the_package_does(benchmark: ModuleType) -> None:
    reasons = set()
    for number in range(40):
        random = np.random.default_rng(number)
        difference = (0.0, 0.1, 0.3)[number % 3]
        world = (benchmark.independent, benchmark.clustered)[number % 2]
        sums, sizes = world(difference, 510)(random)
        end = benchmark.StakeHistory(sums, sizes, sizes.max()).stop(
            difference, 0.1, 20, futility=True
        )
        seen, planned = sizes.cumsum(), sizes.sum()
        for held in range(1, len(sums) + 1):
            if held < len(sums) and seen[held] // 20 == seen[held - 1] // 20:
                continue
            found = PairedDifferences(sums[:held], sizes[:held], sizes.max(), DIFFERENCE)
            verdict = found.verdict(0.1, share=seen[held - 1] / planned)
            if verdict != OPEN:
                break
        low, high = found.interval()
        assert (end.reason, end.cases, end.covered) == (
            verdict,
            seen[held - 1],
            low <= difference <= high,
        )
        reasons.add(verdict)
    assert {SHOWN, SMALLER, FUTILE} <= reasons


@pytest.mark.slow
def test_errors_are_at_most_five_of_a_hundred_and_intervals_hold_the_truth(
    benchmark: ModuleType,
) -> None:
    for name, truth, shown, covered in benchmark.errors(400):
        assert covered >= 0.95, name
        assert truth != 0 or shown <= 0.05, name
    rows = list(benchmark.savings(100))
    saved = [1 - found["cases"].mean() / planned for _, planned, _, found in rows]
    assert saved[-1] > 0.7 and min(saved) > 0
