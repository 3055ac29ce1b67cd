"""Test the statistics of attribution: intervals cover effects, and large ones are detected."""

from itertools import product

import pytest
from scipy.stats import binom

from moot.analyses.attribution.effects import estimate_effect, moved_verdict, noise_floor


@pytest.mark.parametrize(
    ("times", "shares", "detected"),
    [
        (5, (0.5, 0.5), 0.05),
        (10, (0.8, 0.8), 0.05),
        (20, (0.9, 0.9), 0.05),
        (10, (0.9, 0.5), 0.5),
        (20, (0.8, 0.2), 0.98),
    ],
)
def test_intervals_and_calls_have_their_exact_rates(
    times: int, shares: tuple[float, float], detected: float
) -> None:
    """All answers about the unchanged debate, twice as many, and about the changed one."""
    covered = called = 0.0
    for unchanged, changed in product(range(2 * times + 1), range(times + 1)):
        first = [1.0] * unchanged + [0.0] * (2 * times - unchanged)
        second = [1.0] * changed + [0.0] * (times - changed)
        effect = estimate_effect(first, second, exact=False)
        chance = binom.pmf(unchanged, 2 * times, shares[0]) * binom.pmf(changed, times, shares[1])
        covered += chance * (effect.low <= shares[0] - shares[1] <= effect.high)
        floor = noise_floor(first, times, exact=False)
        called += chance * moved_verdict([effect], [floor], 0.05)[0]
    assert 0.93 <= covered <= 0.99
    assert called <= detected if shares[0] == shares[1] else called >= detected
