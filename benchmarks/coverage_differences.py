"""Measure the coverage of intervals of a difference, and the type I error of its tests.

The simulation covers sides with different cases, crossed clusters, and amounts. `--write` puts the
summary into docs/results.md.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from results_page import Part, run_simulation

from moot.stats.arrays import Floats, as_numbers
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.differences import Difference, Sums, compare_unpaired
from moot.stats.statistic import AMOUNT, SHARE, mean_statistic

PART = Part("differences", "coverage_differences.py")
REPETITIONS = 500
SEED = 11

Sizes = Sequence[int]


def mixed(clusters: int) -> list[int]:
    """Return clusters of unequal sizes."""
    return list(np.resize([1, 3, 5, 12], clusters))


INDEPENDENT_CASES: dict[str, tuple[Sizes, Sizes]] = {
    f"{first} against {second} cases": ([1] * first, [1] * second)
    for first, second in (
        (3, 3),
        (3, 60),
        (5, 100),
        (10, 10),
        (10, 200),
        (30, 30),
        (30, 200),
        (200, 200),
    )
}
CLUSTERED: dict[str, tuple[Sizes, Sizes]] = {
    "3 clusters of 20 against 60 single cases": ([20] * 3, [1] * 60),
    "10 clusters of 20 against 200 single cases": ([20] * 10, [1] * 200),
    "30 single cases against 30 clusters of 20": ([1] * 30, [20] * 30),
    "5 clusters of 1 to 12 against 60": (mixed(5), mixed(60)),
    "8 clusters of 1 to 12 against 8": (mixed(8), mixed(8)),
    "8 clusters of 1 to 12 against 32": (mixed(8), mixed(32)),
    "32 clusters of 1 to 12 against 32": (mixed(32), mixed(32)),
    "100 clusters of 1 to 12 against 100": (mixed(100), mixed(100)),
}
RATES = (0.02, 0.1, 0.3, 0.5, 0.9, 0.98)
RATES_OF_CLUSTERS = (0.1, 0.5, 0.9)
CORRELATIONS = (0.0, 0.2, 0.5)
UNEQUAL = ((0.1, 0.3), (0.9, 0.6))


@dataclass(frozen=True)
class Cell:
    """A combination of sides, cluster sizes, rates, and the correlation within clusters."""

    name: str
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    rates: tuple[float, float]
    correlation: float = 0.0


@dataclass(frozen=True)
class CellResult:
    """The share of intervals with the true difference, and the share of p below 0.05."""

    covered: float
    rejected: float


def _fixed(sizes: tuple[Sizes, Sizes]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(map(int, sizes[0])), tuple(map(int, sizes[1]))


def cells() -> Iterator[Cell]:
    """Yield the cells of the whole grid."""
    for name, sizes in INDEPENDENT_CASES.items():
        for rates in [*((rate, rate) for rate in RATES), *UNEQUAL]:
            yield Cell(name, _fixed(sizes), rates)
    for name, sizes in CLUSTERED.items():
        for rate, correlation in itertools.product(RATES_OF_CLUSTERS, CORRELATIONS):
            yield Cell(name, _fixed(sizes), (rate, rate), correlation)
        for rates in UNEQUAL:
            yield Cell(name, _fixed(sizes), rates, CORRELATIONS[1])


def _draw_correct(
    random: np.random.Generator, sizes: Sizes, rate: float, correlation: float
) -> Floats:
    """Draw the right answers of each cluster, whose shares come from a beta distribution."""
    shares = np.full(len(sizes), rate)
    if correlation:
        scale = (1 - correlation) / correlation
        shares = random.beta(rate * scale, (1 - rate) * scale, size=len(sizes))
    return as_numbers(random.binomial(sizes, shares))


@cache
def _compare(
    correct_counts: tuple[tuple[float, ...], ...], sizes: tuple[tuple[int, ...], ...]
) -> Difference:
    sides, clusters = [], []
    for side, (counts, side_sizes) in enumerate(zip(correct_counts, sizes, strict=True)):
        answers = [np.arange(size) < count for count, size in zip(counts, side_sizes, strict=True)]
        correct = as_numbers(np.concatenate(answers))
        sides.append(Sums(correct[:, None], np.ones((len(correct), 1))))
        names = [f"{side} {number}" for number in range(len(side_sizes))]
        clusters.append(np.repeat(names, side_sizes).tolist())
    return compare_unpaired(sides[0], sides[1], clusters[0], clusters[1], SEED, SHARE)


def measure(cell: Cell, repetitions: int = REPETITIONS) -> CellResult:
    """Return the coverage of the interval and the rejections of the test."""
    random = np.random.default_rng(
        [SEED, *(round(100 * part) for part in (*cell.rates, cell.correlation))]
    )
    truth, single = cell.rates[0] - cell.rates[1], max(map(max, cell.sizes)) == 1
    covered = rejected = 0
    for _ in range(repetitions):
        correct_counts = [
            _draw_correct(random, side, rate, cell.correlation)
            for side, rate in zip(cell.sizes, cell.rates, strict=True)
        ]
        counts = [sorted(mine) if single else mine for mine in correct_counts]
        difference = _compare(tuple(map(tuple, counts)), cell.sizes)
        covered += np.isnan(difference.low) or bool(
            difference.low - 1e-9 <= truth <= difference.high + 1e-9
        )
        rejected += difference.p < 0.05
    _compare.cache_clear()
    return CellResult(covered / repetitions, rejected / repetitions)


def measure_crossed(
    first: int, second: int, variances: tuple[float, float], repetitions: int = REPETITIONS
) -> CellResult:
    """Measure means over rows with one of `first` stories and one of `second` judges, like the NYU
    debates.
    """
    covered = 0
    for number in range(repetitions):
        random = np.random.default_rng([SEED, first, second, number])
        story, judge = (
            random.integers(0, count, 3 * max(first, second)) for count in (first, second)
        )
        effects = [
            random.normal(0, variance**0.5, count)
            for variance, count in zip(variances, (first, second), strict=True)
        ]
        values = (
            effects[0][story]
            + effects[1][judge]
            + random.normal(0, (1 - sum(variances)) ** 0.5, len(story))
        )
        bootstrap = ClusterBootstrap(list(zip(story, judge, strict=True)), SEED)
        low, high = bootstrap.interval(mean_statistic(values))
        covered += low <= 0 <= high
    return CellResult(covered / repetitions, 1 - covered / repetitions)


CROSSED_SIZES = ((50, 12), (50, 20), (20, 20), (60, 60))
CROSSED_VARIANCES = ((0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.2))
CROSSED = {
    f"{stories} stories, {judges} judges; variance of stories {parts[0]}, of judges {parts[1]}": (
        stories,
        judges,
        parts,
    )
    for (stories, judges), parts in itertools.product(CROSSED_SIZES, CROSSED_VARIANCES)
}
AMOUNTS = {
    "rounds (geometric)": lambda random, shape: random.geometric(0.5, shape) / 2,
    "tokens (log-normal, 0.5)": lambda random, shape: random.lognormal(-0.125, 0.5, shape),
    "exponential": lambda random, shape: random.exponential(1, shape),
    "costs (log-normal, 1)": lambda random, shape: random.lognormal(-0.5, 1, shape),
    "costs (log-normal, 1.5)": lambda random, shape: random.lognormal(-1.125, 1.5, shape),
    "seven of ten are 0": (
        lambda random, shape: random.exponential(1, shape) * (random.random(shape) < 0.3) / 0.3
    ),
}
CASES = (10, 20, 50)


def amounts(name: str, cases: int, repetitions: int = REPETITIONS) -> float:
    """Return the share of intervals of a mean of amounts that contain the true mean, 1."""
    random = np.random.default_rng([SEED, cases])
    covered = 0
    for _ in range(repetitions):
        values = AMOUNTS[name](random, cases)
        low, high = ClusterBootstrap(range(cases), SEED).interval(mean_statistic(values, AMOUNT))
        covered += low <= 1 <= high
    return covered / repetitions


def percent(share: float) -> str:
    """Return a share in per cent with one decimal."""
    return f"{100 * share:.1f}"


def grid(repetitions: int) -> dict[Cell, CellResult]:
    """Return the coverage and rejections of every cell."""
    return {cell: measure(cell, repetitions) for cell in cells()}


def coverage_range(results: list[CellResult]) -> str:
    """Return the lowest and the highest coverage."""
    coverages = [result.covered for result in results]
    return f"{percent(min(coverages))} to {percent(max(coverages))}"


def tables(results: dict[Cell, CellResult], repetitions: int) -> str:
    """Return a summary of the grid, crossed clusters and amounts, in Markdown."""
    lines = [
        "| sides | coverage, equal rates | coverage, rates .1 and .3, .9 and .6 | type I error, at"
        " most |"
    ]
    lines.append("|---|---|---|---|")
    for name in {**INDEPENDENT_CASES, **CLUSTERED}:
        equal, unequal = list[CellResult](), list[CellResult]()
        for cell, result in results.items():
            if cell.name == name:
                (equal if len(set(cell.rates)) == 1 else unequal).append(result)
        type_one_error = percent(max(result.rejected for result in equal))
        lines.append(
            f"| {name} | {coverage_range(equal)} | {coverage_range(unequal)} | {type_one_error} |"
        )
    lines += ["", "| crossed clusters | coverage |", "|---|---|"]
    lines += [
        f"| {name} | {percent(measure_crossed(*cell, repetitions).covered)} |"
        for name, cell in CROSSED.items()
    ]
    lines += [
        "",
        f"| amounts | {' | '.join(f'{cases} cases' for cases in CASES)} |",
        "|---" * (1 + len(CASES)) + "|",
    ]
    for name in AMOUNTS:
        lines.append(
            f"| {name} |"
            f" {' | '.join(percent(amounts(name, cases, repetitions)) for cases in CASES)} |"
        )
    return "\n".join(lines)


def summarise(repetitions: int) -> str:
    """Print the results of the grid, and return its tables."""
    results = grid(repetitions)
    for cell, result in results.items():
        print(f"{cell.name}; rates {cell.rates}, correlation {cell.correlation}: {result}")
    return tables(results, repetitions)


if __name__ == "__main__":
    run_simulation(PART, __doc__, summarise, REPETITIONS, "--repetitions")
