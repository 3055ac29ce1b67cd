"""Test coverage and type I error in some cells of `benchmarks/interval_coverage.py`."""

import importlib
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import multinomial

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic

PROJECT = Path(__file__).resolve().parents[2]
WORLDS = 1000
SLACK = 2.6 * (0.06 * 0.94 / WORLDS) ** 0.5
CELLS = (
    "share: 20 cases, 10 debates, correlation 0.3, share 0.9",
    "paired difference: 20 cases, 3 debates, correlation 0.7, shares (0.9, 0.8)",
    "unpaired difference: 20 cases, 10 debates, correlation 0.7, against 200, shares (0.1, 0.1)",
    "mean by crossed clusters: 50 stories of variance 0.2, 12 judges of variance 0.2, amounts",
    "AUC: 50 cases, base rate 0.1, distance 1.0",
    "mean score or amount: costs (log-normal, 1), 20 cases",
)


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        return importlib.import_module("interval_coverage")


@pytest.mark.slow  # only this test detects intervals that are too narrow
@pytest.mark.parametrize("name", CELLS)
def test_intervals_cover_and_tests_keep_their_level(coverage: ModuleType, name: str) -> None:
    [cell] = [cell for cell in coverage.cells() if f"{cell.kind}: {cell.name}" == name]
    result = coverage.measure(cell, WORLDS)
    assert result.coverage >= coverage.MIN_COVERAGE - SLACK
    assert not result.type_one_error > coverage.MAX_TYPE_ONE_ERROR + SLACK


ITEMS, RARE, TRUTH = 20, 0.1, 0.4


def kappa_of(labels: np.ndarray) -> Statistic:
    return cohens_kappa(*labels.T)


def tables_of_two_raters(rare: float, truth: float) -> Iterator[tuple[np.ndarray, float]]:
    """Yield the labels of each table of two raters with its probability, if it is not tiny."""
    both, one = truth * rare + (1 - truth) * rare**2, (1 - truth) * rare * (1 - rare)
    table = multinomial(ITEMS, [both, one, one, 1 - both - 2 * one])
    for counts in product(range(ITEMS + 1), repeat=3):
        cells = [*counts, ITEMS - sum(counts)]
        if cells[3] >= 0 and (probability := table.pmf(cells)) > 1e-6:
            labels = np.array([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")], dtype=object)
            yield np.repeat(labels, cells, axis=0), float(probability)


@pytest.mark.parametrize(
    ("coefficient", "expected"), [(kappa_of, 0.989), (krippendorffs_alpha, 0.992)]
)
def test_agreement_by_chance_has_the_coverage_on_the_page(
    coefficient: Callable[[np.ndarray], Statistic], expected: float
) -> None:
    """All tables of 20 items with a label of 30 %."""
    total = covered = 0.0
    for labels, probability in tables_of_two_raters(0.3, 0.0):
        _, low, high = ClusterJackknife(range(ITEMS)).estimate(coefficient(labels))
        total += probability * (not np.isnan(low))
        covered += probability * (low <= 0 <= high)
    assert covered / total == pytest.approx(expected, abs=5e-4)
