"""Measure type I error and coverage of every interval and test that a table prints.

The grid consists of null worlds and of worlds with planted effects. `--write` puts the summary and
the failing cells into docs/results.md. A cell fails if the 99 % Monte Carlo bound of its type I
error is above .06, or of its coverage below .93. Worlds without an interval count in neither.
"""

import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from results_page import Part
from simulated_worlds import SEED, Cell
from worlds_of_labels import agreements, f1_differences, f1_values, rankings
from worlds_of_means import (
    paired_cases,
    paired_clusters,
    shared_clusters,
    shares,
    single_amounts,
    unequal_spreads,
    unpaired_cases,
    unpaired_clusters,
)
from worlds_of_repeats import (
    crossed_clusters,
    repeats_within_cases,
)

PART = Part("grid", "coverage_grid.py")
ANALYSES = Path(__file__).resolve().parents[1] / "tests" / "analyses"
WORLDS = 2000
MAX_TYPE_ONE_ERROR, MIN_COVERAGE, BOUND_LEVEL = 0.06, 0.93, 0.99
_ROUNDING = 1e-9
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
)


@dataclass(frozen=True)
class CellResult:
    """How many intervals contained the truth, and how often a true 0 was rejected."""

    covered: int
    rejected: int
    intervals: int
    nulls: int
    worlds: int

    @property
    def coverage(self) -> float:
        """Return the coverage; NaN without an interval."""
        return self.covered / self.intervals if self.intervals else float("nan")

    @property
    def type_one_error(self) -> float:
        """Return the type I error; NaN if 0 is not the truth."""
        return self.rejected / self.nulls if self.nulls else float("nan")

    @property
    def fails(self) -> bool:
        """Return whether a Monte Carlo bound is outside the allowed range."""
        misses = self.intervals - self.covered
        return (
            lower_bound(self.rejected, self.nulls) > MAX_TYPE_ONE_ERROR
            or lower_bound(misses, self.intervals) > 1 - MIN_COVERAGE
        )


def lower_bound(count: int, total: int) -> float:
    """Return the one-sided 99 % bound of a share (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    if not count:
        return 0.0
    return float(betaincinv(count, total - count + 1, 1 - BOUND_LEVEL))


def measure(cell: Cell, worlds: int) -> CellResult:
    """Draw the worlds of a cell."""
    random = np.random.default_rng([SEED, *cell.name.encode()])
    covered = rejected = intervals = nulls = 0
    for world in cell.worlds(random, worlds):
        low, high = world.interval
        if np.isnan([low, high]).any():
            continue
        intervals += 1
        holds_truth = low - _ROUNDING <= world.truth <= high + _ROUNDING
        covered += holds_truth
        if world.rejected is not None and abs(world.truth) < _ROUNDING:
            nulls += 1
            rejected += world.rejected
    return CellResult(covered, rejected, intervals, nulls, worlds)


def percent(value: float) -> str:
    """Return a share in per cent with one decimal; "" if it is undefined."""
    return "" if np.isnan(value) else f"{100 * value:.1f}"


def summary(results: dict[Cell, CellResult]) -> str:
    """Return a table with one row per kind and one per failing cell, in Markdown."""
    lines = [
        "| what | cells | worlds a cell | coverage, least | type I error, at most | cells that fail"
        " |",
        "|---" * 6 + "|",
    ]
    for kind in dict.fromkeys(cell.kind for cell in results):
        rows = [result for cell, result in results.items() if cell.kind == kind]
        coverages = [result.coverage for result in rows if result.intervals]
        coverage = min(coverages, default=float("nan"))
        errors = [result.type_one_error for result in rows if result.nulls]
        type_one_error = percent(max(errors)) if errors else ""
        failing = sum(result.fails for result in rows)
        lines.append(
            f"| {kind} | {len(rows)} | {rows[0].worlds} | {percent(coverage)} | {type_one_error} |"
            f" {failing} |"
        )
    lines += ["", "| cell that fails | coverage | type I error |", "|---|---|---|"]
    for cell, result in results.items():
        if result.fails:
            lines.append(
                f"| {cell.kind}: {cell.name} | {percent(result.coverage)} |"
                f" {percent(result.type_one_error)} |"
            )
    return "\n".join(lines)


def cells() -> Iterator[Cell]:
    """Yield all cells of the grid: first of the shared statistics, then of the analyses."""
    kinds = [*KINDS]
    for path in sorted(ANALYSES.glob("*/worlds_of_*.py")):
        kinds += runpy.run_path(str(path))["KINDS"]
    for kind in kinds:
        yield from kind()


def main() -> None:
    """Measure the cells of the grid and print their summary."""
    parser = PART.parser(__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS, help="of each cell")
    parser.add_argument("--kind", default="", help="only kinds whose name begins so")
    arguments = parser.parse_args()
    results = {}
    for cell in cells():
        if not cell.kind.startswith(arguments.kind):
            continue
        results[cell] = measure(cell, arguments.worlds)
        if results[cell].fails:
            sys.stdout.write(f"fails: {cell.kind}: {cell.name}: {results[cell]}\n")
            sys.stdout.flush()
    PART.show(summary(results), should_write=arguments.write)


if __name__ == "__main__":
    main()
