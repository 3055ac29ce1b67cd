"""Worlds of shares, amounts and their differences, between cases or by cluster."""

import itertools
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from simulated_worlds import (
    CORRELATIONS,
    RATES,
    SIZES,
    Cell,
    Interval,
    MeanWorlds,
    Random,
    World,
    bootstrap_interval,
    codes_of,
    draw_values,
    excludes_0,
    means,
    no_single_world,
    sizes_of,
)

from moot.stats.arrays import Floats, as_numbers
from moot.stats.clusters import kinds_of_clusters
from moot.stats.differences import Difference, compare_paired, compare_unpaired
from moot.stats.independent import Independent
from moot.stats.statistic import AMOUNT, DIFFERENCE, SHARE, Bounds, mean_statistic


def shares() -> Iterator[Cell]:
    """Yield cells of shares by cluster."""
    for clusters, size, rate, correlation in itertools.product(
        (5, 10, 30, 200), SIZES, RATES, CORRELATIONS
    ):
        if size == "1 case" and correlation:
            continue
        yield Cell(
            "share by cluster",
            f"{clusters} clusters of {size}, rate {rate}, correlation {correlation}",
            no_single_world,
            MeanWorlds(tuple(sizes_of(size, clusters)), rate, correlation, SHARE, rate).draw,
        )


@cache
def _single_pairs(first_alone: int, second_alone: int, cases: int) -> Difference:
    first, second = np.ones(cases), np.ones(cases)
    second[:first_alone] = 0
    first[cases - second_alone :] = 0
    return compare_paired(means(first), means(second), range(cases), 0, DIFFERENCE)


def paired_cases() -> Iterator[Cell]:
    """Yield cells of independent pairs: Tango's interval and McNemar's test."""
    discordant = (
        (0.02, 0.0),
        (0.1, 0.0),
        (0.3, 0.0),
        (0.02, 0.02),
        (0.1, 0.1),
        (0.3, 0.3),
        (0.3, 0.05),
    )
    for cases, (first, second) in itertools.product((5, 10, 20, 30, 60, 100, 200), discordant):

        def draw(
            random: Random, cases: int = cases, first: float = first, second: float = second
        ) -> World:
            counts = random.multinomial(cases, [first, second, 1 - first - second])
            difference = _single_pairs(int(counts[0]), int(counts[1]), cases)
            interval = difference.low, difference.high
            return World(interval, first - second, difference.p < 0.05)

        yield Cell(
            "paired difference, independent cases",
            f"{cases} cases, {first} right on the first side alone, {second} on the second",
            draw,
        )


def paired_clusters() -> Iterator[Cell]:
    """Yield cells of paired means by cluster; the second side is always right (`one side constant`)
    or right as often as the first.
    """
    for clusters, size, rate, correlation, is_constant in itertools.product(
        (5, 10, 30, 200),
        ("5 debates", "1 to 12 debates", "2 or 40 debates"),
        (0.02, 0.1, 0.5),
        CORRELATIONS,
        (True, False),
    ):
        truth = rate if is_constant else 0.0
        worlds = MeanWorlds(tuple(sizes_of(size, clusters)), rate, correlation, DIFFERENCE, truth)
        sides = "one side constant" if is_constant else "equal sides"
        yield Cell(
            "paired difference by cluster",
            f"{clusters} clusters of {size}, {sides}, rate {rate}, correlation {correlation}",
            no_single_world,
            worlds.draw,
        )


@cache
def _single_cases(first_right: int, first: int, second_right: int, second: int) -> Difference:
    sides = [
        as_numbers(np.arange(cases) < correct_count)
        for correct_count, cases in ((first_right, first), (second_right, second))
    ]
    return compare_unpaired(
        means(sides[0]), means(sides[1]), range(first), range(first, first + second), 0, SHARE
    )


NUMBERS = ((3, 3), (3, 60), (5, 100), (10, 10), (15, 150), (30, 30), (30, 200), (200, 200))
FAR_NUMBERS = ((3, 5), (3, 200), (5, 5), (8, 8), (8, 15), (8, 200), (20, 20), (25, 25), (60, 60))
FAR_RATES = (
    *((0.02, 0.98), (0.05, 0.95), (0.1, 0.9), (0.2, 0.8)),
    *((0.02, 0.5), (0.05, 0.3), (0.98, 0.8)),
)


