"""Test planned sample sizes against published values and simulated studies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from moot.stats.power import (
    Goal,
    Spread,
    cases_needed,
    estimate_spread,
    paired_proportions,
    share_against,
    smallest_difference,
)


@pytest.mark.parametrize(
    ("difference", "discordant", "cases"), [(0.1, 0.3, 233), (0.05, 0.25, 780), (0.03, 0.2, 1740)]
)
def test_paired_proportions_have_the_known_sample_sizes(
    difference: float, discordant: float, cases: int
) -> None:
    """The known sizes assume that one side alone is right in a share of 0.30, 0.25 or 0.20."""
    spread = paired_proportions(discordant)
    assert cases_needed(difference, spread) == pytest.approx(cases, rel=0.02)
    assert smallest_difference(cases, spread) == pytest.approx(difference, rel=0.01)


@pytest.mark.parametrize(
    ("cases", "published"),
    [((6,), 1.44), ((8,), 1.16), ((40,), 0.454), ((300,), 0.162), ((20, 200), 0.66)],
)
def test_the_power_for_means_equals_that_of_other_programs(
    cases: tuple[int, ...], published: float
) -> None:
    spread = Spread((0.4**2,) * len(cases))
    effect = smallest_difference(cases, spread) / 0.4
    assert effect == pytest.approx(published, abs=0.006)
    if len(cases) == 1:
        assert cases_needed(effect * 0.4, spread) == pytest.approx(cases[0], rel=1e-4)


def debate_rows(
    values: np.ndarray, cases: list[str], models: Sequence[str] | str = "m"
) -> pd.DataFrame:
    return pd.DataFrame({"value": values, "case": cases, "model": models})


def case_names(count: int, prefix: str = "c") -> list[str]:
    return [f"{prefix}{number:04d}" for number in range(count)]


def test_a_share_near_a_threshold_varies_and_a_constant_does_not() -> None:
    assert share_against(0.2) == Spread((pytest.approx(0.16),))
    assert share_against(0).power(0.1, 20, (1, 1), 0.05) == 1


def test_unpaired_sides_have_separate_variances_and_clusters() -> None:
    random = np.random.default_rng(5)
    small_sample, large_sample = random.normal(0, 2, 20), random.normal(0, 0.5, 200)
    sides = []
    for side, values in (("a", small_sample), ("b", large_sample)):
        sides.append(debate_rows(values, case_names(len(values), side)))
    clusters = [*range(20), *(100 + np.arange(200) // 5)]
    spread = estimate_spread(sides[0], sides[1], clusters, is_paired=False)
    assert spread.between_variance == pytest.approx(
        (small_sample.var(ddof=1), large_sample.var(ddof=1))
    ) and spread.cases == (20, 200)
    assert spread.design[0] == 1
    smallest = smallest_difference((20, 10**6), spread)
    assert smallest_difference((20, 200), spread) == pytest.approx(smallest, rel=0.05), (
        "the small, noisy side determines the power"
    )
    assert smallest_difference((200, 20), spread) < 0.6 * smallest


def draw_chances(random: np.random.Generator, cases: int, gap: float) -> np.ndarray:
    """Draw how often two sides are right on each case, shape (2, cases)."""
    logits = random.normal(0, 1.2, cases) + random.normal(0, 0.7, (2, cases))
    return 1 / (1 + np.exp(-logits - np.array([[gap / 2], [-gap / 2]])))


def draw_answers(random: np.random.Generator, cases: int, repeats: int, gap: float) -> np.ndarray:
    """Draw which answers of two sides are right, shape (2, cases, repeats)."""
    return random.random((2, cases, repeats)) < draw_chances(random, cases, gap)[..., None]


def spread_of(is_right: np.ndarray) -> Spread:
    _, cases, repeats = is_right.shape
    names = list(np.repeat(case_names(cases), repeats))
    sides = [debate_rows(side.astype(float).ravel(), names) for side in is_right]
    return estimate_spread(*sides, np.arange(cases), is_paired=True)


def test_variance_components_of_a_pilot_are_unbiased() -> None:
    random = np.random.default_rng(2)
    chances = draw_chances(random, 200_000, 0.8)
    spreads = [spread_of(draw_answers(random, 60, 3, 0.8)) for _ in range(40)]
    estimates = np.array([[spread.between_variance[0], spread.within[0]] for spread in spreads])
    expected = np.var(chances[0] - chances[1]), (chances[0] * (1 - chances[0])).mean()
    errors = estimates.std(axis=0) / len(spreads) ** 0.5
    assert (np.abs(estimates.mean(axis=0) - expected) < 4 * errors).all()


def test_repeats_reduce_the_variance_within_cases_alone() -> None:
    spread = Spread((0.05,), (0.1, 0.1))
    needed = [cases_needed(0.1, spread, (repeats, repeats)) for repeats in (1, 3, 1000)]
    assert needed[0] > needed[1] > needed[2]
    assert needed[2] == pytest.approx(cases_needed(0.1, Spread((0.05,))), rel=0.01)


def test_clusters_corrections_and_few_cases_change_the_sample_size() -> None:
    random = np.random.default_rng(4)
    motions = np.repeat(random.normal(0, 1, 40), 5)
    names = case_names(200)
    first, second = (
        debate_rows(motions + random.normal(0, 0.5, 200), names),
        debate_rows(np.zeros(200), names),
    )
    clustered = estimate_spread(first, second, np.repeat(np.arange(40), 5), is_paired=True)
    assert clustered.design[0] == pytest.approx(1 + 4 * 0.8, rel=0.25), "1 + (m - 1) rho"
    judged = debate_rows(first["value"] + np.tile(random.normal(0, 1, 10), 20), names)
    motions_and_judges = list(zip(np.arange(200) // 5, np.arange(200) % 10, strict=True))
    crossed = estimate_spread(judged, second, motions_and_judges, is_paired=True)
    unclustered = estimate_spread(judged, second, np.repeat(np.arange(40), 5), is_paired=True)
    assert crossed.design[0] > 1.5 * unclustered.design[0], (
        "clusters by judge also increase the variance"
    )
    spread = paired_proportions(0.3)
    assert cases_needed(0.1, spread, goal=Goal(0.01)) > 1.4 * cases_needed(0.1, spread)
    assert np.isnan(smallest_difference(1, spread))
    assert cases_needed(0.0, spread) == float("inf")


def test_models_have_equal_weight_for_any_number_of_debates() -> None:
    """A contrast is a mean over models, and so is its variance.

    One of the models has six times as many debates.
    """
    random = np.random.default_rng(4)
    cases, often = 4000, {"a": 6, "b": 1}
    model_effects = {model: random.normal(0, 1, cases) for model in often}
    names = case_names(cases)
    debate_names, debate_models, debate_values = [], [], []
    for model, repeats in often.items():
        debate_names += list(np.repeat(names, repeats))
        debate_models += [model] * (cases * repeats)
        debate_values += list(np.repeat(model_effects[model], repeats))
    noise = random.normal(0, 0.5, len(debate_values))
    first = debate_rows(np.array(debate_values) + noise, debate_names, debate_models)
    second = first.assign(value=0.0)
    spread = estimate_spread(first, second, range(cases), is_paired=True)
    assert spread.between_variance[0] == pytest.approx(0.5, rel=0.06) and spread.within[
        0
    ] == pytest.approx(0.125, rel=0.03)
