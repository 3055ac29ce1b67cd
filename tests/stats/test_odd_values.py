"""Zeros among amounts, infinite values, pairs without weight and missing answers."""

import numpy as np
import pandas as pd
import pytest

from moot.stats.asked_twice import changes, differ
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.calibration import calibration_error_statistic
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.randomisation import sign_flip_p
from moot.stats.score_intervals import wilson_interval
from moot.stats.statistic import AMOUNT, ANY, SHARE, mean_statistic

NAN, INF = float("nan"), float("inf")


def _means(values) -> Sums:
    column = np.asarray(values, dtype=float)[:, None]
    return Sums(column, np.ones_like(column))


@pytest.mark.parametrize("zeros", [1, 2, 10, 19])
@pytest.mark.parametrize("amount", [0.1, 3.0, 700.0])
@pytest.mark.parametrize("cases", [20, 40])
def test_zeros_among_amounts_leave_a_finite_interval(zeros, amount, cases):
    values = np.full(cases, amount) * np.linspace(0.5, 1.5, cases)
    values[:zeros] = 0.0
    difference = compare_unpaired(
        _means(values), _means(values[::-1]), range(cases), range(cases, 2 * cases), 0, AMOUNT
    )
    assert difference.difference == pytest.approx(0, abs=1e-9 * amount)
    assert -10 * amount < difference.low < 0 < difference.high < 10 * amount
    scaled = compare_unpaired(
        _means(values * 8), _means(values[::-1] * 8), range(cases), range(cases, 2 * cases), 0,
        AMOUNT,
    )  # fmt: skip
    assert scaled.high == pytest.approx(8 * difference.high, rel=1e-6)


@pytest.mark.parametrize("value", [INF, -INF])
@pytest.mark.parametrize("bounds", [AMOUNT, ANY])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_infinite_value_has_no_interval(value, bounds):
    statistic = mean_statistic([1.0] * 29 + [value], bounds)
    assert np.isnan(ClusterBootstrap(range(30), 0).interval(statistic)).all()


@pytest.mark.parametrize("values", [[INF, 1.0, 2.0], [-INF] * 9, [1.0, NAN]])
def test_an_infinite_difference_has_no_p(values):
    assert np.isnan(sign_flip_p(np.array(values), 0))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e90, 1e200, 1e307])
@pytest.mark.filterwarnings("error")
def test_the_randomisation_test_does_not_depend_on_the_scale(scale):
    values = np.array([3.0, 1.0, 2.0, 0.5, 4.0])
    assert sign_flip_p(values * scale, 0) == pytest.approx(2 / 2**5)
    assert sign_flip_p(values * [1, -1, 1, -1, 1] * scale, 0) == sign_flip_p(
        values * [1, -1, 1, -1, 1], 0
    )


@pytest.mark.parametrize("share", [-0.1, 1.2, 55, NAN, INF])
def test_a_share_outside_its_range_has_no_interval(share):
    assert np.isnan(wilson_interval(share, 20)).all()
    confidences = np.array([0.5] * 39 + [share])
    estimate = ClusterBootstrap(range(40), 0).estimate(
        calibration_error_statistic(confidences, np.ones(40))
    )
    assert np.isnan(estimate).all()


@pytest.mark.parametrize("share", [0.0, 1.0, 1 + 1e-12, -1e-12])
def test_a_share_at_its_bounds_has_an_interval(share):
    assert not np.isnan(wilson_interval(share, 20)).any()
    statistic = calibration_error_statistic(np.full(40, share), np.ones(40))
    assert not np.isnan(ClusterBootstrap(range(40), 0).value(statistic))


@pytest.mark.parametrize("missing", [None, NAN, np.nan])
def test_two_missing_answers_are_no_change(missing):
    answers = np.array(["yes", missing, missing, "no"], dtype=object)
    assert differ(answers, answers).tolist() == [0, 0, 0, 0]
    assert differ(answers, answers[::-1]).tolist() == [1, 0, 0, 1]
    assert differ(answers, np.array(["yes"] * 4, dtype=object)).tolist() == [0, 1, 1, 1]
    index = pd.MultiIndex.from_product([["c1", "c2"], [0, 1]])
    column = pd.Series(answers, index, dtype=object)
    change = changes(column, column, differ, {"c1": 1, "c2": 2}, 0)
    assert change.changed == change.between_repeats == 1


def test_two_numbers_that_are_missing_do_not_differ():
    numbers = np.array([0.0, NAN, 1.0])
    assert differ(numbers, numbers).tolist() == [0, 0, 0]
    assert differ(numbers, numbers[::-1]).tolist() == [1, 0, 1]


def test_a_share_of_amounts_of_one_value_keeps_its_interval():
    low, high = ClusterBootstrap(range(30), 0).interval(mean_statistic([0.0, 1.0] * 15, SHARE))
    assert 0.25 < low < 0.5 < high < 0.75
