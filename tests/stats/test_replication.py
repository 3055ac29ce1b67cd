"""Test the coverage of intervals of differences to published values and of replications."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from moot.stats.intervals import Interval, difference_interval, wilson_interval
from moot.stats.replication import all_defined, replication_interval, scale_interval


def wilson_intervals(n: int) -> list[Interval]:
    """Return the interval of each number of right answers among n."""
    return [wilson_interval(k / n, n) for k in range(n + 1)]


@pytest.mark.parametrize(
    ("rate", "ours", "theirs"), [(0.5, 60, 60), (0.77, 12, 100), (0.95, 100, 20)]
)
def test_intervals_of_two_samples_of_one_rate_cover(rate: float, ours: int, theirs: int) -> None:
    """The coverage is exact, over all numbers of right answers of both samples."""
    samples = [wilson_intervals(ours), wilson_intervals(theirs)]
    chances = [binom.pmf(np.arange(n + 1), n, rate) for n in (ours, theirs)]
    covered = without_error = 0.0
    for (first, chance), (second, other_chance) in product(*map(zip, samples, chances)):
        low, high = difference_interval(first, second)
        replication = replication_interval(second, first)
        assert (low <= 0 <= high) == (replication[0] <= first.value <= replication[1])
        covered += chance * other_chance * (low <= 0 <= high)
        without_error += chance * other_chance * (first.low <= second.value <= first.high)
    assert 0.93 <= covered <= 0.99
    assert without_error < covered, "the published value has an error as well"


def test_other_measures_have_our_standard_error_scaled_to_the_published_n() -> None:
    scaled = scale_interval(0.4, Interval(0.5, 0.4, 0.6), 100, 400)
    assert scaled == pytest.approx((0.4, 0.35, 0.45))


def test_a_comparison_needs_all_numbers() -> None:
    assert all_defined((1, 2), (3,)) and all_defined()
    assert not all_defined((1, 2), (3, np.nan))
