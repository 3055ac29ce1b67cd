"""Differences of ratios of sums: as the paired test where they are means, by brute force where they
are not.
"""

import itertools

import numpy as np
import pytest
from sklearn.metrics import f1_score

from moot.stats.bootstrap import ANY, DIFFERENCE, SHARE, as_numbers
from moot.stats.differences import Sums, compare_paired, compare_unpaired
from moot.stats.paired import compare


def means(values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def f1_sums(true, predicted) -> Sums:
    true, predicted = as_numbers(true)[:, None], as_numbers(predicted)[:, None]
    return Sums(2 * true * predicted, true + predicted)


def test_of_means_it_is_the_paired_comparison():
    random = np.random.default_rng(3)
    first, second = (as_numbers(random.integers(0, 3, 50)) / 2 for _ in range(2))
    clusters = random.integers(0, 20, 50)
    difference = compare_paired(means(first), means(second), clusters, 7, DIFFERENCE)
    reference = compare(first, second, clusters, 7)
    values = [
        (result.difference, result.low, result.high, result.p) for result in (difference, reference)
    ]
    assert values[0] == pytest.approx(values[1])
    assert (difference.first, difference.second) == (first.mean(), second.mean())


def test_a_difference_in_f1_is_tested_by_every_exchange_of_answers_between_sides():
    random = np.random.default_rng(5)
    true = random.integers(0, 2, 11)
    answers = np.array(
        [np.where(random.random(11) < share, true, 1 - true) for share in (0.9, 0.4)]
    )
    difference = compare_paired(
        f1_sums(true, answers[0]), f1_sums(true, answers[1]), range(11), 0, DIFFERENCE
    )
    assert difference.first == pytest.approx(f1_score(true, answers[0]))

    def swapped_difference(swapped) -> float:
        first_answers, second_answers = (
            np.where(swapped, answers[1], answers[0]),
            np.where(swapped, answers[0], answers[1]),
        )
        return abs(f1_score(true, first_answers) - f1_score(true, second_answers))

    differences = [
        swapped_difference(np.array(swapped, dtype=bool))
        for swapped in itertools.product((0, 1), repeat=11)
    ]
    assert difference.p == pytest.approx(
        np.mean(np.array(differences) >= abs(difference.difference) - 1e-9)
    )


def test_a_label_that_one_side_alone_names_is_no_evidence_by_itself():
    """One odd answer of eleven: macro F1 by the labels that occur, as scikit-learn, in each
    exchange of answers.
    """
    true = np.array([0, 1] * 5 + [0])
    answers = np.array([true, [2, *true[1:]], np.where(np.arange(11) < 3, 1 - true, true)])

    def macro(side) -> Sums:
        terms = [f1_sums(true == label, side == label) for label in range(3)]
        return Sums(
            np.hstack([term.tops for term in terms]), np.hstack([term.bottoms for term in terms])
        )

    for first, second in itertools.combinations(answers, 2):
        difference = compare_paired(macro(first), macro(second), range(11), 0, DIFFERENCE)
        assert difference.first == pytest.approx(f1_score(true, first, average="macro"))

        def swapped_difference(swapped, first_side=first, second_side=second) -> float:
            sides = (
                np.where(swapped, second_side, first_side),
                np.where(swapped, first_side, second_side),
            )
            return abs(np.subtract(*(f1_score(true, side, average="macro") for side in sides)))

        moved = np.flatnonzero(first != second)
        differences = [
            swapped_difference(np.isin(np.arange(11), moved[list(subset)]))
            for subset in subsets(len(moved))
        ]
        assert difference.p == pytest.approx(
            np.mean(np.array(differences) >= abs(difference.difference) - 1e-9)
        )
        assert difference.low <= 0 <= difference.high


def subsets(size):
    return (
        subset
        for number in range(size + 1)
        for subset in itertools.combinations(range(size), number)
    )


def test_the_influence_of_a_case_is_what_leaving_it_out_changes():
    random = np.random.default_rng(1)
    true, predicted = random.integers(0, 2, 400), random.integers(0, 2, 400)
    sums = f1_sums(true, predicted)
    weights = 1 - np.eye(400)
    jackknife = (400 - 1) * (sums.total() - sums.value(weights))
    assert sums.influences() == pytest.approx(jackknife, abs=0.02)
    assert abs(sums.influences().mean()) < 1e-12
    assert means(true).influences() == pytest.approx(true - true.mean())


def test_sides_of_different_cases_keep_their_level():
    """Between equal sides, in clusters that both share, p is below 0.05 about once in twenty times."""
    random = np.random.default_rng(0)
    rejections = 0
    for seed in range(300):
        stories = random.normal(size=30)
        p = 1 / (1 + np.exp(-stories))
        first, second = (random.random(60) < np.repeat(p, 2) for _ in range(2))
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


def test_without_cases_or_differences_nothing_is_claimed():
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
