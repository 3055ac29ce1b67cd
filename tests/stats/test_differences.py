"""Test differences between two sides: their intervals, their tests, and what is refused."""

import itertools
from operator import attrgetter

import numpy as np
import pytest
from scipy.stats import binom, norm, ttest_ind, ttest_rel
from sklearn.metrics import f1_score
from statsmodels.stats import proportion

from moot.stats.arrays import as_numbers
from moot.stats.differences import (
    MIN_HITS,
    Difference,
    Sums,
    compare_paired,
    compare_unpaired,
    compare_with_threshold,
)
from moot.stats.intervals import (
    Mover,
    Student,
    Tango,
    Wilson,
    p_equivalence,
    wilson_interval,
)
from moot.stats.jackknife import ClusterJackknife
from moot.stats.paired import compare
from moot.stats.statistic import AMOUNT, ANY, DIFFERENCE, F1_ODDS, SHARE, share_statistic

MARGIN = 0.2


def means(values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def shares(counts: tuple[int, int, int, int]) -> Difference:
    first_right, first, second_right, second = counts
    sides = np.arange(first) < first_right, np.arange(second) < second_right
    return compare_unpaired(
        means(sides[0]), means(sides[1]), range(first), range(first, first + second), SHARE
    )


def pairs(first_alone: int, second_alone: int, cases: int, margin: float | None) -> Difference:
    first, second = np.ones(cases), np.ones(cases)
    second[:first_alone] = 0
    first[cases - second_alone :] = 0
    return compare_paired(means(first), means(second), range(cases), DIFFERENCE, margin)


def f1_sums(true, predicted) -> Sums:
    true, predicted = as_numbers(true)[:, None], as_numbers(predicted)[:, None]
    return Sums(2 * true * predicted, true + predicted, needs_hits=True, odds=F1_ODDS)


ends = attrgetter("low", "high")


# Methods


@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 0, 20)])
def test_shares_of_different_cases_are_compared_as_by_agresti_and_caffo(counts):
    difference = shares(counts)
    low, high = proportion.confint_proportions_2indep(*counts, method="agresti-caffo")
    assert ends(difference) == pytest.approx((max(-1, low), min(1, high)))
    theirs = proportion.test_proportions_2indep(*counts, method="agresti-caffo").pvalue
    assert difference.p == pytest.approx(theirs)


def test_amounts_of_different_cases_are_compared_by_welchs_test():
    random = np.random.default_rng(3)
    first, second = random.lognormal(0, 1, 8), random.lognormal(0, 0.1, 60)
    difference = compare_unpaired(means(first), means(second), range(8), range(8, 68), AMOUNT)
    theirs = ttest_ind(first, second, equal_var=False)
    assert difference.p == pytest.approx(theirs.pvalue)
    assert ends(difference) == pytest.approx(theirs.confidence_interval())


def test_means_of_the_same_cases_are_compared_by_the_t_test():
    random = np.random.default_rng(4)
    first, second = random.random(30), random.random(30)
    difference = compare_paired(means(first), means(second), range(30), DIFFERENCE)
    theirs = ttest_rel(first, second)
    assert difference.p == pytest.approx(theirs.pvalue)
    assert ends(difference) == pytest.approx(theirs.confidence_interval())


def test_a_share_is_compared_with_a_threshold_by_its_score_test():
    side, theirs = (
        means([1] * 13 + [0] * 3),
        proportion.proportions_ztest(13, 16, 0.5, prop_var=0.5),
    )
    difference = compare_with_threshold(side, 0.5, range(16), SHARE, MARGIN)
    low, high = proportion.proportion_confint(13, 16, method="wilson")
    assert ends(difference) == pytest.approx((low - 0.5, high - 0.5))
    assert difference.p == pytest.approx(theirs[1]) and difference.equivalence > 0.5
    all_right = compare_with_threshold(means([1] * 9), 1.0, range(9), SHARE)
    assert all_right.p == 1 and all_right.high == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_score_by_cluster_agrees_with_its_interval_about_a_threshold(seed):
    values = np.random.default_rng(seed).beta(2, 1, 40)
    for bounds in (SHARE, DIFFERENCE, AMOUNT):
        for threshold in (0.5, 0.6, 0.7):
            difference = compare_with_threshold(means(values), threshold, range(40), bounds)
            assert (difference.p < 0.05) != (difference.low <= 0 <= difference.high)


def test_clusters_that_are_right_or_wrong_as_a_whole_are_pairs():
    single = pairs(3, 1, 12, MARGIN)
    first, second = np.repeat([1] * 11 + [0], 5), np.repeat([0] * 3 + [1] * 9, 5)
    clusters = np.repeat(np.arange(12), 5)
    repeated = compare_paired(means(first), means(second), clusters, DIFFERENCE, MARGIN)
    measures = attrgetter("low", "high", "p", "equivalence", "clusters")
    assert measures(repeated) == pytest.approx(measures(single))


