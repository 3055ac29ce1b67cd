"""Intervals and tests by the debates within each of a few cases."""

import numpy as np
import pytest
from scipy.stats import t

from moot.stats.intervals import LogOdds, MultipliedOdds, SharedValue, log_odds_error, p_value
from moot.stats.statistic import ANY, SHARE
from moot.stats.within_cases import method_within, smallest_stratum


def test_the_variance_of_few_debates_is_moderated_by_that_of_all_cases() -> None:
    """Smyth 2004, by hand: variances of 1/3 and 0 with 3 and 1 degrees of freedom, all .25."""
    values, strata = np.array([1.0, 0, 1, 0, 1, 1]), np.repeat(["a", "b"], [4, 2])
    shares = np.repeat([1 / 8, 1 / 4], [4, 2])
    method = method_within(lambda w: w @ (values * shares), strata.tolist(), (-9.0, 9.0))
    parts = np.array([(3 / 3 + 0.25) / 4, 0.25 / 2]) / [4, 2] / 4
    assert method.distance(0) == pytest.approx(0.75 / parts.sum() ** 0.5, rel=1e-6)
    assert method.freedom == pytest.approx(parts.sum() ** 2 / (parts**2 / [4, 2]).sum())


def test_debates_with_one_large_amount_have_no_interval_within_cases() -> None:
    """Rounding would give a p of 1e-244 to the difference between two equal numbers of tokens."""
    strata, tokens = np.repeat(range(5), 20).tolist(), np.full(100, 12345.1)
    method = method_within(lambda w: w @ tokens / w.sum(axis=1) - 3, strata, ANY, size=12345.1)
    assert np.isnan(method.interval()).all() and p_value(method) == 1


def test_a_share_within_cases_is_tested_by_its_log_odds() -> None:
    """Two cases of four debates, of which one and three are right."""
    values, strata = np.array([1.0, 0, 0, 0, 1, 1, 1, 0]), list("aaaabbbb")
    method = method_within(lambda w: w @ values / w.sum(axis=1), strata, SHARE, 0.25)
    error = (2 * 3 / 4 * (1 + 1 / 3) / 4 / 4 / 4) ** 0.5
    assert method == LogOdds(0.5, pytest.approx(log_odds_error(0.5, error, SHARE)), 8, SHARE, 0.25)


def test_a_value_that_all_debates_share_has_an_interval_within_its_bounds() -> None:
    method = method_within(lambda w: w @ np.ones(4) / w.sum(axis=1), list("aabb"), SHARE, 0.25)
    assert method == SharedValue(0.75, 4, (-0.25, 0.75))


def test_the_smallest_stratum_is_counted() -> None:
    strata = [("first", "a"), ("second", "a"), ("first", "a"), ("second", "a"), ("first", "a")]
    assert (smallest_stratum(strata), smallest_stratum([])) == (2, 0)


def test_the_ends_of_an_interval_of_odds_lie_as_far_as_their_level() -> None:
    method = MultipliedOdds(LogOdds(0.5, 0.3, 8, SHARE), 2.0, 0.25)
    distances = [method.distance(end) for end in method.interval()]
    assert distances == pytest.approx([t.ppf(0.975, 8), t.ppf(0.025, 8)]) and method.freedom == 8
    assert (method.distance(-9), method.distance(9)) == (np.inf, -np.inf)
