"""Test the jackknife over clusters: its variance, its degrees of freedom and its intervals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.proportion import proportion_confint

from moot.stats import jackknife as jackknife_module
from moot.stats.calibration import auc_statistic
from moot.stats.clusters import bell_mccaffrey_freedom, effective_number, kinds_of_clusters
from moot.stats.differences import Sums
from moot.stats.intervals import lognormal_interval, wilson_interval
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import (
    AMOUNT,
    DIFFERENCE,
    F1_ODDS,
    SHARE,
    Statistic,
    mean_statistic,
    ratio_statistic,
    share_statistic,
)

NAN, INF = float("nan"), float("inf")


def test_the_interval_of_a_mean_is_that_of_the_t_test():
    values = np.random.default_rng(1).normal(3, 2, 25)
    theirs = ttest_1samp(values, 0).confidence_interval()
    assert ClusterJackknife(range(25)).interval(mean_statistic(values)) == pytest.approx(theirs)


@pytest.mark.parametrize(("right", "cases"), [(13, 16), (19, 20), (20, 20), (0, 7)])
def test_a_share_of_independent_cases_has_wilsons_interval(right, cases):
    values = [1] * right + [0] * (cases - right)
    theirs = proportion_confint(right, cases, method="wilson")
    ours = ClusterJackknife(range(cases)).interval(share_statistic(values))
    assert ours == pytest.approx(theirs, abs=1e-9)
    truth = [1] * cases + [0] * 5
    recall = ratio_statistic([*values, *[0] * 5], truth, SHARE)
    assert ClusterJackknife(range(cases + 5)).interval(recall) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("hits", [0, 6, 10])
def test_f1_of_independent_cases_has_the_interval_of_hits_among_cases_with_the_label(hits):
    """Lam, Gopal and Qian 2023, indirect: 10 cases have or are given the label, 5 have neither."""
    true = np.array([1.0] * 10 + [0.0] * 5)
    predicted = np.where(np.arange(15) < hits, true, 0.0)
    sums = Sums(2 * (true * predicted)[:, None], (true + predicted)[:, None], odds=F1_ODDS)
    value, low, high = ClusterJackknife(range(15)).estimate(sums.statistic(SHARE))
    ends = np.array(proportion_confint(hits, 10, method="wilson"))
    assert value == pytest.approx(2 * hits / (10 + hits))
    assert (low, high) == pytest.approx(2 * ends / (1 + ends))
    assert replace(sums, needs_hits=True, odds=1.0).statistic(SHARE).odds == 1, "not F1 of a label"


def test_repeats_do_not_narrow_the_interval():
    values = [1, 0, 1, 1, 0, 1]
    once = ClusterJackknife(range(6)).interval(mean_statistic(values))
    twenty_times = ClusterJackknife([*range(6)] * 20).interval(mean_statistic(values * 20))
    assert twenty_times == pytest.approx(once)


def test_clusters_left_out_in_blocks_or_groups_give_the_same_interval(monkeypatch):
    random = np.random.default_rng(3)
    cases, values = np.arange(900) % 300, random.random(900)
    expected = ClusterJackknife(cases).interval(mean_statistic(values))
    monkeypatch.setattr(jackknife_module, "_MAX_WEIGHTS_IN_MEMORY", 10_000)
    assert ClusterJackknife(cases).interval(mean_statistic(values)) == pytest.approx(expected)
    monkeypatch.setattr(jackknife_module, "MAX_GROUPS", 100)
    grouped = ClusterJackknife(cases).interval(mean_statistic(values))
    assert grouped == pytest.approx(expected, abs=0.01) and grouped != expected


def test_degrees_of_freedom_follow_the_sizes_of_clusters():
    """For a mean they are those of the quadratic form of residuals, computed with matrices."""
    assert bell_mccaffrey_freedom(np.full(12, 4)) == pytest.approx(11)
    assert bell_mccaffrey_freedom(np.array([5, 0])) == 0
    shares = np.array([1, 3, 5, 12, 12]) / 33
    parts = np.diag(shares / (1 - shares)) @ (np.eye(5) - np.outer(np.ones(5), shares))
    moments = parts @ parts.T
    expected = np.trace(moments) ** 2 / (moments**2).sum()
    assert bell_mccaffrey_freedom(shares * 33) == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e300])
def test_the_effective_number_does_not_depend_on_the_scale_of_weights(scale):
    assert effective_number(np.array([1.0, 1.0, 2.0, 0.0]) * scale) == pytest.approx(16 / 6)


def test_t_of_crossed_clusters_has_one_degree_of_freedom_less_than_the_fewer_clusters():
    """MacKinnon, Nielsen and Webb 2024; also if a judge has many of the debates."""
    story, judge = np.arange(25) % 20, np.repeat(np.arange(11), [6, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1])
    jackknife = ClusterJackknife(list(zip(story, judge, strict=True)))
    values = np.random.default_rng(7).normal(size=25)
    _, spread = jackknife.value_and_spread(mean_statistic(values))
    assert spread.freedom == 10


def test_crossed_clusters_are_wider_than_each_kind():
    random = np.random.default_rng(2)
    story, judge = random.integers(0, 20, 200), random.integers(0, 12, 200)
    values = random.normal(size=20)[story] + random.normal(size=12)[judge]
    widths = []
    for clusters in (list(zip(story, judge, strict=True)), story, judge):
        low, high = ClusterJackknife(clusters).interval(mean_statistic(values))
        widths.append(high - low)
    assert widths[0] >= max(widths[1:])


# Few clusters and values without spread


def test_no_rows_have_neither_value_nor_interval():
    jackknife = ClusterJackknife([])
    assert np.isnan(jackknife.estimate(share_statistic([]))).all()
    assert jackknife.values_without(lambda weights: {"": weights.sum(axis=1)})[""].shape == (0,)


@pytest.mark.parametrize("bounds", [SHARE, DIFFERENCE, (0.0, 10.0)])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_value_that_all_clusters_share_moves_by_the_clusters_that_may_depart(bounds, share):
    low, high = bounds
    value, departing = low + share * (high - low), wilson_interval(0, 8).high
    jackknife = ClusterJackknife(np.repeat(np.arange(8), 3))
    expected = value - departing * (value - low), value + departing * (high - value)
    assert jackknife.interval(mean_statistic([value] * 24, bounds)) == pytest.approx(expected)


def test_only_clusters_that_can_change_a_value_count_for_its_interval():
    """Two of twenty cases are positive: recall and AUC depend on two and are imprecise."""
    truth = np.array([1.0] * 2 + [0.0] * 18)
    jackknife, two = ClusterJackknife(range(20)), wilson_interval(1, 2)[1:]
    assert jackknife.interval(ratio_statistic(truth, truth, SHARE)) == pytest.approx(two)
    assert jackknife.interval(auc_statistic(truth, truth)) == pytest.approx(two)
    outcomes = np.array([1.0] + [0.0] * 19)
    assert np.isnan(jackknife.interval(auc_statistic(outcomes, outcomes))).all()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("value", [INF, -INF, NAN])
def test_a_value_that_is_not_finite_has_no_interval(value):
    statistic = mean_statistic([1.0] * 29 + [value], AMOUNT)
    assert np.isnan(ClusterJackknife(range(30)).interval(statistic)).all()
    undefined = Statistic(lambda weights: np.full(len(weights), NAN), SHARE)
    assert np.isnan(ClusterJackknife(range(4)).estimate(undefined)).all()


@pytest.mark.parametrize("share", [-0.1, 1.2, 55, NAN, INF])
def test_a_share_outside_its_range_has_no_interval(share):
    assert np.isnan(wilson_interval(share, 20)[1:]).all()
    assert np.isnan(wilson_interval(0.5, 0)[1:]).all()


@pytest.mark.parametrize("missing", [None, NAN])
def test_rows_without_a_cluster_are_one_cluster(missing):
    codes, _ = kinds_of_clusters(["a", missing, "b", missing])[0]
    assert (codes >= 0).all() and codes[1] == codes[3] and len(set(codes.tolist())) == 3
    both, _ = kinds_of_clusters([("a", missing), ("b", 1), ("a", missing)])[1]
    assert (both >= 0).all() and both[0] == both[2] != both[1]


def test_a_mean_cost_has_the_lognormal_interval():
    """Zou, Huo and Taleban: for a small variance it is the interval of the logarithms."""
    logs = np.random.default_rng(4).normal(0, 0.01, 400)
    low, high = lognormal_interval(np.exp(logs), np.ones(400))
    theirs = np.exp(ttest_1samp(logs, 0).confidence_interval())
    assert (low, high) == pytest.approx(theirs, rel=1e-3)
    for amounts in ([0.0, 1, 2], [3.0] * 20, [1.0], [1.0, INF]):
        assert np.isnan(lognormal_interval(np.array(amounts), np.ones(len(amounts)))).all()
