"""Worlds of repeated and crossed debates."""

import itertools
from collections.abc import Iterator

import numpy as np
from simulated_worlds import SEED, Cell, Random, World, codes_of, excludes_0

from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.statistic import SHARE, mean_statistic
from moot.stats.within_cases import interval_within


def repeats_within_cases() -> Iterator[Cell]:
    """Yield cells of values of the debated cases, by debates within them."""
    designs = ([10] * 9 + [2], [2] * 9, [3] * 5, [20] * 5, [2, 50], [2, 2, 2, 30, 30, 30])
    for sizes, (low, high) in itertools.product(designs, ((0.2, 0.8), (0.02, 0.3), (0.9, 0.99))):
        strata = codes_of(sizes)
        row_shares = np.repeat(1 / (np.array(sizes) * len(sizes)), sizes)
        rates = np.linspace(low, high, len(sizes))

        def draw(
            random: Random,
            strata: list[int] = strata,
            row_shares: Floats = row_shares,
            rates: Floats = rates,
        ) -> World:
            values = as_numbers(random.random(len(strata)) < rates[strata]) * row_shares
            interval = interval_within(
                lambda w: ratio(w @ values, w @ row_shares), strata, SEED, SHARE
            )
            return World((interval.low, interval.high), float(rates.mean()))

        yield Cell("debates within cases", f"repeats {sizes}, rates {low} to {high}", draw)


def crossed_clusters() -> Iterator[Cell]:
    """Yield cells of means over rows of crossed stories and judges."""
    for (stories, judges), story, judge in itertools.product(
        ((50, 12), (20, 20), (60, 60), (50, 5)), (0.0, 0.2), (0.0, 0.2)
    ):

        def draw(
            random: Random,
            numbers: tuple[int, int] = (stories, judges),
            variances: tuple[float, float] = (story, judge),
        ) -> World:
            rows = 3 * max(numbers)
            levels = [random.integers(0, number, rows) for number in numbers]
            values = random.normal(0, (1 - sum(variances)) ** 0.5, rows)
            for level, number, variance in zip(levels, numbers, variances, strict=True):
                values = values + random.normal(0, variance**0.5, number)[level]
            bootstrap = ClusterBootstrap(list(zip(*levels, strict=True)), SEED)
            interval = bootstrap.interval(mean_statistic(values))
            return World(interval, 0.0, excludes_0(interval))

        yield Cell(
            "mean by crossed clusters",
            f"{stories} stories of variance {story}, {judges} judges of variance {judge}",
            draw,
        )
