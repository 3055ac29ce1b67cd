"""Test the coverage of intervals of differences to published values and of replications."""

import numpy as np
import pytest

from moot.stats.intervals import Interval, wilson_interval
from moot.stats.replication import difference_interval, replication_interval, scale_interval


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


def test_other_measures_have_our_standard_error_scaled_to_the_published_n() -> None:
    scaled = scale_interval(0.4, Interval(0.5, 0.4, 0.6), 100, 400)
    assert scaled == pytest.approx((0.4, 0.35, 0.45))
