"""Coefficients with a constant rater, missing labels, calibration errors, and debates within
unequal cases.
"""

import numpy as np
import pytest

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.arrays import Floats, ratio
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.calibration import auc_statistic, calibration_error_statistic
from moot.stats.classification import rows_behind
from moot.stats.statistic import SHARE
from moot.stats.within_cases import interval_within

WORLDS = 200
SLACK = 3 * (0.93 * 0.07 / WORLDS) ** 0.5


def estimate(statistic, rows: int) -> tuple[float, float, float]:
    return ClusterBootstrap(range(rows), 0).estimate(statistic)


@pytest.mark.parametrize("labels", ["ab", "abc"])
@pytest.mark.parametrize("rows", [4, 15, 60])
@pytest.mark.parametrize("is_first_constant", [True, False])
def test_kappa_of_a_constant_rater_is_0_without_interval(labels, rows, is_first_constant):
    varied = [labels[row % len(labels)] for row in range(rows)]
    constant = ["a"] * rows
    raters = (constant, varied) if is_first_constant else (varied, constant)
    value, low, high = estimate(cohens_kappa(*raters), rows)
    assert value == 0
    assert np.isnan([low, high]).all()


def test_kappa_of_two_varying_raters_lies_in_its_interval():
    first, second = list("aabb" * 8), list("abbb" * 8)
    value, low, high = estimate(cohens_kappa(first, second), 32)
    assert low < value < high


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_an_item_without_a_label_is_left_out_of_kappa(missing):
    rated = cohens_kappa(["a", "b", "a"], ["a", "b", "b"])
    with_missing = cohens_kappa(["a", "b", missing, "a", "b"], ["a", "b", "b", "b", missing])
    assert with_missing(np.ones((1, 5)))[0] == pytest.approx(rated(np.ones((1, 3)))[0])
    assert with_missing(np.ones((1, 5)))[0] == pytest.approx(0.4)


def test_alpha_of_items_with_one_deviating_item_has_no_interval():
    ratings = np.array([["a", "a"]] * 9 + [["a", "b"]], dtype=object)
    assert np.isnan(estimate(krippendorffs_alpha(ratings), 10)[1:]).all()


def test_auc_of_a_constant_score_has_no_interval():
    truth = np.array([0.0, 1.0] * 8)
    value, low, high = estimate(auc_statistic(truth, np.full(16, 0.7)), 16)
    assert value == 0.5
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize("metric", ["kappa", "mcc"])
@pytest.mark.parametrize("assigned", [[1.0, 0.0], [0.6, 0.4], [0.0, 0.0]])
def test_a_model_that_always_answers_alike_has_no_rows_behind_its_agreement(metric, assigned):
    truth = np.eye(2)[[0, 1] * 6]
    predictions = np.tile(assigned, (12, 1))
    assert not rows_behind((metric, "", ""), truth, predictions, ("a", "b"), 0).any()


@pytest.mark.parametrize("answers", [20, 40, 150])
@pytest.mark.parametrize("error", [0.0, 0.05, 0.15])
def test_calibration_errors_are_covered(answers, error):
    random, covered = np.random.default_rng(4), 0
    for _ in range(WORLDS):
        confidence = random.choice([0.55, 0.65, 0.75, 0.85, 0.95], answers)
        is_right = (random.random(answers) < confidence - error).astype(float)
        _, low, high = estimate(calibration_error_statistic(confidence, is_right), answers)
        covered += low - 1e-9 <= error <= high + 1e-9
    assert covered / WORLDS >= 0.93 - SLACK


def test_few_answers_have_no_interval_of_the_calibration_error():
    confidence = np.linspace(0.5, 1, 19)
    value, low, high = estimate(calibration_error_statistic(confidence, np.ones(19)), 19)
    assert value > 0
    assert np.isnan([low, high]).all()


def mean_of_cases(values: Floats, sizes: list[int]):
    shares = np.repeat(1 / (np.array(sizes) * len(sizes)), sizes)
    return lambda weights: ratio(weights @ (values * shares), weights @ shares)


@pytest.mark.parametrize(
    "sizes", [[10] * 9 + [2], [10] * 5, [2] * 9, [3] * 5, [2, 50], [2, 2, 2, 30, 30, 30]]
)
@pytest.mark.parametrize("rates", [(0.2, 0.8), (0.02, 0.3), (0.9, 0.99)])
def test_debates_within_cases_of_unequal_numbers_are_covered(sizes, rates):
    random, covered = np.random.default_rng(6), 0
    rates_of_cases = random.uniform(*rates, len(sizes))
    strata = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(WORLDS):
        values = (random.random(len(strata)) < rates_of_cases[strata]).astype(float)
        interval = interval_within(mean_of_cases(values, sizes), strata.tolist(), 0, SHARE)
        covered += interval.low <= rates_of_cases.mean() <= interval.high
    assert covered / WORLDS >= 0.93 - SLACK


def test_one_case_with_two_repeats_does_not_set_the_degrees_of_freedom_of_all():
    random = np.random.default_rng(3)
    sizes = [10] * 9 + [2]
    strata = np.repeat(np.arange(10), sizes)
    values = (random.random(len(strata)) < 0.5).astype(float)
    interval = interval_within(mean_of_cases(values, sizes), strata.tolist(), 0, SHARE)
    assert interval.freedom > 10
    assert interval.high - interval.low < 0.4
