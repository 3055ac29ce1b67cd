"""Null and planted worlds for every interval and test that a table prints, by kind."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from coverage_ratings import Tournament

from moot.analyses.variance.components import decompose
from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.bootstrap import (
    AMOUNT,
    DIFFERENCE,
    SHARE,
    Bounds,
    ClusterBootstrap,
    Floats,
    Statistic,
    Truths,
    as_numbers,
    estimate_interval,
    kinds_of_clusters,
    mean_statistic,
    ratio,
    ratio_statistic,
)
from moot.stats.calibration import auc_statistic, calibration_error_statistic
from moot.stats.differences import (
    MIN_HITS,
    Difference,
    Sums,
    compare_paired,
    compare_unpaired,
    too_few_hits,
    with_unseen_clusters,
)
from moot.stats.independent import Independent
from moot.stats.prediction_powered import corrected_mean, estimate_share
from moot.stats.within_cases import interval_within

SEED = 44
_ROUNDING = 1e-9
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
        name: of the combination.
        draw: draws one world.
        draw_all: draws so many worlds at once, where that is quicker.
    """

    kind: str
    name: str
    draw: Callable[[Random], World]
    draw_all: Callable[[Random, int], list[World]] | None = None

    def worlds(self, random: Random, number: int) -> Iterator[World]:
        """So many worlds."""
        if self.draw_all is not None:
            yield from self.draw_all(random, number)
            return
        for _ in range(number):
            yield self.draw(random)


# Draws


def sizes_of(name: str, clusters: int) -> list[int]:
    """The debates of each cluster."""
    return np.resize(SIZES[name], clusters).tolist()


def draw_values(random: Random, sizes: Sequence[int], rate: float, correlation: float) -> Floats:
    """Right and wrong debates in clusters with a beta-binomial correlation."""
    rates = np.full(len(sizes), rate)
    if correlation:
        scale = 1 / correlation - 1
        rates = random.beta(rate * scale, (1 - rate) * scale, len(sizes))
    return as_numbers(random.random(sum(sizes)) < np.repeat(rates, sizes))


def codes_of(sizes: Sequence[int], first: int = 0) -> list[int]:
    """The cluster of each debate."""
    return np.repeat(np.arange(first, first + len(sizes)), sizes).tolist()


def means(values: Floats) -> Sums:
    """Plain means as sums."""
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def bootstrap_interval(statistic: Statistic, clusters: Sequence[int]) -> Interval:
    """The interval by cluster; all worlds share the seed of their resamples."""
    return ClusterBootstrap(clusters, SEED).interval(statistic)


def excludes_0(interval: Interval) -> bool:
    """Whether an interval rejects 0."""
    return not interval[0] <= 0 <= interval[1]


@dataclass(frozen=True)
class MeanWorlds:
    """Worlds of a mean by cluster, whose resamples are drawn for all at once.

    The mean is of right and wrong debates, or where it is 0, of the difference between two sides
    that are right as often.
    """

    sizes: tuple[int, ...]
    rate: float
    correlation: float
    bounds: Bounds
    truth: float

    def draw(self, random: Random, number: int) -> list[World]:
        """The worlds."""
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
        """Right debates of each cluster, shape (worlds, clusters)."""
        rates = np.full((number, len(self.sizes)), self.rate)
        if self.correlation:
            scale = 1 / self.correlation - 1
            rates = random.beta(self.rate * scale, (1 - self.rate) * scale, rates.shape)
        return as_numbers(random.binomial(self.sizes, rates))


def _no_single_world(_: Random) -> World:
    raise NotImplementedError("these worlds are drawn at once")


# Cells


def shares() -> Iterator[Cell]:
    """Shares by cluster."""
    for clusters, size, rate, correlation in itertools.product(
        (5, 10, 30, 200), SIZES, RATES, CORRELATIONS
    ):
        if size == "1 case" and correlation:
            continue
        yield Cell(
            "share by cluster",
            f"{clusters} clusters of {size}, rate {rate}, correlation {correlation}",
            _no_single_world,
            MeanWorlds(tuple(sizes_of(size, clusters)), rate, correlation, SHARE, rate).draw,
        )


@cache
def _single_pairs(first_alone: int, second_alone: int, cases: int) -> Difference:
    first, second = np.ones(cases), np.ones(cases)
    second[:first_alone] = 0
    first[cases - second_alone :] = 0
    return compare_paired(means(first), means(second), range(cases), 0, DIFFERENCE)


