"""Worlds of statistics of labels: F1, agreement and rankings."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from simulated_worlds import (
    SEED,
    Cell,
    Interval,
    Random,
    World,
    bootstrap_interval,
    excludes_0,
    no_single_world,
)

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.arrays import Floats, Truths, as_numbers, ratio
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.bootstrap_interval import estimate_interval
from moot.stats.calibration import auc_statistic, calibration_error_statistic
from moot.stats.differences import MIN_HITS, Sums, too_few_hits, with_unseen_clusters
from moot.stats.statistic import DIFFERENCE, SHARE, ratio_statistic


def f1_sums(true: Floats, predicted: Floats) -> Sums:
    """Return the sums of F1 of the positive label."""
    return Sums(2 * (true * predicted)[:, None], (true + predicted)[:, None], MIN_HITS)


@dataclass(frozen=True)
class F1Worlds:
    """Worlds of the difference between two sides' F1 on the same cases.

    Attributes:
        cases: the number of cases.
        base: the share of positive cases.
        sides: recall and false positive rate of each side.
    """

    cases: int
    base: float
    sides: tuple[tuple[float, float], tuple[float, float]]

    def draw(self, random: Random, number: int) -> list[World]:
        """Return the worlds; the resamples are drawn for all of them together."""
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
        """Return F1 of each resample and world, shape (resamples, worlds)."""
        hits = weights @ as_numbers(true & predicted).T
        return ratio(2 * hits, weights @ (as_numbers(true) + as_numbers(predicted)).T)

    def _interval(self, first: Sums, second: Sums, draws: Floats) -> Interval:
        """Return the interval that belongs to the p of `compare_paired`."""
        if too_few_hits(first, second, np.arange(self.cases)):
            return float("nan"), float("nan")
        value = first.total() - second.total()
        widened = with_unseen_clusters(draws, first, second, self.cases, DIFFERENCE)
        return estimate_interval(value, widened, self.cases, DIFFERENCE)


def f1_differences() -> Iterator[Cell]:
    """Yield cells of paired F1: of equal sides, one of which may always answer positive, and of
    sides with other recalls and false positive rates.
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
            no_single_world,
            F1Worlds(cases, base, ((1.0, 1.0), (recall, false_rate))).draw,
        )
    sides = ((0.95, 0.02), (0.7, 0.2)), ((0.9, 0.5), (0.3, 0.02))
    for cases, base, first, second in itertools.product(numbers, bases, *sides):
        yield Cell(
            "paired difference of F1",
            f"{cases} cases, base rate {base}, recall and false positive rate {first} and {second}",
            no_single_world,
            F1Worlds(cases, base, (first, second)).draw,
        )


def expected_f1(base: float, recall: float, false_rate: float) -> float:
    """Return the expected F1."""
    return 2 * base * recall / (base + base * recall + (1 - base) * false_rate)


def f1_values() -> Iterator[Cell]:
    """Yield cells of F1 of one label."""
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
    """Yield cells of kappa and alpha of two raters, one of whom may be nearly constant."""
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
    """Yield cells of the area under the ROC curve of normal scores, and of calibration errors."""
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
