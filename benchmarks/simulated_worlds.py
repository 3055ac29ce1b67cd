"""Worlds with a known truth, from which coverage and type I error are measured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from moot.stats.arrays import Floats, as_numbers
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.bootstrap_interval import estimate_interval
from moot.stats.differences import Sums
from moot.stats.statistic import Bounds, Statistic

SEED = 44
Random = np.random.Generator
Interval = tuple[float, float]
RATES = (0.02, 0.1, 0.5, 0.9, 0.98)
CORRELATIONS = (0.0, 0.2, 0.5)
SIZES: dict[str, tuple[int, ...]] = {
    "1 case": (1,),
    "5 debates": (5,),
    "1 to 12 debates": (1, 3, 5, 12),
    "2 or 40 debates": (2, 2, 2, 2, 40),
}


@dataclass(frozen=True)
class World:
    """The interval of one world, the true value, and whether a test rejected 0."""

    interval: Interval
    truth: float
    rejected: bool | None = None


@dataclass(frozen=True)
class Cell:
    """One combination.

    Attributes:
        kind: the kind of statistic.
        name: the name of the combination.
        draw: draws one world.
        draw_all: draws a number of worlds together, if that is faster.
    """

    kind: str
    name: str
    draw: Callable[[Random], World]
    draw_all: Callable[[Random, int], list[World]] | None = None

    def worlds(self, random: Random, number: int) -> Iterator[World]:
        """Yield a number of worlds."""
        if self.draw_all is not None:
            yield from self.draw_all(random, number)
            return
        for _ in range(number):
            yield self.draw(random)


def sizes_of(name: str, clusters: int) -> list[int]:
    """Return the number of debates of each cluster."""
    return np.resize(SIZES[name], clusters).tolist()


def draw_values(random: Random, sizes: Sequence[int], rate: float, correlation: float) -> Floats:
    """Draw right and wrong debates in clusters with a beta-binomial correlation."""
    rates = np.full(len(sizes), rate)
    if correlation:
        scale = 1 / correlation - 1
        rates = random.beta(rate * scale, (1 - rate) * scale, len(sizes))
    return as_numbers(random.random(sum(sizes)) < np.repeat(rates, sizes))


def codes_of(sizes: Sequence[int], first: int = 0) -> list[int]:
    """Return the cluster of each debate."""
    return np.repeat(np.arange(first, first + len(sizes)), sizes).tolist()


def means(values: Floats) -> Sums:
    """Return plain means as sums."""
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def bootstrap_interval(statistic: Statistic, clusters: Sequence[int]) -> Interval:
    """Return the interval by cluster; all worlds share the seed of their resamples."""
    return ClusterBootstrap(clusters, SEED).interval(statistic)


def excludes_0(interval: Interval) -> bool:
    """Return whether an interval rejects 0."""
    return not interval[0] <= 0 <= interval[1]


@dataclass(frozen=True)
class MeanWorlds:
    """Worlds of a mean by cluster, whose resamples are drawn for all worlds together.

    The values are right and wrong debates, or, if the true mean is 0, differences between two sides
    that are right equally often.
    """

    sizes: tuple[int, ...]
    rate: float
    correlation: float
    bounds: Bounds
    truth: float

    def draw(self, random: Random, number: int) -> list[World]:
        """Return the worlds."""
        sums = self._sums(random, number)
        if not self.truth:
            sums = sums - self._sums(random, number)
        sizes = as_numbers(self.sizes)
        (weights,) = ClusterBootstrap(range(len(sizes)), SEED).weights()
        bootstrap = ClusterBootstrap(codes_of(self.sizes), SEED)
        clusters, is_unequal = bootstrap.clusters_among(None), bootstrap.has_unequal_clusters
        draws = ((weights @ sums.T) / (weights @ sizes)[:, None]).T
        values = sums.sum(axis=1) / sizes.sum()
        worlds = []
        for value, row in zip(values, draws, strict=True):
            interval = estimate_interval(
                float(value),
                row,
                clusters,
                self.bounds,
                has_unequal_clusters=is_unequal,
            )
            worlds.append(World(interval, self.truth, excludes_0(interval)))
        return worlds

    def _sums(self, random: Random, number: int) -> Floats:
        """Return the right debates of each cluster, shape (worlds, clusters)."""
        rates = np.full((number, len(self.sizes)), self.rate)
        if self.correlation:
            scale = 1 / self.correlation - 1
            rates = random.beta(self.rate * scale, (1 - self.rate) * scale, rates.shape)
        return as_numbers(random.binomial(self.sizes, rates))


def no_single_world(_: Random) -> World:
    """Refuse to draw a single world of a cell whose worlds are drawn together."""
    raise NotImplementedError("these worlds are drawn at once")
