"""Test cluster intervals: resampling, coverage and degenerate samples."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from moot.stats import bootstrap as bootstrap_module
from moot.stats import randomisation
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.bootstrap_interval import estimate_interval
from moot.stats.calibration import auc_statistic
from moot.stats.randomisation import sign_flip_p
from moot.stats.statistic import (
    AMOUNT,
    DIFFERENCE,
    SHARE,
    Statistic,
    mean_statistic,
    ratio_statistic,
    share_statistic,
)

PROJECT = Path(__file__).resolve().parents[2]


def test_rows_of_a_cluster_are_drawn_together():
    bootstrap = ClusterBootstrap(["a", "a", "b", "b", "c", "c"], seed=1, resamples=200)
    (weights,) = bootstrap.weights()
    assert (weights[:, 0::2] == weights[:, 1::2]).all()
    assert (weights.sum(axis=1) == 6).all()
    assert len(np.unique(weights[:, 0])) > 2


def test_resamples_drawn_in_parts_equal_those_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases, is_correct = np.arange(90) % 70, np.arange(90) % 3 == 0
    probability = np.linspace(0, 1, 90)
    statistics = [share_statistic(is_correct), auc_statistic(is_correct.astype(float), probability)]
    bootstrap = ClusterBootstrap(cases, seed=5, resamples=101)
    expected = [bootstrap.draws(statistic) for statistic in statistics]
    monkeypatch.setattr(bootstrap_module, "_MAX_WEIGHTS_IN_MEMORY", 1000)
    bootstrap_module._draw_clusters.cache_clear()
    parts = ClusterBootstrap(cases, seed=5, resamples=101)
    assert [len(weights) for weights in parts.weights()] == [11] * 9 + [2]
    for statistic, draws in zip(statistics, expected, strict=True):
        assert parts.draws(statistic) == pytest.approx(draws, rel=1e-12)


def test_sign_patterns_drawn_in_parts_equal_those_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = np.random.default_rng(2).normal(0.2, 1, 60)
    expected = sign_flip_p(differences, 1)
    monkeypatch.setattr(randomisation, "_MAX_SIGNS_IN_MEMORY", 1000)
    assert sign_flip_p(differences, 1) == expected


def test_repeats_do_not_narrow_the_interval():
    outcomes = {"a": 1, "b": 0, "c": 1, "d": 0}
    interval = ClusterBootstrap(list(outcomes), seed=3).interval(
        share_statistic(list(outcomes.values()))
    )
    twenty_times = ClusterBootstrap(list(outcomes) * 20, seed=3)
    statistic = share_statistic(list(outcomes.values()) * 20)
    assert twenty_times.interval(statistic) == pytest.approx(interval)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_interval(seed):
    cases, values = range(30), mean_statistic(np.arange(30))
    assert ClusterBootstrap(cases, seed).interval(values) == ClusterBootstrap(cases, seed).interval(
        values
    )
    assert ClusterBootstrap(cases, seed).interval(values) != ClusterBootstrap(
        cases, seed + 1
    ).interval(values)


# Few clusters


def test_one_cluster_has_a_value_and_no_interval():
    value, low, high = ClusterBootstrap(["a", "a"], seed=0).estimate(
        ratio_statistic([1, 3], [2, 2], SHARE)
    )
    assert value == 1.0
    assert np.isnan(low) and np.isnan(high)


@pytest.mark.parametrize(("clusters", "end"), [(2, 0.158), (5, 0.478), (30, 0.884)])
def test_unanimous_cases_have_the_clopper_pearson_interval(clusters, end):
    cases = [*range(clusters)] * 3
    bootstrap = ClusterBootstrap(cases, seed=0)
    assert bootstrap.estimate(share_statistic([1] * len(cases))) == pytest.approx(
        (1, end, 1), abs=0.001
    )
    assert bootstrap.estimate(share_statistic([0] * len(cases))) == pytest.approx(
        (0, 0, 1 - end), abs=0.001
    )


def test_an_interval_of_few_cases_is_never_a_point():
    """Cover every outcome of one to eight cases with one or two repeats each."""
    for cases in range(1, 9):
        for successes in range(cases + 1):
            for repeats in (1, 2):
                names = [*range(cases)] * repeats
                values = ([1.0] * successes + [0.0] * (cases - successes)) * repeats
                for statistic in (share_statistic(values), mean_statistic(values, DIFFERENCE)):
                    _, low, high = ClusterBootstrap(names, seed=2).estimate(statistic)
                    assert np.isnan(low) if cases == 1 else high - low > 0.2, (cases, successes)


def test_a_difference_of_zero_everywhere_still_has_an_interval():
    rare = 1 - 0.025 ** (1 / 8)
    ends = ClusterBootstrap(range(8), seed=0).interval(mean_statistic(np.zeros(8), DIFFERENCE))
    assert ends == pytest.approx((-rare, rare))


def test_an_amount_that_is_the_same_everywhere_has_no_interval():
    assert np.isnan(
        ClusterBootstrap(range(8), seed=0).interval(mean_statistic([7] * 8, AMOUNT))
    ).all()


def test_only_clusters_that_can_change_a_value_count_for_its_interval():
    """Two of twenty cases are positive: recall and AUC depend on two and are imprecise."""
    truth = np.array([1.0] * 2 + [0.0] * 18)
    bootstrap = ClusterBootstrap(range(20), seed=0)
    two = pytest.approx((0.158, 1), abs=0.001)
    assert bootstrap.interval(ratio_statistic(truth, truth, SHARE)) == two
    assert bootstrap.interval(auc_statistic(truth, truth)) == two
    assert bootstrap.interval(auc_statistic(1 - truth, 1 - truth)) == two
    outcomes = np.array([1.0] + [0.0] * 19)
    assert np.isnan(bootstrap.interval(auc_statistic(outcomes, outcomes))).all()


def test_intervals_stay_within_bounds_and_contain_their_value():
    random = np.random.default_rng(5)
    for _ in range(50):
        clusters = int(random.integers(2, 12))
        codes = random.integers(clusters, size=40)
        is_correct = (random.random(40) < random.random()).astype(float)
        statistics = [
            share_statistic(is_correct),
            mean_statistic(is_correct - random.random(40), DIFFERENCE),
            mean_statistic(9 * is_correct, AMOUNT),
        ]
        for statistic in statistics:
            value, low, high = ClusterBootstrap(codes, seed=1).estimate(statistic)
            assert (
                np.isnan(low) or statistic.bounds[0] <= low <= value <= high <= statistic.bounds[1]
            )


def test_undefined_resamples_are_left_out():
    draws = np.array([0.2, np.nan, 0.4, np.nan, 0.3])
    assert estimate_interval(0.3, draws, 5, SHARE) == estimate_interval(
        0.3, draws[~np.isnan(draws)], 5, SHARE
    )
    undefined = Statistic(lambda weights: np.full(len(weights), np.nan), SHARE)
    assert np.isnan(ClusterBootstrap(range(4), seed=0).estimate(undefined)).all()


# Coverage


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        return importlib.import_module("coverage_shares")


@pytest.mark.slow  # only this test detects intervals that are too narrow
def test_intervals_have_the_coverage_that_the_document_states(simulation):
    coverages = simulation.coverages()
    for (clusters, rate, correlation), (ours, _) in coverages.items():
        min_coverage, max_coverage = (0.92, 0.98) if clusters >= 30 else (0.90, 1.0)
        assert min_coverage <= ours <= max_coverage, (clusters, rate, correlation)
    figures: list[float] = []
    for line in simulation.PART.read().splitlines()[2:]:
        figures += [float(cell.split()[0]) for cell in line.split("|")[3:-1]]
    assert figures == pytest.approx([100 * ours for ours, _ in coverages.values()], abs=0.2), (
        "update the document with --write"
    )
