"""Scores against small worked examples."""

import time

import numpy as np
import pytest

from moot.scores.uncertainty import CaseBootstrap, mean_of, ratio_of


def test_repeats_of_a_case_are_drawn_together():
    bootstrap = CaseBootstrap(["a", "a", "b", "b", "c", "c"], seed=1, resamples=200)
    assert (bootstrap.weights[:, 0::2] == bootstrap.weights[:, 1::2]).all()
    assert (bootstrap.weights.sum(axis=1) == 6).all()
    assert len(np.unique(bootstrap.weights[:, 0])) > 2


def test_repeats_do_not_narrow_the_interval():
    outcomes = {"a": 1, "b": 0, "c": 1, "d": 0}
    once = CaseBootstrap(list(outcomes), seed=3).interval(mean_of(list(outcomes.values())))
    twenty = CaseBootstrap([c for c in outcomes for _ in range(20)], seed=3)
    assert twenty.interval(mean_of([v for v in outcomes.values() for _ in range(20)])) == once


def test_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        sample = rng.random(80) < 0.3
        low, high = CaseBootstrap([str(i) for i in range(80)], seed=trial, resamples=400).interval(mean_of(sample))
        hits += low <= 0.3 <= high
    assert 0.90 <= hits / 300 <= 0.985


def test_one_case_has_a_value_and_no_interval():
    value, low, high = CaseBootstrap(["a", "a"], seed=0).estimate(ratio_of([1, 3], [2, 2]))
    assert value == 1.0
    assert np.isnan(low) and np.isnan(high)


def test_a_thousand_resamples_of_150_cases_are_quick():
    started = time.perf_counter()
    bootstrap = CaseBootstrap([str(i) for i in range(150)], seed=0)
    for column in range(12):
        bootstrap.estimate(mean_of(np.arange(150) % (column + 2)))
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_interval(seed):
    cases, values = [str(i) for i in range(30)], np.arange(30)
    assert CaseBootstrap(cases, seed).interval(mean_of(values)) == CaseBootstrap(cases, seed).interval(mean_of(values))
    assert CaseBootstrap(cases, seed).interval(mean_of(values)) != CaseBootstrap(cases, seed + 1).interval(
        mean_of(values)
    )
