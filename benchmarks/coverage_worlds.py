"""The grid of `interval_coverage.py`: for each cell, how a world and its interval are drawn."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.calibration import auc_statistic
from moot.stats.differences import (
    Difference,
    Sums,
    compare_paired,
    compare_unpaired,
    compare_with_threshold,
)
from moot.stats.intervals import lognormal_interval, p_value
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import (
    AMOUNT,
    DIFFERENCE,
    F1_ODDS,
    SHARE,
    Statistic,
    mean_statistic,
    share_statistic,
)
from moot.stats.within_cases import method_within

CASES, RATES, INVALID = (20, 50, 200), (0.1, 0.5, 0.9), (0.0, 0.05)
DEBATES = {"1": (1,), "3": (3,), "10": (10,), "1 to 12": (1, 3, 5, 12)}
CORRELATIONS = (0.0, 0.3, 0.7)
Random = np.random.Generator


LEVELS = 5000


@cache
def beta_quantiles(rate: float, correlation: float) -> Floats:
    """Return the quantiles of the rates of cases at equal distances, since each takes long."""
    from scipy.special import betaincinv

    scale = 1 / correlation - 1
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    return as_numbers(betaincinv(rate * scale, (1 - rate) * scale, levels))


@dataclass(frozen=True)
class World:
    """The interval of one world, the truth, and whether a test rejected 0."""

    interval: tuple[float, float]
    truth: float
    is_rejected: bool | None = None


@dataclass(frozen=True)
class Cell:
    """A kind of statistic, the name of a combination, and a function that draws one world."""

    kind: str
    name: str
    draw: Callable[[Random], World]


@dataclass(frozen=True)
class Debates:
    """Debates about cases: how many there are about each, and how they correlate."""

    cases: int
    per_case: tuple[int, ...]
    correlation: float = 0.0
    invalid: float = 0.0

    @property
    def sizes(self) -> list[int]:
        """The number of debates of each case."""
        return np.resize(self.per_case, self.cases).tolist()

    @cached_property
    def codes(self) -> Floats:
        """The case of each debate."""
        return np.repeat(np.arange(self.cases), self.sizes)

    def draw(self, random: Random, rates: Sequence[float]) -> list[Floats]:
        """Draw the right debates of each side; difficult cases are difficult for all sides."""
        from scipy.special import ndtr

        drawn, common = [], random.normal(size=self.cases)
        for rate in rates:
            rate_by_case = np.full(self.cases, rate)
            if self.correlation:
                level = ndtr((common + random.normal(size=self.cases)) / 2**0.5)
                places = (level * LEVELS).astype(int)
                rate_by_case = beta_quantiles(rate, self.correlation)[places]
            drawn.append(as_numbers(random.random(len(self.codes)) < rate_by_case[self.codes]))
        return drawn

    def is_valid(self, random: Random) -> Floats:
        """Draw which debates have a valid answer."""
        return random.random(len(self.codes)) >= self.invalid

    def case_means(self, correct: Floats, is_valid: Floats) -> tuple[Floats, Floats]:
        """Return the cases with valid debates, and their shares of right ones."""
        numbers = np.bincount(self.codes[is_valid], minlength=self.cases)
        sums = np.bincount(self.codes[is_valid], correct[is_valid], minlength=self.cases)
        cases = np.flatnonzero(numbers)
        return cases, sums[cases] / numbers[cases]

    def __str__(self) -> str:
        name = next(name for name, sizes in DEBATES.items() if sizes == self.per_case)
        text = f"{self.cases} cases, {name} debates, correlation {self.correlation}"
        return text + (f", {self.invalid:.0%} invalid" if self.invalid else "")


def designs() -> Iterator[Debates]:
    """Yield all combinations of cases, debates, correlations and invalid answers."""
    for cases, sizes, correlation, invalid in itertools.product(
        CASES, DEBATES.values(), CORRELATIONS, INVALID
    ):
        is_long = len(sizes) > 1 or sizes[0] > 3
        if (sizes != (1,) or not correlation) and not (invalid and is_long):
            yield Debates(cases, sizes, correlation, invalid)


def means(values: Floats) -> Sums:
    """Return the sums of means over cases."""
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def interval_of(statistic: Statistic, clusters: Sequence[object]) -> tuple[float, float]:
    """Return the interval of a statistic."""
    return ClusterJackknife(clusters).interval(statistic)


def world_of(difference: Difference, truth: float) -> World:
    """Return the world of a difference."""
    return World((difference.low, difference.high), truth, difference.p < 0.05)


def shares() -> Iterator[Cell]:
    """Yield cells of a share of right debates."""
    for design, rate in itertools.product(designs(), RATES):

        def draw(random: Random, design: Debates = design, rate: float = rate) -> World:
            is_valid, (correct,) = design.is_valid(random), design.draw(random, [rate])
            statistic = share_statistic(correct[is_valid])
            return World(interval_of(statistic, design.codes[is_valid]), rate)

        yield Cell("share", f"{design}, share {rate}", draw)


def thresholds() -> Iterator[Cell]:
    """Yield cells of a share, by cases, less a threshold that is true."""
    for design, rate in itertools.product(designs(), RATES):

        def draw(random: Random, design: Debates = design, rate: float = rate) -> World:
            is_valid, (correct,) = design.is_valid(random), design.draw(random, [rate])
            cases, values = design.case_means(correct, is_valid)
            clusters = cases.tolist()
            return world_of(compare_with_threshold(means(values), rate, clusters, SHARE), 0.0)

        yield Cell("share less a threshold", f"{design}, share {rate}", draw)


def paired_differences() -> Iterator[Cell]:
    """Yield cells of differences on the same cases."""
    pairs = [*((rate, rate) for rate in RATES), (0.9, 0.8), (0.5, 0.3)]
    for design, rates in itertools.product(designs(), pairs):

        def draw(
            random: Random, design: Debates = design, rates: tuple[float, float] = rates
        ) -> World:
            is_valid, sides = design.is_valid(random), design.draw(random, rates)
            cases, first = design.case_means(sides[0], is_valid)
            _, second = design.case_means(sides[1], is_valid)
            difference = compare_paired(means(first), means(second), cases.tolist(), DIFFERENCE)
            return world_of(difference, rates[0] - rates[1])

        yield Cell("paired difference", f"{design}, shares {rates}", draw)


def unpaired_differences() -> Iterator[Cell]:
    """Yield cells of differences between different cases, with groups of equal and other sizes."""
    pairs = [*((rate, rate) for rate in RATES), (0.9, 0.6), (0.1, 0.3)]
    for design, others, rates in itertools.product(designs(), CASES, pairs):
        if others < design.cases:
            continue

        def draw(
            random: Random,
            design: Debates = design,
            others: int = others,
            rates: tuple[float, float] = rates,
        ) -> World:
            second_design = Debates(others, design.per_case, design.correlation, design.invalid)
            sums, clusters = [], []
            for number, (side, rate) in enumerate(zip((design, second_design), rates, strict=True)):
                is_valid, (correct,) = side.is_valid(random), side.draw(random, [rate])
                cases, values = side.case_means(correct, is_valid)
                sums.append(means(values))
                clusters.append((cases + 1000 * number).tolist())
            difference = compare_unpaired(sums[0], sums[1], clusters[0], clusters[1], SHARE)
            return world_of(difference, rates[0] - rates[1])

        yield Cell("unpaired difference", f"{design}, against {others}, shares {rates}", draw)


def f1_sums(true: Floats, predicted: Floats) -> Sums:
    """Return the sums of F1 of the positive label."""
    tops, bottoms = 2 * (true * predicted)[:, None], (true + predicted)[:, None]
    return Sums(tops, bottoms, needs_hits=True, odds=F1_ODDS)


def draw_answers(random: Random, true: Floats, recall: float, false_rate: float) -> Floats:
    """Draw which cases a side calls positive."""
    return as_numbers(random.random(len(true)) < np.where(true, recall, false_rate))


def f1_of(base: float, recall: float, false_rate: float) -> float:
    """Return the F1 in the long run."""
    return 2 * base * recall / (base + base * recall + (1 - base) * false_rate)


def f1_values() -> Iterator[Cell]:
    """Yield cells of F1 of one label, and of paired differences of F1."""
    sides = ((0.9, 0.1), (0.9, 0.1)), ((0.6, 0.3), (0.6, 0.3)), ((0.9, 0.1), (0.6, 0.1))
    for cases, base, (first, second) in itertools.product(CASES, RATES, sides):

        def draw(
            random: Random,
            cases: int = cases,
            base: float = base,
            side: tuple[float, float] = first,
        ) -> World:
            true = as_numbers(random.random(cases) < base)
            predicted = draw_answers(random, true, *side)
            statistic = f1_sums(true, predicted).statistic(SHARE)
            return World(interval_of(statistic, range(cases)), f1_of(base, *side))

        def draw_difference(
            random: Random,
            cases: int = cases,
            base: float = base,
            sides: tuple[tuple[float, float], tuple[float, float]] = (first, second),
        ) -> World:
            true = as_numbers(random.random(cases) < base)
            sums = [f1_sums(true, draw_answers(random, true, *side)) for side in sides]
            difference = compare_paired(sums[0], sums[1], range(cases), DIFFERENCE)
            return world_of(difference, f1_of(base, *sides[0]) - f1_of(base, *sides[1]))

        name = f"{cases} cases, base rate {base}, recall and false positives {first}"
        if first != second or first == (0.6, 0.3):
            yield Cell("F1", name, draw)
        yield Cell("paired difference of F1", f"{name} and {second}", draw_difference)


def agreements() -> Iterator[Cell]:
    """Yield cells of kappa and alpha of two raters."""
    measures: dict[str, Callable[[list[Floats]], Statistic]] = {
        "kappa": lambda raters: cohens_kappa(*raters),
        "alpha": lambda raters: krippendorffs_alpha(np.stack(raters, axis=1)),
    }
    for cases, rate, truth, measure_name in itertools.product(
        CASES, (0.1, 0.3, 0.5), (0.0, 0.4, 0.8), measures
    ):

        def draw(
            random: Random,
            cases: int = cases,
            rate: float = rate,
            truth: float = truth,
            statistic_of: Callable[[list[Floats]], Statistic] = measures[measure_name],
        ) -> World:
            agree = random.random(cases) < truth
            first = random.random(cases) < rate
            second = np.where(agree, first, random.random(cases) < rate)
            raters = [np.where(labels, "a", "b").astype(object) for labels in (first, second)]
            return World(interval_of(statistic_of(raters), range(cases)), truth)

        yield Cell(measure_name, f"{cases} items, rare label {rate}, {measure_name} {truth}", draw)


def rankings() -> Iterator[Cell]:
    """Yield cells of the area under the ROC curve of normal scores."""
    from scipy.special import ndtr

    for cases, base, distance in itertools.product(CASES, RATES, (0.0, 1.0, 2.0)):

        def draw(
            random: Random, cases: int = cases, base: float = base, distance: float = distance
        ) -> World:
            true = as_numbers(random.random(cases) < base)
            score = random.normal(distance * true, 1)
            area = interval_of(auc_statistic(true, score), range(cases))
            return World(area, float(ndtr(distance / 2**0.5)))

        yield Cell("AUC", f"{cases} cases, base rate {base}, distance {distance}", draw)


AMOUNTS: dict[str, Callable[[Random, int], Floats]] = {
    "Brier scores": lambda random, cases: random.beta(0.5, 1.5, cases),
    "rounds": lambda random, cases: random.geometric(0.5, cases) / 2,
    "tokens (log-normal, .5)": lambda random, cases: random.lognormal(-0.125, 0.5, cases),
    "costs (log-normal, 1)": lambda random, cases: random.lognormal(-0.5, 1, cases),
}


def amounts() -> Iterator[Cell]:
    """Yield cells of mean scores and amounts, and of differences between two sides of them."""
    for name, cases in itertools.product(AMOUNTS, CASES):

        def draw(random: Random, cases: int = cases, name: str = name) -> World:
            values = AMOUNTS[name](random, cases)
            if name.startswith("costs"):
                return World(lognormal_interval(values, np.ones(cases)), 1.0)
            bounds, truth = (SHARE, 0.25) if name.startswith("Brier") else (AMOUNT, 1.0)
            return World(interval_of(mean_statistic(values, bounds), range(cases)), truth)

        yield Cell("mean score or amount", f"{name}, {cases} cases", draw)


def differences_of_amounts() -> Iterator[Cell]:
    """Yield cells of differences of mean scores and amounts between two sides."""
    names = [name for name in AMOUNTS if not name.startswith("costs")]
    pairs = itertools.combinations_with_replacement(CASES, 2)
    for name, sizes in itertools.product(names, pairs):

        def draw(random: Random, sizes: tuple[int, int] = sizes, name: str = name) -> World:
            first, second = (means(AMOUNTS[name](random, size)) for size in sizes)
            clusters = range(sizes[0]), range(sizes[0], sum(sizes))
            bounds = SHARE if name.startswith("Brier") else AMOUNT
            return world_of(compare_unpaired(first, second, *clusters, bounds), 0.0)

        yield Cell(
            "difference of scores or amounts", f"{name}, {sizes[0]} against {sizes[1]}", draw
        )


def repeats_within_cases() -> Iterator[Cell]:
    """Yield cells of values of the debated cases, by debates within them."""
    designs_within = ([3] * 5, [10] * 5, [20] * 5, [10] * 9, [2, 2, 2, 30, 30, 30])
    for sizes, (low, high) in itertools.product(designs_within, ((0.2, 0.8), (0.02, 0.3))):
        strata = np.repeat(np.arange(len(sizes)), sizes)
        row_shares = np.repeat(1 / (np.array(sizes) * len(sizes)), sizes)
        rates = np.linspace(low, high, len(sizes))

        def draw(
            random: Random,
            strata: Floats = strata,
            row_shares: Floats = row_shares,
            rates: Floats = rates,
        ) -> World:
            values = as_numbers(random.random(len(strata)) < rates[strata]) * row_shares
            method = method_within(
                lambda w: ratio(w @ values, w @ row_shares), strata.tolist(), SHARE, rates.mean()
            )
            return World(method.interval(), 0.0, p_value(method) < 0.05)

        def draw_difference(
            random: Random,
            strata: Floats = strata,
            row_shares: Floats = row_shares,
            rates: Floats = rates,
        ) -> World:
            rows = len(strata)
            values = as_numbers(random.random((2, rows)) < rates[strata]) * row_shares

            def difference(weights: Floats) -> Floats:
                first, second = weights[:, :rows], weights[:, rows:]
                return ratio(first @ values[0], first @ row_shares) - ratio(
                    second @ values[1], second @ row_shares
                )

            sides = np.concatenate([strata, strata + rows]).tolist()
            method = method_within(difference, sides, DIFFERENCE)
            return World(method.interval(), 0.0, p_value(method) < 0.05)

        name = f"repeats {sizes}, rates {low} to {high}"
        yield Cell("share less a threshold within cases", name, draw)
        yield Cell("difference within cases", name, draw_difference)


def crossed_clusters() -> Iterator[Cell]:
    """Yield cells of means over rows of crossed stories and judges, of amounts and of shares."""
    from scipy.special import ndtri

    rates = {"amounts": float("nan"), "shares of .5": 0.5, "shares of .9": 0.9}
    for numbers, story, judge, name in itertools.product(
        ((50, 12), (20, 20), (60, 60)), (0.0, 0.2), (0.0, 0.2), rates
    ):

        def draw(
            random: Random,
            numbers: tuple[int, int] = numbers,
            variances: tuple[float, float] = (story, judge),
            rate: float = rates[name],
        ) -> World:
            rows = 3 * max(numbers)
            levels = [random.integers(0, number, rows) for number in numbers]
            values = random.normal(0, (1 - sum(variances)) ** 0.5, rows)
            for level, number, variance in zip(levels, numbers, variances, strict=True):
                values = values + random.normal(0, variance**0.5, number)[level]
            clusters = list(zip(*levels, strict=True))
            if rate > 0:
                return World(interval_of(share_statistic(values < ndtri(rate)), clusters), rate)
            low, high = interval_of(mean_statistic(values), clusters)
            return World((low, high), 0.0, not low <= 0 <= high)

        yield Cell(
            "mean by crossed clusters",
            f"{numbers[0]} stories of variance {story}, {numbers[1]} judges of variance {judge},"
            f" {name}",
            draw,
        )


KINDS = (
    shares,
    thresholds,
    paired_differences,
    unpaired_differences,
    f1_values,
    agreements,
    rankings,
    amounts,
    differences_of_amounts,
    repeats_within_cases,
    crossed_clusters,
)


def cells() -> Iterator[Cell]:
    """Yield all cells of the grid."""
    for kind in KINDS:
        yield from kind()
