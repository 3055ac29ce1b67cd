"""Test that two one-sided tests show equivalence where it holds, and seldom elsewhere."""

import numpy as np
import pytest

from moot.stats.arrays import as_numbers
from moot.stats.differences import Difference, Sums, compare_paired, compare_unpaired
from moot.stats.independent import p_of_interval
from moot.stats.statistic import SHARE

MARGIN = 0.2


def means(values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def paired(difference: float, cases: int, seed: int, repeats: int = 3) -> Difference:
    random = np.random.default_rng(seed)
    easy = random.uniform(0.2, 0.8 - difference, cases)
    first = random.binomial(repeats, easy + difference) / repeats
    second = random.binomial(repeats, easy) / repeats
    return compare_paired(means(first), means(second), range(cases), seed, (-1, 1), MARGIN)


def unpaired(difference: float, cases: int, seed: int) -> Difference:
    random = np.random.default_rng(seed)
    first = random.random(cases) < 0.5 + difference / 2
    second = random.random(cases) < 0.5 - difference / 2
    return compare_unpaired(
        means(first), means(second), range(cases), range(cases, 2 * cases), seed, SHARE, MARGIN
    )


@pytest.mark.parametrize(("compare", "cases"), [(paired, 60), (unpaired, 100)])
def test_a_difference_equal_to_the_margin_is_seldom_called_equivalent(compare, cases: int) -> None:
    is_significant = [compare(MARGIN, cases, seed).equivalence < 0.05 for seed in range(200)]
    assert np.mean(is_significant) <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    assert np.mean([compare(0.0, 4 * cases, seed).equivalence < 0.05 for seed in range(40)]) > 0.8


def test_p_agrees_with_the_90_percent_interval() -> None:
    """The p of two one-sided tests of a normal interval is known."""
    from scipy.stats import norm

    for value, error in ((0.02, 0.05), (-0.1, 0.04), (0.19, 0.05), (0.0, 0.2)):

        def interval(
            level: float, value: float = value, error: float = error
        ) -> tuple[float, float]:
            half = norm.ppf((1 + level) / 2) * error
            return value - half, value + half

        expected_p = max(norm.sf((value + MARGIN) / error), norm.cdf((value - MARGIN) / error))
        assert p_of_interval(interval, MARGIN) == pytest.approx(expected_p, rel=1e-6)
        low, high = interval(0.9)
        assert (p_of_interval(interval, MARGIN) < 0.05) == (low > -MARGIN and high < MARGIN)
    assert p_of_interval(lambda _: (0.3, 0.4), MARGIN) == pytest.approx(1)
    assert p_of_interval(lambda _: (float("nan"), float("nan")), MARGIN) == 1


def test_without_a_margin_there_is_no_test() -> None:
    side = means([1, 0, 1, 1])
    assert np.isnan(compare_paired(side, side, range(4), 0, (-1, 1)).equivalence)
