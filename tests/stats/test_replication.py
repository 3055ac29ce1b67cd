"""Test the coverage of intervals of differences to published values and of replications."""

from typing import Any

import numpy as np
import pytest

from moot.report.published import (
    COMPARISON_COLUMNS,
    OUR_WORDING,
    Measurement,
    Published,
    comparison_row,
)
from moot.stats.intervals import Interval, wilson_interval
from moot.stats.jackknife import ClusterJackknife
from moot.stats.replication import difference_interval, replication_interval, scale_interval
from moot.stats.statistic import share_statistic

NOTHING_KNOWN = Published.of(0.62)


def comparison(published: Published | None, ours: Measurement) -> Any:
    """Return the table row that compares our value with a published one."""
    return COMPARISON_COLUMNS.table([comparison_row({}, published, ours)], []).frame.iloc[0]


@pytest.mark.parametrize("rate", [0.5, 0.77, 0.95])
@pytest.mark.parametrize(("ours", "theirs"), [(150, 150), (12, 100), (300, 20)])
def test_intervals_of_two_samples_of_one_rate_cover(rate: float, ours: int, theirs: int) -> None:
    random = np.random.default_rng(20261121)
    rates = random.binomial([ours, theirs], rate, size=(2000, 2)) / (ours, theirs)
    covered, fell, exact = 0, 0, 0
    for mine, published in rates.tolist():
        first, second = wilson_interval(mine, ours), wilson_interval(published, theirs)
        low, high = difference_interval(first, second)
        covered += low <= 0 <= high
        replication = replication_interval(second, first)
        fell += replication[0] <= mine <= replication[1]
        exact += first.low <= published <= first.high
    assert covered == fell
    assert 0.93 <= covered / len(rates) <= 0.995
    assert exact < covered  # `exact` ignores the error of the published value


def test_the_interval_includes_the_error_of_our_cases() -> None:
    is_correct = np.repeat([1.0, 0.0], [70, 30])
    ours = Measurement(
        *ClusterJackknife(np.arange(100)).estimate(share_statistic(is_correct)), 100, 0, 100
    )
    row = comparison(Published.of(0.77, 150, 150, True), ours)
    assert row["published n"] == "150" and row["difference"] == pytest.approx(-0.07)
    width = np.sqrt(0.7 * 0.3 / 100 + 0.77 * 0.23 / 150) * 3.92
    assert row["difference high"] - row["difference low"] == pytest.approx(width, rel=0.03)
    assert row["replication low"] < 0.7 < row["replication high"]


def test_other_measures_have_our_standard_error_scaled_to_the_published_n() -> None:
    assert scale_interval(0.4, Interval(0.5, 0.4, 0.6), 100, 400) == pytest.approx(
        (0.4, 0.35, 0.45)
    )
    row = comparison(Published.of(0.4, 400, 400), Measurement(0.5, 0.4, 0.6, 100, 0, 100))
    assert row["difference high"] == pytest.approx(0.1 + np.hypot(0.1, 0.05))


def test_repeated_answers_about_few_cases_do_not_narrow_the_interval() -> None:
    clustered = Measurement(0.8, 0.5, 0.95, 100, 0, 5)
    unclustered = wilson_interval(0.85, 100)
    interval = Published.of(0.85, 100, 5, True).interval(clustered)
    assert interval.high - interval.low > 2 * (unclustered.high - unclustered.low)
    assert Published.of(0.85, 100, 100, True).interval(clustered) == unclustered


def test_the_replication_interval_stays_within_the_scale() -> None:
    row = comparison(Published.of(0.97, 20, 20, True), Measurement(0.95, 0.7, 0.99, 30, 0, 30))
    assert row["replication high"] == 1.0
    row = comparison(Published.of(9.6, 5, 5), Measurement(9.0, 8.0, 9.8, 10, 0, 10))
    assert row["replication high"] > 9.6


def test_a_published_value_of_unknown_n_has_no_interval() -> None:
    row = comparison(NOTHING_KNOWN, Measurement(0.7, 0.6, 0.8, 100, 0, 100))
    assert row["published n"] == "unknown" and row["difference"] == pytest.approx(0.08)
    for name in ("difference", "replication"):
        assert np.isnan(row[f"{name} low"]) and np.isnan(row[f"{name} high"])
    assert comparison(None, Measurement(0.7, 0.6, 0.8, 100, 0, 100))["published n"] in (None, "")


def test_a_difference_in_our_wording_has_a_separate_column() -> None:
    row = comparison(
        Published.of(0.6, 100, 100, True, our_wording=True), Measurement(0.7, 0.6, 0.8, 100, 0, 100)
    )
    assert np.isnan(row["difference"]) and row[OUR_WORDING] == pytest.approx(0.1)
    assert row["difference low"] < 0.1 < row["difference high"]