def unpaired_cases() -> Iterator[Cell]:
    """Yield cells of independent cases of two sides, also with distant rates: Newcombe's interval
    and Fisher's test.
    """
    pairs = [*((rate, rate) for rate in RATES), (0.1, 0.3), (0.9, 0.6), (0.02, 0.98)]
    grid = [
        *itertools.product(NUMBERS, pairs),
        *itertools.product(FAR_NUMBERS, FAR_RATES),
        *itertools.product(NUMBERS[1:], FAR_RATES[1:]),
    ]
    for (first, second), rates in grid:

        def draw(
            random: Random,
            first: int = first,
            second: int = second,
            rates: tuple[float, float] = rates,
        ) -> World:
            counts = random.binomial((first, second), rates)
            difference = _single_cases(int(counts[0]), first, int(counts[1]), second)
            interval = difference.low, difference.high
            return World(interval, rates[0] - rates[1], difference.p < 0.05)

        yield Cell(
            "unpaired difference, independent cases",
            f"{first} against {second} cases, rates {rates[0]} and {rates[1]}",
            draw,
        )


def unpaired_interval(
    first: Floats, second: Floats, first_codes: list[int], second_codes: list[int], bounds: Bounds
) -> Interval:
    """Return the interval that belongs to the p of `compare_unpaired`."""
    kinds = kinds_of_clusters([*first_codes, *second_codes])
    parts = means(first).to_part(bounds), means(second).to_part(bounds)
    return Independent(parts, kinds).interval()


def unpaired_clusters() -> Iterator[Cell]:
    """Yield cells of clusters of two sides, with unequal numbers, sizes, correlations and rates."""
    numbers = ((3, 60), (8, 8), (8, 32), (15, 150), (32, 32), (200, 200))
    size_pairs = (
        ("5 debates", "5 debates"),
        ("1 to 12 debates", "1 to 12 debates"),
        ("2 or 40 debates", "5 debates"),
    )
    settings = [
        *(((rate, correlation), (rate, correlation))
          for rate, correlation in itertools.product(RATES, CORRELATIONS)),
        ((0.7, 0.9), (0.7, 0.0)),
        ((0.1, 0.2), (0.3, 0.2)),
        ((0.9, 0.5), (0.6, 0.0)),
    ]  # fmt: skip
    for (first, second), names, sides in itertools.product(numbers, size_pairs, settings):
        sizes = sizes_of(names[0], first), sizes_of(names[1], second)
        codes = codes_of(sizes[0]), codes_of(sizes[1], first)

        def draw(
            random: Random,
            sizes: tuple[list[int], list[int]] = sizes,
            codes: tuple[list[int], list[int]] = codes,
            sides: tuple[tuple[float, float], tuple[float, float]] = sides,
        ) -> World:
            values = [
                draw_values(random, side_sizes, *side)
                for side_sizes, side in zip(sizes, sides, strict=True)
            ]
            interval = unpaired_interval(values[0], values[1], *codes, SHARE)
            return World(interval, sides[0][0] - sides[1][0], excludes_0(interval))

        yield Cell(
            "unpaired difference by cluster",
            f"{first} clusters of {names[0]} against {second} of {names[1]}, rates and correlations"
            f" {sides[0]} and {sides[1]}",
            draw,
        )


def shared_clusters() -> Iterator[Cell]:
    """Yield cells of sides with different cases whose clusters have cases of both sides."""
    for clusters, sizes, rate, correlation in itertools.product(
        (5, 10, 30), ((4, 4), (2, 20), (1, 5)), (0.02, 0.1, 0.5), (0.0, 0.3)
    ):
        codes = [np.repeat(np.arange(clusters), size).tolist() for size in sizes]
        size_list = [sum(sizes)] * clusters

        def draw(
            random: Random,
            sizes: tuple[int, int] = sizes,
            size_list: list[int] = size_list,
            codes: list[list[int]] = codes,
            rate: float = rate,
            correlation: float = correlation,
        ) -> World:
            values = draw_values(random, size_list, rate, correlation).reshape(len(size_list), -1)
            first, second = values[:, : sizes[0]].ravel(), values[:, sizes[0] :].ravel()
            interval = unpaired_interval(first, second, codes[0], codes[1], SHARE)
            return World(interval, 0.0, excludes_0(interval))

        yield Cell(
            "unpaired difference, shared clusters",
            f"{clusters} clusters of {sizes[0]} and {sizes[1]} cases, rate {rate}, correlation"
            f" {correlation}",
            draw,
        )


