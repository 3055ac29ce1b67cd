"""Components of groups of unequal sizes: the estimates of the analysis of variance, unbiased in
unbalanced crossed and nested designs, and covered.
"""

import numpy as np
import pytest

from moot.analyses.variance.components import Decomposition, decompose

CASE, RESIDUAL = frozenset({"case"}), frozenset()
WORLDS = 200
SIZES = {
    "1 to 20 answers": [1] * 10 + [2] * 10 + [3] * 10 + [4] * 5 + [20] * 3,
    "1 or 10 answers": [1] * 12 + [10] * 12,
    "14 to 52 answers, 30 cases": [20, 20, 19, 18, 17, 25, 10, 49, 27, 47] * 2
    + [14, 24, 46, 52, 20, 22, 19, 13, 48, 50],
    "1 to 10 answers": [5, 9, 10, 3, 2, 7, 7, 8, 7, 8, 10, 10, 10, 9, 8, 10, 1, 1, 8, 5],
    "one case with most answers": [3] * 15 + [60],
}


def variances(decomposition: Decomposition | None) -> dict[frozenset[str], float]:
    assert decomposition is not None
    return {part.effect: part.variance for part in decomposition.components}


def analysis_of_variance(groups: list[np.ndarray]) -> tuple[float, float]:
    """Variance between and within groups of unequal sizes (Searle et al. 1992, section 3.6)."""
    sizes = np.array([len(group) for group in groups], dtype=float)
    means = np.array([group.mean() for group in groups])
    total = sizes.sum()
    within_variance = sum(((group - group.mean()) ** 2).sum() for group in groups) / (
        total - len(groups)
    )
    grand_mean = (sizes * means).sum() / total
    between_variance = (sizes * (means - grand_mean) ** 2).sum() / (len(groups) - 1)
    typical_size = (total - (sizes**2).sum() / total) / (len(groups) - 1)
    return (between_variance - within_variance) / typical_size, within_variance


def draw_groups(random: np.random.Generator, sizes: list[int], share: float) -> list[np.ndarray]:
    """Right and wrong answers of cases with an intraclass correlation of `share`."""
    scale = 1 / share - 1
    rates = random.beta(0.7 * scale, 0.3 * scale, len(sizes))
    return [
        (random.random(size) < rate).astype(float) for size, rate in zip(sizes, rates, strict=True)
    ]


def decompose_groups(groups: list[np.ndarray]) -> Decomposition | None:
    cases = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return decompose(np.concatenate(groups), {"case": cases.tolist()})


@pytest.mark.parametrize("name", SIZES)
def test_one_facet_has_the_estimates_of_the_analysis_of_variance(name):
    groups = draw_groups(np.random.default_rng(3), SIZES[name], 0.3)
    between_variance, within_variance = analysis_of_variance(groups)
    estimates = variances(decompose_groups(groups))
    assert estimates[CASE] == pytest.approx(between_variance)
    assert estimates[RESIDUAL] == pytest.approx(within_variance)


@pytest.mark.parametrize("name", SIZES)
def test_shares_of_unequal_cases_are_unbiased_and_covered(name):
    random, planted = np.random.default_rng(8), 0.3
    shares, covered, intervals = [], 0, 0
    for _ in range(WORLDS):
        decomposition = decompose_groups(draw_groups(random, SIZES[name], planted))
        assert decomposition is not None
        part = next(part for part in decomposition.components if part.effect == CASE)
        shares.append(part.share)
        covered += part.low <= planted <= part.high
        intervals += not np.isnan(part.low)
    assert abs(np.mean(shares) - planted) < 0.05
    assert intervals >= WORLDS / 4
    assert covered / intervals >= 0.93 - 3 * (0.93 * 0.07 / intervals) ** 0.5


@pytest.mark.parametrize(("levels", "rate"), [(10, 0.15), (20, 0.05), (30, 0.9), (60, 0.03)])
def test_a_share_of_few_cases_with_rare_answers_has_no_interval(levels: int, rate: float) -> None:
    correct_count = round(rate * levels * 5)
    values = np.zeros(levels * 5)
    values[:correct_count] = 1
    decomposition = decompose_groups(np.split(values, levels))
    assert decomposition is not None
    part = next(part for part in decomposition.components if part.effect == CASE)
    assert np.isfinite(part.share) and np.isnan(part.low) and np.isnan(part.high)


def test_shares_are_unbiased_where_cases_with_more_answers_are_easier():
    random, planted = np.random.default_rng(2), 0.3
    shares = []
    for _ in range(WORLDS):
        groups = draw_groups(random, [20] * 24, planted)
        rates = np.argsort(np.argsort([group.mean() for group in groups]))
        sizes = np.sort(SIZES["1 or 10 answers"])[rates]
        groups = [group[:size] for group, size in zip(groups, sizes, strict=True)]
        decomposition = decompose_groups(groups)
        assert decomposition is not None
        shares.append(next(part.share for part in decomposition.components if part.effect == CASE))
    assert abs(np.mean(shares) - planted) < 0.12


def test_planted_components_of_an_unbalanced_crossed_design_come_back():
    random = np.random.default_rng(1)
    estimates = []
    for _ in range(WORLDS):
        case, judge, _ = (part.ravel() for part in np.indices((15, 10, 3)))
        present = random.random(len(case)) < np.where(case < 5, 0.9, 0.4)
        case, judge = case[present], judge[present]
        both = case * 10 + judge
        values = (
            random.normal(0, 1, 15)[case]
            + random.normal(0, 0.5, 10)[judge]
            + random.normal(0, 0.6, 150)[both]
            + random.normal(0, 1, len(case))
        )
        facets = {"case": case.tolist(), "judge": judge.tolist()}
        estimates.append(variances(decompose(values, facets)))
    planted = {
        CASE: 1.0,
        frozenset({"judge"}): 0.25,
        frozenset({"case", "judge"}): 0.36,
        RESIDUAL: 1.0,
    }
    for effect, variance in planted.items():
        simulated = np.array([estimate[effect] for estimate in estimates])
        assert abs(simulated.mean() - variance) < 3.5 * simulated.std() / WORLDS**0.5, effect