def test_clusters_of_both_sides_count_for_the_difference():
    """Stories make both sides easy or hard, which does not blur their difference."""
    random = np.random.default_rng(0)
    easy = np.repeat(random.random(30), 2)
    sides = [means(random.random(60) < easy) for _ in range(2)]
    clusters = np.repeat(np.arange(30), 2)
    shared = compare_unpaired(sides[0], sides[1], clusters, clusters, SHARE)
    separate = compare_unpaired(sides[0], sides[1], clusters, clusters + 100, SHARE)
    assert shared.high - shared.low < separate.high - separate.low
    assert (shared.cases, shared.clusters, separate.clusters) == (120, 30, 60)


def test_values_of_different_cases_are_compared_by_their_own_intervals():
    """Zou and Donner 2008; method 10 of Newcombe 1998 for two shares by Wilson's interval."""
    random = np.random.default_rng(6)
    sides = [random.beta(*shape) for shape in ((4, 1, 20), (2, 2, 50))]
    difference = compare_unpaired(*map(means, sides), range(20), range(20, 70), SHARE)
    own = [ClusterJackknife(range(len(side))).estimate(share_statistic(side)) for side in sides]
    (first, low, high), (second, second_low, second_high) = own
    reach = np.hypot(first - low, second_high - second), np.hypot(high - first, second - second_low)
    value = first - second
    assert ends(difference) == pytest.approx((value - reach[0], value + reach[1]))
    wilson = [Wilson(count / cases, cases, 0.0) for count, cases in ((9, 10), (3, 10))]
    newcombe = Mover((0.9, 0.3), (wilson[0], wilson[1]))
    assert newcombe.interval() == pytest.approx((0.1705, 0.8090), abs=5e-5)
    assert newcombe.distance(0.1705) == pytest.approx(1.96, abs=1e-3)
    assert newcombe.distance(0.8090) == pytest.approx(-1.96, abs=1e-3)
    assert wilson[0].distance(1.0) == -np.inf, "no share but 1 is compatible with 1"


def test_ratios_that_are_means_equal_the_paired_comparison():
    random = np.random.default_rng(3)
    first, second = (as_numbers(random.integers(0, 3, 50)) / 2 for _ in range(2))
    clusters = random.integers(0, 20, 50)
    difference = compare_paired(means(first), means(second), clusters, DIFFERENCE)
    measures = attrgetter("difference", "low", "high", "p")
    assert measures(difference) == pytest.approx(measures(compare(first, second, clusters)))


def test_the_influence_of_a_case_equals_its_jackknife_value():
    random = np.random.default_rng(1)
    sums = f1_sums(random.integers(0, 2, 400), random.integers(0, 2, 400))
    jackknife = (400 - 1) * (sums.total() - sums.value(1 - np.eye(400)))
    assert sums.influences() == pytest.approx(jackknife, abs=0.02)


# Interval and test


@pytest.mark.parametrize("seed", range(20))
def test_interval_and_p_of_one_row_agree_on_every_path(seed):
    random = np.random.default_rng(seed)
    cases, skills = int(random.integers(6, 70)), random.uniform(0.45, 0.8, 2)
    of_three, both = np.arange(cases) // 3, [(f"s{n % 7}", f"j{n % 5}") for n in range(cases)]
    correct = [as_numbers(random.random(cases) < skill) for skill in skills]
    true = random.random(cases) < 0.4
    f1 = [f1_sums(true, random.random(cases) < skill) for skill in skills]
    for first, second in ((means(correct[0]), means(correct[1])), f1):
        differences = [
            compare_paired(first, second, clusters, DIFFERENCE)
            for clusters in (range(cases), of_three, both)
        ]
        for clusters in (range(cases), of_three):
            others = np.asarray(clusters) + cases
            differences.append(compare_unpaired(first, second, clusters, others, SHARE))
            differences.append(compare_unpaired(first, second, clusters, clusters, SHARE))
        for difference in differences:
            is_included = difference.low <= 0 <= difference.high
            assert np.isnan(difference.low) or (difference.p < 0.05) != is_included


@pytest.mark.parametrize(("value", "error"), [(0.02, 0.05), (-0.1, 0.04), (0.19, 0.05)])
def test_p_of_equivalence_agrees_with_the_90_percent_interval(value, error):
    method = Student(value, error, float("inf"))
    expected = max(norm.sf((value + MARGIN) / error), norm.cdf((value - MARGIN) / error))
    p = p_equivalence(method, MARGIN)
    low, high = method.interval(0.9)
    assert p == pytest.approx(expected)
    assert (p < 0.05) == (low > -MARGIN and high < MARGIN)


