"""Measure coverage and type I error of every interval and test that a table prints, on one grid.

The grid: 20, 50 and 200 cases; 1, 3, 10 or 1 to 12 debates a case, whose answers correlate; shares
of .1, .5 and .9; sides of equal and of unequal sizes; all answers valid, or, of 1 and 3 debates,
5 % invalid ones left out. A cell outside 93 to 98 % of coverage, or with more than 6 % of true
null hypotheses rejected, is measured anew in more worlds. It fails if the 99 % bound of its
simulation lies outside these. `--write` puts the summary into docs/statistics.md.
"""

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat

import numpy as np
from coverage_worlds import Cell, cells
from results_page import Part

PART = Part("coverage", "interval_coverage.py", "docs/statistics.md")
WORLDS, WORLDS_ANEW = 150, 800
SEED = 44
MIN_COVERAGE, MAX_COVERAGE, MAX_TYPE_ONE_ERROR, BOUND_LEVEL = 0.93, 0.98, 0.06, 0.99
FAULTS = ("too narrow", "too wide", "rejects")
DISCRETE = "discrete: no interval that misses at most 2.5 % on either side covers less"
TRIED = "named methods tried (above): each leaves the limits in other cells, or is as wide"
COARSE = "few values: the misses leap from 2.0 to 3.9 % if the interval is narrower (above)"
REASONS = {"kappa": DISCRETE, "alpha": DISCRETE, "paired difference of F1": COARSE}
"""Why the cells of a kind stay outside the limits; `TRIED` for all others."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CellResult:
    """How many intervals contained the truth, and how often a true 0 was rejected."""

    covered: int
    intervals: int
    rejected: int
    nulls: int

    @property
    def coverage(self) -> float:
        """The coverage; NaN without an interval."""
        return self.covered / self.intervals if self.intervals else float("nan")

    @property
    def type_one_error(self) -> float:
        """The type I error; NaN if 0 is not the truth."""
        return self.rejected / self.nulls if self.nulls else float("nan")

    @property
    def faults(self) -> list[str]:
        """Which of `FAULTS` it has, beyond the error of the simulation."""
        misses = self.intervals - self.covered
        excesses = (
            lower_bound(misses, self.intervals) - (1 - MIN_COVERAGE),
            lower_bound(self.covered, self.intervals) - MAX_COVERAGE,
            lower_bound(self.rejected, self.nulls) - MAX_TYPE_ONE_ERROR,
        )
        return [fault for fault, excess in zip(FAULTS, excesses, strict=True) if excess > 0]


def lower_bound(count: int, total: int) -> float:
    """Return the one-sided 99 % bound of a share (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    return float(betaincinv(count, total - count + 1, 1 - BOUND_LEVEL)) if count else 0.0


def measure_twice(cell: Cell, worlds: int) -> CellResult:
    """Measure a cell, and anew in other and more worlds if it seems to fail."""
    result = measure(cell, worlds)
    seems_to_fail = (
        not MIN_COVERAGE <= result.coverage <= MAX_COVERAGE
        or result.type_one_error > MAX_TYPE_ONE_ERROR
    )
    return measure(cell, max(worlds, WORLDS_ANEW), SEED + 1) if seems_to_fail else result


def measure(cell: Cell, worlds: int, seed: int = SEED) -> CellResult:
    """Draw the worlds of a cell. Worlds without an interval do not count."""
    random = np.random.default_rng([seed, *cell.name.encode()])
    covered = intervals = rejected = nulls = 0
    for _ in range(worlds):
        world = cell.draw(random)
        low, high = world.interval
        if np.isnan([low, high]).any():
            continue
        intervals += 1
        covered += bool(low - _ROUNDING <= world.truth <= high + _ROUNDING)
        if world.is_rejected is not None and abs(world.truth) < _ROUNDING:
            nulls += 1
            rejected += world.is_rejected
    return CellResult(covered, intervals, rejected, nulls)


@cache
def grid() -> list[Cell]:
    """Return all cells; those of one number are the same in each process."""
    return list(cells())


def measure_numbered(number: int, worlds: int) -> CellResult:
    """Measure a cell of the grid, by its number, since its function cannot be sent."""
    return measure_twice(grid()[number], worlds)


def percent(value: float) -> str:
    """Return a share in per cent with one decimal; "" if it is undefined."""
    return "" if np.isnan(value) else f"{100 * value:.1f}"


def summary(results: dict[Cell, CellResult]) -> str:
    """Return a table with one row per kind, in Markdown, and one of the cells that fail."""
    lines = [
        f"| what | cells | coverage | type I error, at most | {' | '.join(FAULTS)} |",
        "|---" * 7 + "|",
    ]
    failing: dict[tuple[str, str], list[str]] = {}
    for kind in dict.fromkeys(cell.kind for cell in results):
        rows = [result for cell, result in results.items() if cell.kind == kind]
        coverages = [row.coverage for row in rows if row.intervals] or [float("nan")]
        errors = [row.type_one_error for row in rows if row.nulls] or [float("nan")]
        for cell, result in results.items():
            for fault in result.faults if cell.kind == kind else ():
                failing.setdefault((kind, fault), []).append(cell.name)
        numbers = [str(len(failing.get((kind, fault), ()))) for fault in FAULTS]
        lines.append(
            f"| {kind} | {len(rows)} | {percent(min(coverages))} to {percent(max(coverages))} |"
            f" {percent(max(errors))} | {' | '.join(numbers)} |"
        )
    lines += ["", "| outside the limits | | cells, by their beginning | why |", "|---" * 4 + "|"]
    for (kind, fault), names in failing.items():
        counts = Counter(", ".join(name.split(", ")[:2]) for name in names)
        parts = [f"{name} ({count})" for name, count in counts.items()]
        reason = REASONS.get(kind, TRIED)
        lines.append(f"| {kind} | {fault} | {'; '.join(parts)} | {reason} |")
    return "\n".join(lines)


def verdict(results: dict[Cell, CellResult], worlds: int) -> str:
    """Return a sentence with the numbers of all cells and of those that fail."""
    counts = Counter(chain.from_iterable(result.faults for result in results.values()))
    narrow, wide, rejecting = map(counts.__getitem__, FAULTS)
    return (
        f"Of {len(results):,} cells, {narrow} are too narrow, {wide} too wide, and {rejecting}"
        f" reject too often. Each has {worlds} worlds; those that seemed to lie outside the limits"
        f" were measured anew in {WORLDS_ANEW}."
    )


def main() -> None:
    """Measure the cells of the grid and print their summary."""
    parser = PART.parser(__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS, help="of each cell")
    parser.add_argument("--kind", default="", help="only kinds whose name begins so")
    parser.add_argument("--processes", type=int, help="default: one a core")
    arguments = parser.parse_args()
    numbers = [number for number, cell in enumerate(grid()) if cell.kind.startswith(arguments.kind)]
    results = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        measured = pool.map(measure_numbered, numbers, repeat(arguments.worlds))
        for number, result in zip(numbers, measured, strict=True):
            cell = grid()[number]
            results[cell] = result
            if faults := ", ".join(result.faults):
                sys.stdout.write(f"{faults}: {cell.kind}: {cell.name}: {result}\n")
                sys.stdout.flush()
    PART.show(
        f"{verdict(results, arguments.worlds)}\n\n{summary(results)}", should_write=arguments.write
    )


if __name__ == "__main__":
    main()
