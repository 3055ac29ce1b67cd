"""Test differences between equal populations: unequal sizes and variances, few discordant cases."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from moot.stats.arrays import Floats
from moot.stats.differences import Difference, Sums, compare_paired, compare_unpaired
from moot.stats.randomisation import mcnemar_exact
from moot.stats.score_intervals import tango_interval
from moot.stats.statistic import AMOUNT, DIFFERENCE, SHARE, Bounds

WORLDS = 200
_ROUNDING = 1e-9


def means(values: Floats) -> Sums:
    column = np.asarray(values, dtype=float)[:, None]
    return Sums(column, np.ones_like(column))


@dataclass(frozen=True)
class Side:
    """Cases, debates of each, and a function that draws the probability or value of each case."""

    cases: int
    draw: Callable[[np.random.Generator, int], Floats]
    repeats: int = 0  # 0: the drawn value itself

    def values(self, random: np.random.Generator) -> Floats:
        """Return one value for each debate."""
        values = self.draw(random, self.cases)
        if not self.repeats:
            return values
        return random.binomial(1, np.repeat(values, self.repeats)).astype(float)

    def clusters(self, name: str) -> list[str]:
        """Return the case of each debate."""
        names = [f"{name}{case}" for case in range(self.cases)]
        return list(np.repeat(names, max(1, self.repeats)))


def _wide(random, cases):
    return random.beta(0.5, 1.5, cases)


def _tight(random, cases):
    return random.beta(25, 75, cases)


def _sure(random, cases):
    return (random.random(cases) < 0.7).astype(float)


def _unsure(random, cases):
    return np.full(cases, 0.7)


NULL_PAIRS: dict[str, tuple[Side, Side, Bounds]] = {
    "Brier, 15 against 150": (Side(15, _wide), Side(150, _tight), SHARE),
    "Brier, 30 against 300": (Side(30, _wide), Side(300, _tight), SHARE),
    "Brier, 150 against 15": (Side(150, _wide), Side(15, _tight), SHARE),
    "Brier, 50 against 50": (Side(50, _wide), Side(50, _tight), SHARE),
    "accuracy of 5 debates, 15 against 150": (Side(15, _sure, 5), Side(150, _unsure, 5), SHARE),
    "accuracy of 3 debates, 30 against 150": (Side(30, _sure, 3), Side(150, _unsure, 3), SHARE),
    "rounds, 20 against 200": (
        Side(20, lambda random, cases: random.gamma(1, 3, cases)),
        Side(200, lambda random, cases: random.gamma(50, 3 / 50, cases)),
        AMOUNT,
    ),
}


@pytest.mark.parametrize("name", NULL_PAIRS)
def test_unpaired_tests_keep_their_level_for_unequal_sizes_and_variances(name):
    first, second, bounds = NULL_PAIRS[name]
    random = np.random.default_rng(5)
    rejected = covered = 0
    for _ in range(WORLDS):
        difference = compare_unpaired(
            means(first.values(random)),
            means(second.values(random)),
            first.clusters("a"),
            second.clusters("b"),
            0,
            bounds,
        )
        rejected += difference.p < 0.05
        covered += difference.low <= 0 <= difference.high
    tolerance = 2.6 * (0.06 * 0.94 / WORLDS) ** 0.5
    assert rejected / WORLDS <= 0.06 + tolerance
    assert covered / WORLDS >= 0.93 - tolerance


def pairs(first_alone: int, second_alone: int, cases: int, margin: float | None) -> Difference:
    first = np.ones(cases)
    second = np.ones(cases)
    second[:first_alone] = 0
    first[cases - second_alone :] = 0
    return compare_paired(means(first), means(second), range(cases), 0, DIFFERENCE, margin)


def test_tangos_interval_equals_published_examples():
    """One case of 30 by issue 44; ratings of a prime minister by Agresti 2013, section 11.1."""
    assert tango_interval(1, 0, 30) == pytest.approx((-0.084, 0.167), abs=1e-3)
    assert tango_interval(86, 150, 1600) == pytest.approx((-0.06, -0.02), abs=5e-3)


@pytest.mark.parametrize(
    ("cases", "margin"), [(20, 0.15), (30, 0.1), (60, 0.05), (100, 0.03), (200, 0.02)]
)
def test_intervals_of_few_discordant_cases_cover_and_seldom_show_equivalence(cases, margin):
    covered = equivalent = 0.0
    for count in range(cases // 2):
        probability = binom.pmf(count, cases, margin)
        difference = pairs(count, 0, cases, margin)
        covered += probability * (difference.low <= margin <= difference.high)
        equivalent += probability * (difference.equivalence < 0.05)
    assert covered >= 0.93
    assert equivalent <= 0.06


def test_intervals_cover_for_discordant_cases_on_both_sides():
    shares = (0.08, 0.03, 0.89)
    covered = 0.0
    for first_alone in range(12):
        for second_alone in range(8):
            counts = (first_alone, second_alone, 40 - first_alone - second_alone)
            low, high = tango_interval(first_alone, second_alone, 40)
            covered += multinomial.pmf(counts, 40, shares) * (low <= 0.05 <= high)
    assert covered >= 0.93


def test_p_of_equivalence_grows_with_the_number_of_discordant_cases():
    p_values = [pairs(count, 0, 60, 0.05).equivalence for count in range(5)]
    assert p_values == sorted(p_values)


def test_p_equals_mcnemars_test_and_agrees_with_the_interval_for_small_tables():
    for cases in (8, 12, 30):
        for first_alone in range(9):
            for second_alone in range(9 - first_alone):
                difference = pairs(first_alone, second_alone, cases, None)
                assert difference.p == pytest.approx(mcnemar_exact(first_alone, second_alone))
                assert (difference.p < 0.05) != (difference.low <= 0 <= difference.high)
                assert difference.low <= difference.difference <= difference.high


@pytest.mark.parametrize(
    ("cases", "repeats", "rate"), [(30, 3, 0.05), (10, 5, 0.1), (60, 2, 0.03), (20, 8, 0.02)]
)
def test_intervals_cover_for_few_discordant_debates_in_clusters(cases, repeats, rate):
    random, covered = np.random.default_rng(11), 0
    clusters = np.repeat(np.arange(cases), repeats)
    for _ in range(WORLDS):
        second = 1.0 - (random.random(cases * repeats) < rate)
        difference = compare_paired(
            means(np.ones(cases * repeats)), means(second), clusters, 0, DIFFERENCE
        )
        covered += difference.low - _ROUNDING <= rate <= difference.high + _ROUNDING
    assert covered / WORLDS >= 0.93 - 2.6 * (0.93 * 0.07 / WORLDS) ** 0.5


@pytest.mark.parametrize("gap", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("cases", [6, 8, 12])
def test_an_interval_extends_below_its_estimate(cases, gap):
    first, second = np.full(cases, (1 + gap) / 2), np.full(cases, (1 - gap) / 2)
    difference = compare_paired(means(first), means(second), range(cases), 0, DIFFERENCE)
    assert difference.low < difference.difference < difference.high
    assert (difference.p < 0.05) != (difference.low <= 0 <= difference.high)
