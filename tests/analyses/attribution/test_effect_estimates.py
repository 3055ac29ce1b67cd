"""Test the statistics of attribution: intervals cover effects, and large ones are detected."""

import numpy as np
import pytest
from scipy.stats import binomtest

from moot.analyses.attribution.estimates import estimate_effect, moved_verdict, noise_floor


@pytest.mark.parametrize("times", [5, 10])
def test_intervals_cover_the_effect_over_all_probabilities(times: int) -> None:
    random, covered, tries = np.random.default_rng(4), 0, 1500
    for _ in range(tries):
        share, changed_share = random.random(2)
        unchanged, changed = (
            random.binomial(1, share, 2 * times),
            random.binomial(1, changed_share, times),
        )
        effect = estimate_effect(
            unchanged.astype(float).tolist(), changed.astype(float).tolist(), exact=False
        )
        covered += effect.low - 1e-9 <= share - changed_share <= effect.high + 1e-9
    assert 0.92 <= covered / tries <= 0.98


@pytest.mark.parametrize(("share", "effect"), [(0.5, 0.0), (0.8, 0.0), (0.9, 0.4), (0.8, 0.6)])
def test_intervals_of_effects_have_their_coverage(share: float, effect: float) -> None:
    random, cases, times = np.random.default_rng(3), 40, 20
    covered, false_calls, tries = 0, 0, 400
    for _ in range(tries):
        answers = random.binomial(1, share, cases).astype(float).tolist()
        changed = random.binomial(1, share - effect, times).astype(float).tolist()
        estimate = estimate_effect(answers, changed, exact=False)
        covered += estimate.low - 1e-9 <= effect <= estimate.high + 1e-9
        false_calls += moved_verdict([estimate], [noise_floor(answers, times, exact=False)], 0.05)[
            0
        ]
    assert 0.92 <= covered / tries <= 0.985
    if effect:
        assert false_calls / tries > 0.75
    else:  # at most 5 %, within what the number of tries can show
        assert binomtest(false_calls, tries, 0.05, alternative="greater").pvalue > 0.01


def test_a_large_effect_is_detected_in_most_debates() -> None:
    random, times, turns, debates = np.random.default_rng(5), 10, 6, 300
    effect = 0.68
    called, first, other_calls = 0, 0, 0
    for _ in range(debates):
        unchanged = random.binomial(1, 0.9, 2 * times).astype(float).tolist()
        shares = [0.9 - effect, *[0.9] * (turns - 1)] * 2
        effects = []
        for share in shares:
            values = random.binomial(1, share, times).astype(float).tolist()
            effects.append(estimate_effect(unchanged, values, exact=False))
        moved = moved_verdict(
            effects, [noise_floor(unchanged, times, exact=False)] * 2 * turns, 0.05
        )
        called, other_calls = (
            called + moved[0],
            other_calls + any(moved[1:turns] + moved[turns + 1 :]),
        )
        first += effects[0].effect > max(estimate.effect for estimate in effects[1:turns])
    assert 0.75 <= called / debates <= 0.9
    assert first / debates >= 0.95 and other_calls / debates <= 0.05