def test_a_difference_equal_to_the_margin_is_seldom_called_equivalent():
    for cases, margin in ((20, 0.15), (60, 0.05), (200, 0.02)):
        equivalent = sum(
            binom.pmf(count, cases, margin) * (pairs(count, 0, cases, margin).equivalence < 0.05)
            for count in range(cases // 2)
        )
        assert equivalent <= 0.06
    p_values = [pairs(count, 0, 60, 0.05).equivalence for count in range(5)]
    assert p_values == sorted(p_values)
    assert np.isnan(pairs(1, 0, 20, None).equivalence)


# F1


def test_a_label_used_by_only_one_side_shows_no_difference():
    """One unusual answer of eleven changes macro F1 over occurring labels, as in scikit-learn."""
    actual = np.array([0, 1] * 5 + [0])
    answers = np.array([actual, [2, *actual[1:]], np.where(np.arange(11) < 3, 1 - actual, actual)])
    sides = []
    for side in answers:
        labels = [f1_sums(actual == label, side == label) for label in range(3)]
        tops = np.hstack([sums.tops for sums in labels])
        bottoms = np.hstack([sums.bottoms for sums in labels])
        sides.append(Sums(tops, bottoms))
    for first, second in itertools.combinations(range(3), 2):
        difference = compare_paired(sides[first], sides[second], range(11), DIFFERENCE)
        expected = f1_score(actual, answers[first], average="macro")
        assert difference.first == pytest.approx(expected)
        assert difference.low <= 0 <= difference.high and difference.p >= 0.05


@pytest.mark.parametrize("hits", [0, 1, MIN_HITS - 1, MIN_HITS])
def test_f1_of_few_hits_has_no_interval_and_says_why(hits):
    true, predicted = np.arange(40) < hits, np.arange(40) < max(1, hits // 2)
    sides = f1_sums(true, np.ones(40)), f1_sums(true, predicted)
    difference = compare_paired(*sides, range(40), DIFFERENCE, 0.1)
    if hits == MIN_HITS:
        assert difference.reason == "" and difference.low <= difference.high
        return
    assert np.isnan(ends(difference)).all()
    assert difference.p == 1 and difference.equivalence == 1
    assert f"found {hits}, expected at least {MIN_HITS}" in difference.reason


def test_hits_of_one_cluster_count_once():
    true = np.arange(60) < 30
    sides = f1_sums(true, np.ones(60)), f1_sums(true, true)
    difference = compare_paired(*sides, np.repeat(np.arange(6), 10), DIFFERENCE)
    assert "found 3, expected" in difference.reason


# Values without spread, missing values, empty sides


def test_a_difference_that_all_clusters_share_is_that_of_pairs_that_agree():
    """For halves as for whole answers, without a difference Tango's interval results."""
    for value in (0.5, 1):
        equal = compare_paired(means([value] * 8), means([value] * 8), range(8), DIFFERENCE)
        assert ends(equal) == pytest.approx(Tango(0, 0, 8).interval()) and equal.p == 1
    difference = compare_paired(means([0.75] * 8), means([0.25] * 8), range(8), DIFFERENCE)
    away = wilson_interval(0, 8).high * 1.5  # from 0.5 to -1, the farthest bound
    assert difference.low == pytest.approx(0.5 - away) and 0 < difference.low < difference.high
    assert difference.p == pytest.approx(2 * norm.sf((8 * (1 / 3) / (2 / 3)) ** 0.5))


def test_amounts_without_spread_have_no_interval_and_say_so():
    difference = compare_paired(means([7.0] * 8), means([5.0] * 8), range(8), ANY)
    assert np.isnan(ends(difference)).all() and difference.p == 1
    assert difference.reason.startswith("no interval: the values do not differ")


@pytest.mark.parametrize("bounds", [SHARE, AMOUNT])
def test_a_missing_value_makes_a_difference_undefined(bounds):
    first = means([1, 0, float("nan"), 1, 1, 1, 1, 0, 1])
    unpaired = compare_unpaired(first, means([1, 0] * 5), range(9), range(9, 19), bounds)
    paired = compare_paired(first, means([1, 0, 1] * 3), range(9), DIFFERENCE)
    for difference in (unpaired, paired):
        assert np.isnan([difference.difference, difference.low, difference.high]).all()
        assert difference.p == 1


def test_an_undefined_test_shows_no_difference():
    clusters = list(np.repeat(["b", "c", "d"], 3))
    single = compare_unpaired(means([1, 1, 1]), means([0] * 9), ["a"] * 3, clusters, SHARE)
    assert np.isnan(single.low) and single.p == 1
    undefined = Sums(np.zeros((4, 1)), np.zeros((4, 1)))
    nothing = compare_unpaired(undefined, means([1, 0, 1]), range(4), range(4, 7), SHARE)
    assert np.isnan(nothing.difference) and nothing.p == 1
    assert compare_paired(undefined, undefined, range(4), DIFFERENCE).p == 1
    empty = Sums(np.zeros((0, 1)), np.zeros((0, 1)))
    without_cases = compare_paired(empty, empty, [], ANY)
    assert np.isnan([without_cases.difference, without_cases.low, without_cases.p]).all()


@pytest.mark.parametrize("value", [0.04, 3.3, 1e6])
def test_constant_amounts_differ_by_nothing(value):
    sides = means([value] * 10), means([value] * 30)
    difference = compare_unpaired(*sides, range(10), range(10, 40), AMOUNT)
    assert abs(difference.difference) < 1e-9 * value and difference.p == 1


def test_amounts_that_are_all_1_have_no_interval_of_a_share():
    difference = compare_unpaired(
        means([1] * 20), means([1] * 30), range(20), range(20, 50), AMOUNT
    )
    assert np.isnan(ends(difference)).all() and difference.p == 1