Draw = Callable[[Random, int], Floats]


def log_normal(spread: float) -> Draw:
    """Return a draw of log-normal amounts with a mean of 1."""
    return lambda random, cases: random.lognormal(-(spread**2) / 2, spread, cases)


def gamma(shape: float, scale: float) -> Draw:
    """Return a draw of amounts from a gamma distribution."""
    return lambda random, cases: random.gamma(shape, scale, cases)


def beta(first: float, second: float) -> Draw:
    """Return a draw of scores from a beta distribution."""
    return lambda random, cases: random.beta(first, second, cases)


TOKENS, COSTS, SPREAD_COSTS = log_normal(0.5), log_normal(1), log_normal(1.5)
TIGHT_AMOUNTS = gamma(50, 0.02)
SPREADS: dict[str, tuple[Bounds, Draw, Draw]] = {
    "Brier scores, wide against tight": (SHARE, beta(0.5, 1.5), beta(25, 75)),
    "rounds, wide against tight": (AMOUNT, gamma(1, 3), gamma(50, 0.06)),
    "log-normal tokens": (AMOUNT, TOKENS, TOKENS),
    "log-normal costs": (AMOUNT, COSTS, COSTS),
    "log-normal costs, wide against tight": (AMOUNT, COSTS, TIGHT_AMOUNTS),
    "log-normal costs of spread 1.5": (AMOUNT, SPREAD_COSTS, SPREAD_COSTS),
    "log-normal costs of spread 1.5 against tokens": (AMOUNT, SPREAD_COSTS, TOKENS),
    "exponential amounts, wide against tight": (AMOUNT, gamma(1, 1), TIGHT_AMOUNTS),
}
MORE_NUMBERS = ((8, 8), (8, 60), (60, 8), (60, 60), (150, 15))


def unequal_spreads() -> Iterator[Cell]:
    """Yield cells of amounts and scores with equal means and unequal spreads."""
    for name, (first, second) in itertools.product(SPREADS, [*NUMBERS[1:], *MORE_NUMBERS]):
        bounds, draw_first, draw_second = SPREADS[name]

        def draw(
            random: Random,
            bounds: Bounds = bounds,
            draws: tuple[Draw, Draw] = (draw_first, draw_second),
            numbers: tuple[int, int] = (first, second),
        ) -> World:
            values = [side(random, number) for side, number in zip(draws, numbers, strict=True)]
            codes = codes_of([1] * numbers[0]), codes_of([1] * numbers[1], numbers[0])
            interval = unpaired_interval(values[0], values[1], *codes, bounds)
            return World(interval, 0.0, excludes_0(interval))

        yield Cell(
            "unpaired difference of scores and amounts",
            f"{name}, {first} against {second}",
            draw,
        )


def single_amounts() -> Iterator[Cell]:
    """Yield cells of means of amounts."""
    for name, cases in itertools.product(SPREADS, (5, 8, 10, 20, 50)):
        bounds, draw_values_of, _ = SPREADS[name]
        truth = {SHARE: 0.25}.get(bounds, 3.0 if name.startswith("rounds") else 1.0)

        def draw(
            random: Random,
            cases: int = cases,
            bounds: Bounds = bounds,
            draw_values_of: Draw = draw_values_of,
            truth: float = truth,
        ) -> World:
            values = draw_values_of(random, cases)
            return World(bootstrap_interval(mean_statistic(values, bounds), range(cases)), truth)

        if "wide against tight" in name and name.startswith("log"):
            continue  # another row has the same first side
        yield Cell("mean score or amount", f"{name.split(',')[0]}, {cases} cases", draw)
