"""Test coverage and type I error in some cells of `benchmarks/interval_coverage.py`."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).resolve().parents[2]
WORLDS = 1000
SLACK = 2.6 * (0.06 * 0.94 / WORLDS) ** 0.5
CELLS = (
    "share: 20 cases, 10 debates, correlation 0.3, share 0.9",
    "paired difference: 20 cases, 3 debates, correlation 0.7, shares (0.9, 0.8)",
    "unpaired difference: 20 cases, 10 debates, correlation 0.7, against 200, shares (0.1, 0.1)",
    "mean by crossed clusters: 50 stories of variance 0.2, 12 judges of variance 0.2",
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
