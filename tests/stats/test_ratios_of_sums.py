"""Test differences of ratios of sums against the paired test and by brute force."""

import itertools
from operator import attrgetter

import numpy as np
import pytest
from sklearn.metrics import f1_score

from moot.stats.arrays import as_numbers
from moot.stats.differences import Sums, compare_paired, compare_unpaired
from moot.stats.paired import compare
from moot.stats.statistic import ANY, DIFFERENCE, SHARE


def means(values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def f1_sums(actual, predicted) -> Sums:
    actual, predicted = as_numbers(actual)[:, None], as_numbers(predicted)[:, None]
    return Sums(2 * actual * predicted, actual + predicted)


def test_ratios_that_are_means_equal_the_paired_comparison():
    random = np.random.default_rng(3)
    first = as_numbers(random.integers(0, 3, 50)) / 2
    second = as_numbers(random.integers(0, 3, 50)) / 2
    clusters = random.integers(0, 20, 50)
    difference = compare_paired(means(first), means(second), clusters, 7, DIFFERENCE)
    reference = compare(first, second, clusters, 7)
    measures = attrgetter("difference", "low", "high", "p")
    assert measures(difference) == pytest.approx(measures(reference))
    assert (difference.first, difference.second) == (first.mean(), second.mean())


def macro_f1_sums(actual, predicted) -> Sums:
    tops, bottoms = [], []
    for label in range(3):
        sums = f1_sums(actual == label, predicted == label)
        tops.append(sums.tops)
        bottoms.append(sums.bottoms)
    return Sums(np.hstack(tops), np.hstack(bottoms))


@pytest.mark.parametrize("base_rate", [0.25, 0.4])
def test_a_side_that_always_answers_positive_shows_no_difference(base_rate):
    """Both sides have the same F1 in the population, and p agrees with the interval."""
    random, cases, true_positive_rate, worlds = np.random.default_rng(7), 100, 0.5, 200
    f1 = 2 * base_rate / (1 + base_rate)
    false_positive_rate = (
        2 * base_rate * true_positive_rate / f1 - base_rate * (1 + true_positive_rate)
    ) / (1 - base_rate)
    rejected = 0
    for _ in range(worlds):
        actual = random.random(cases) < base_rate
        predicted = random.random(cases) < np.where(actual, true_positive_rate, false_positive_rate)
        difference = compare_paired(
            f1_sums(actual, np.ones(cases)), f1_sums(actual, predicted), range(cases), 0, DIFFERENCE
        )
        assert (difference.p < 0.05) != (difference.low <= 0 <= difference.high)
        rejected += difference.p < 0.05
    assert rejected / worlds <= 0.06 + 2.6 * (0.06 * 0.94 / worlds) ** 0.5


def test_a_label_used_by_only_one_side_shows_no_difference():
    """One unusual answer of eleven changes macro F1 over occurring labels, as in scikit-learn."""
    actual = np.array([0, 1] * 5 + [0])
    answers = np.array([actual, [2, *actual[1:]], np.where(np.arange(11) < 3, 1 - actual, actual)])
    for first, second in itertools.combinations(answers, 2):
        difference = compare_paired(
            macro_f1_sums(actual, first), macro_f1_sums(actual, second), range(11), 0, DIFFERENCE
        )
        assert difference.first == pytest.approx(f1_score(actual, first, average="macro"))
        assert difference.low <= 0 <= difference.high
        assert difference.p >= 0.05


def test_the_influence_of_a_case_equals_its_jackknife_value():
    random = np.random.default_rng(1)
    actual, predicted = random.integers(0, 2, 400), random.integers(0, 2, 400)
    sums = f1_sums(actual, predicted)
    weights = 1 - np.eye(400)
    jackknife = (400 - 1) * (sums.total() - sums.value(weights))
    assert sums.influences() == pytest.approx(jackknife, abs=0.02)
    assert abs(sums.influences().mean()) < 1e-12
    assert means(actual).influences() == pytest.approx(actual - actual.mean())


def test_unpaired_sides_keep_their_level():
    """Two equal sides share clusters; p is below 0.05 about once in twenty samples."""
    random = np.random.default_rng(0)
    rejections = 0
    for seed in range(300):
        stories = random.normal(size=30)
        p = 1 / (1 + np.exp(-stories))
        first = random.random(60) < np.repeat(p, 2)
        second = random.random(60) < np.repeat(p, 2)
        clusters = np.repeat(np.arange(30), 2)
        rejections += (
            compare_unpaired(means(first), means(second), clusters, clusters, seed, SHARE).p < 0.05
        )
    assert 5 <= rejections <= 25, rejections
    far = compare_unpaired(
        means(np.ones(20)), means(random.random(30) < 0.3), range(20), range(20, 50), 0, SHARE
    )
    assert far.p < 0.001 < far.low
    assert (far.cases, far.clusters) == (50, 50)


def test_empty_or_equal_sides_show_no_difference():
    nothing = compare_paired(
        Sums(np.zeros((0, 1)), np.zeros((0, 1))),
        Sums(np.zeros((0, 1)), np.zeros((0, 1))),
        [],
        0,
        ANY,
    )
    assert np.isnan([nothing.difference, nothing.low, nothing.p]).all()
    sums = f1_sums([1, 0, 1], [1, 1, 0])
    assert compare_paired(sums, sums, range(3), 0, DIFFERENCE).p == 1