def paired_cases() -> Iterator[Cell]:
    """Independent pairs: Tango's interval, McNemar's test."""
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
    """Paired means by cluster; the second side right always (`one side constant`) or as often."""
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
            _no_single_world,
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
    """Independent cases of two sides: Newcombe's interval, Fisher's test; also rates that lie far
    apart.
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
    """The interval whose p is that of `compare_unpaired`."""
    kinds = kinds_of_clusters([*first_codes, *second_codes])
    parts = means(first).to_part(bounds), means(second).to_part(bounds)
    return Independent(parts, kinds).interval()


def unpaired_clusters() -> Iterator[Cell]:
    """Clusters of two sides, with unequal numbers, sizes, correlations and rates."""
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
    """Sides of different cases whose clusters have cases of both."""
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


SPREADS: dict[
    str, tuple[Bounds, Callable[[Random, int], Floats], Callable[[Random, int], Floats]]
] = {
    "Brier scores, wide against tight": (
        SHARE,
        lambda random, cases: random.beta(0.5, 1.5, cases),
        lambda random, cases: random.beta(25, 75, cases),
    ),
    "rounds, wide against tight": (
        AMOUNT,
        lambda random, cases: random.gamma(1, 3, cases),
        lambda random, cases: random.gamma(50, 0.06, cases),
    ),
    "log-normal tokens": (
        AMOUNT,
        lambda random, cases: random.lognormal(-0.125, 0.5, cases),
        lambda random, cases: random.lognormal(-0.125, 0.5, cases),
    ),
    "log-normal costs": (
        AMOUNT,
        lambda random, cases: random.lognormal(-0.5, 1, cases),
        lambda random, cases: random.lognormal(-0.5, 1, cases),
    ),
    "log-normal costs, wide against tight": (
        AMOUNT,
        lambda random, cases: random.lognormal(-0.5, 1, cases),
        lambda random, cases: random.gamma(50, 0.02, cases),
    ),
    "log-normal costs of spread 1.5": (
        AMOUNT,
        lambda random, cases: random.lognormal(-1.125, 1.5, cases),
        lambda random, cases: random.lognormal(-1.125, 1.5, cases),
    ),
    "log-normal costs of spread 1.5 against tokens": (
        AMOUNT,
        lambda random, cases: random.lognormal(-1.125, 1.5, cases),
        lambda random, cases: random.lognormal(-0.125, 0.5, cases),
    ),
    "exponential amounts, wide against tight": (
        AMOUNT,
        lambda random, cases: random.gamma(1, 1, cases),
        lambda random, cases: random.gamma(50, 0.02, cases),
    ),
}
MORE_NUMBERS = ((8, 8), (8, 60), (60, 8), (60, 60), (150, 15))


def unequal_spreads() -> Iterator[Cell]:
    """Amounts and scores with equal means."""
    for name, (first, second) in itertools.product(SPREADS, [*NUMBERS[1:], *MORE_NUMBERS]):
        bounds, draw_first, draw_second = SPREADS[name]

        def draw(
            random: Random,
            bounds: Bounds = bounds,
            draws: tuple[Callable[[Random, int], Floats], ...] = (draw_first, draw_second),
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
    """Means of amounts."""
    for name, cases in itertools.product(SPREADS, (5, 8, 10, 20, 50)):
        bounds, draw_values_of, _ = SPREADS[name]
        truth = {SHARE: 0.25}.get(bounds, 3.0 if name.startswith("rounds") else 1.0)

        def draw(
            random: Random,
            cases: int = cases,
            bounds: Bounds = bounds,
            draw_values_of: Callable[[Random, int], Floats] = draw_values_of,
            truth: float = truth,
        ) -> World:
            values = draw_values_of(random, cases)
            return World(bootstrap_interval(mean_statistic(values, bounds), range(cases)), truth)

        if "wide against tight" in name and name.startswith("log"):
            continue  # the first side is that of another row
        yield Cell("mean score or amount", f"{name.split(',')[0]}, {cases} cases", draw)


def f1_sums(true: Floats, predicted: Floats) -> Sums:
    """F1 of the positive label."""
    return Sums(2 * (true * predicted)[:, None], (true + predicted)[:, None], MIN_HITS)


@dataclass(frozen=True)
class F1Worlds:
    """Worlds of the difference between two sides' F1 on the same cases.

    Attributes:
        cases: how many.
        base: the share of positive cases.
        sides: recall and false positive rate of either side.
    """

    cases: int
    base: float
    sides: tuple[tuple[float, float], tuple[float, float]]

    def draw(self, random: Random, number: int) -> list[World]:
        """The worlds; their resamples are drawn for all at once."""
        true = random.random((number, self.cases)) < self.base
        predicted = [
            random.random(true.shape) < np.where(true, recall, false_rate)
            for recall, false_rate in self.sides
        ]
        (weights,) = ClusterBootstrap(range(self.cases), SEED).weights()
        draws = [self._f1(weights, true, side) for side in predicted]
        truth = expected_f1(self.base, *self.sides[0]) - expected_f1(self.base, *self.sides[1])
        worlds = []
        for world in range(number):
            first, second = (
                f1_sums(as_numbers(true[world]), as_numbers(side[world])) for side in predicted
            )
            interval = self._interval(first, second, draws[0][:, world] - draws[1][:, world])
            worlds.append(World(interval, truth, excludes_0(interval)))
        return worlds

    def _f1(self, weights: Floats, true: Truths, predicted: Truths) -> Floats:
        """F1 of each resample and world, shape (resamples, worlds)."""
        hits = weights @ as_numbers(true & predicted).T
        return ratio(2 * hits, weights @ (as_numbers(true) + as_numbers(predicted)).T)

    def _interval(self, first: Sums, second: Sums, draws: Floats) -> Interval:
        """The interval whose p is that of `compare_paired`."""
        if too_few_hits(first, second, np.arange(self.cases)):
            return float("nan"), float("nan")
        value = first.total() - second.total()
        widened = with_unseen_clusters(draws, first, second, self.cases, DIFFERENCE)
        return estimate_interval(value, widened, self.cases, DIFFERENCE)


def f1_differences() -> Iterator[Cell]:
    """Paired F1 of equal sides, one of which always says positive; and of sides with other recalls
    and false positive rates.
    """
    numbers, bases = (20, 50, 100, 200), (0.05, 0.1, 0.25, 0.4)
    for cases, base, recall in itertools.product(numbers, bases, (0.5, 0.8, 0.9, 0.95, 1.0)):
        f1 = 2 * base / (1 + base)
        false_rate = min(1.0, (2 * base * recall / f1 - base - base * recall) / (1 - base))
        if false_rate < 0:
            continue
        yield Cell(
            "paired difference of F1",
            f"{cases} cases, base rate {base}, always positive against recall {recall}",
            _no_single_world,
            F1Worlds(cases, base, ((1.0, 1.0), (recall, false_rate))).draw,
        )
    sides = ((0.95, 0.02), (0.7, 0.2)), ((0.9, 0.5), (0.3, 0.02))
    for cases, base, first, second in itertools.product(numbers, bases, *sides):
        yield Cell(
            "paired difference of F1",
            f"{cases} cases, base rate {base}, recall and false positive rate {first} and {second}",
            _no_single_world,
            F1Worlds(cases, base, (first, second)).draw,
        )


def expected_f1(base: float, recall: float, false_rate: float) -> float:
    """F1 in the long run."""
    return 2 * base * recall / (base + base * recall + (1 - base) * false_rate)


def f1_values() -> Iterator[Cell]:
    """F1 of one label."""
    for cases, base, skill in itertools.product((20, 50, 200), (0.05, 0.2, 0.5), (0.6, 0.9)):
        truth = 2 * base * skill / (base + base * skill + (1 - base) * (1 - skill))

        def draw(
            random: Random,
            cases: int = cases,
            base: float = base,
            skill: float = skill,
            truth: float = truth,
        ) -> World:
            true = as_numbers(random.random(cases) < base)
            predicted = np.where(random.random(cases) < skill, true, 1 - true)
            statistic = ratio_statistic(2 * true * predicted, true + predicted, SHARE)
            return World(bootstrap_interval(statistic, range(cases)), truth)

        yield Cell("F1 of a label", f"{cases} cases, base rate {base}, skill {skill}", draw)


def agreements() -> Iterator[Cell]:
    """Kappa and alpha of two raters, one of whom may be nearly constant."""
    for items, rare, extra in itertools.product((15, 40, 150), (0.05, 0.2, 0.5), (0.0, 0.4, 0.8)):
        joint = extra * rare * (1 - rare)
        table = np.array([rare**2 + joint, rare * (1 - rare) - joint] * 2)[[0, 1, 3, 2]]
        table[3] = (1 - rare) ** 2 + joint
        table[2] = table[1]
        for name in ("kappa", "alpha"):

            def draw(
                random: Random,
                items: int = items,
                table: Floats = table,
                name: str = name,
                truth: float = extra,
            ) -> World:
                cells = random.choice(4, items, p=table / table.sum())
                first, second = (
                    np.where(np.isin(cells, labels), "a", "b").astype(object)
                    for labels in ((0, 1), (0, 2))
                )
                statistic = (
                    cohens_kappa(first, second)
                    if name == "kappa"
                    else krippendorffs_alpha(np.stack([first, second], axis=1))
                )
                return World(bootstrap_interval(statistic, range(items)), truth)

            yield Cell(
                f"{name} of two raters",
                f"{items} items, rare label {rare}, {name} {extra}",
                draw,
            )


def rankings() -> Iterator[Cell]:
    """The area under the ROC curve of normal scores, and calibration errors."""
    from scipy.special import ndtr

    for cases, base, distance in itertools.product((20, 50, 200), (0.1, 0.5), (0.0, 1.0, 2.0)):

        def draw(
            random: Random, cases: int = cases, base: float = base, distance: float = distance
        ) -> World:
            true = as_numbers(random.random(cases) < base)
            score = random.normal(distance * true, 1)
            interval = bootstrap_interval(auc_statistic(true, score), range(cases))
            return World(interval, float(ndtr(distance / 2**0.5)))

        yield Cell("AUC", f"{cases} cases, base rate {base}, distance {distance}", draw)
    for answers, error in itertools.product((20, 40, 150, 400), (0.0, 0.05, 0.15, 0.3)):

        def draw_error(random: Random, answers: int = answers, error: float = error) -> World:
            confidence = random.choice([0.55, 0.65, 0.75, 0.85, 0.95], answers)
            is_right = as_numbers(random.random(answers) < confidence - error)
            statistic = calibration_error_statistic(confidence, is_right)
            return World(bootstrap_interval(statistic, range(answers)), error)

        yield Cell("calibration error", f"{answers} answers, error {error}", draw_error)


def repeats_within_cases() -> Iterator[Cell]:
    """Values of the debated cases, by debates within them."""
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
    """Means over rows of crossed stories and judges."""
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


COMPONENT_SIZES = {
    "10 cases of 5": [5] * 10,
    "24 cases of 1 or 10": [1, 10] * 12,
    "38 cases of 1 to 20": [1] * 10 + [2] * 10 + [3] * 10 + [4] * 5 + [20] * 3,
    "70 cases of 10 to 50": np.resize([20, 20, 19, 18, 25, 10, 49, 46, 13, 50], 70).tolist(),
}


def components() -> Iterator[Cell]:
    """The share of variance between cases of unequal numbers of answers."""
    for name, rate, share in itertools.product(
        COMPONENT_SIZES, (0.05, 0.15, 0.5), (0.05, 0.3, 0.5)
    ):
        sizes = COMPONENT_SIZES[name]

        def draw(
            random: Random, sizes: list[int] = sizes, rate: float = rate, share: float = share
        ) -> World:
            values = draw_values(random, sizes, rate, share)
            decomposition = decompose(values, {"case": codes_of(sizes)})
            if decomposition is None:
                return World((float("nan"), float("nan")), share)
            part = decomposition.components[0]
            return World((part.low, part.high), share)

        yield Cell("component of variance", f"{name}, rate {rate}, share {share}", draw)


def tournaments() -> Iterator[Cell]:
    """The strength of the best of eight debaters."""
    for topics, judges in itertools.product((10, 15, 20, 30, 60), (1, 3)):
        tournament = Tournament(8, topics, judges, 0.0, 0.0)

        def draw(random: Random, tournament: Tournament = tournament) -> World:
            ratings = tournament.simulate(random)
            estimate = ratings.strengths.get("debater 5") if ratings else None
            if estimate is None:
                return World((float("nan"), float("nan")), 0.0)
            return World((estimate.low, estimate.high), float(tournament.strengths[5]))

        yield Cell("strength of a debater", f"{topics} topics, {judges} judges", draw)


def corrected_shares() -> Iterator[Cell]:
    """Shares that people's labels of a sample correct."""
    for rows, sample_share, rate in itertools.product((100, 400), (0.15, 0.5), (0.05, 0.3, 0.7)):

        def draw(
            random: Random, rows: int = rows, sample_share: float = sample_share, rate: float = rate
        ) -> World:
            people = as_numbers(random.random(rows) < rate)
            labeler = people * (random.random(rows) < 0.7)
            inclusion = np.where(random.random(rows) < sample_share, sample_share, np.nan)
            statistic = corrected_mean(labeler, people, inclusion)
            bootstrap = ClusterBootstrap(range(rows), SEED)
            _, low, high = estimate_share(bootstrap, statistic, labeler != people)
            return World((low, high), rate)

        yield Cell("corrected share", f"{rows} rows, {sample_share} labelled, rate {rate}", draw)


KINDS = (
    shares,
    paired_cases,
    paired_clusters,
    unpaired_cases,
    unpaired_clusters,
    shared_clusters,
    unequal_spreads,
    single_amounts,
    f1_differences,
    f1_values,
    agreements,
    rankings,
    repeats_within_cases,
    crossed_clusters,
    components,
    tournaments,
    corrected_shares,
)


def cells() -> Iterator[Cell]:
    """The whole grid."""
    for kind in KINDS:
        yield from kind()
