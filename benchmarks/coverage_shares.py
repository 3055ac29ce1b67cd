"""Measure how often the 95 % intervals of a share contain the true share, by simulation.

`--write` puts the table into docs/results.md.
"""

import itertools

import numpy as np
from results_page import Part, run_simulation

from moot.stats.arrays import Floats
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.bootstrap_interval import estimate_interval
from moot.stats.statistic import SHARE

PART = Part("coverage", "coverage_shares.py")

CLUSTERS = (5, 10, 30, 200)
RATES = (0.1, 0.5, 0.9)
SINGLE = "one case each"
CORRELATIONS = (SINGLE, 0.0, 0.3, 0.7)
SIZES = (4, 8, 8, 12)  # cases per cluster, in turn
REPETITIONS = 2000
SEED = 7
_ROUNDING = 1e-9

Cell = tuple[int, float, "float | str"]


def samples(cell: Cell, repetitions: int) -> tuple[Floats, Floats]:
    """Return the cases of each cluster, shape (clusters,), and the right answers among them, shape
    (repetitions, clusters).

    The share of right answers of a cluster comes from a beta distribution, whose mean is the base
    rate and which gives two cases of one cluster the requested correlation.
    """
    clusters, rate, correlation = cell
    single = correlation == SINGLE
    sizes = np.ones(clusters, dtype=int) if single else np.resize(SIZES, clusters)
    generator = np.random.default_rng(
        [SEED, *(round(10 * float(part)) for part in cell if part != SINGLE)]
    )
    shares = np.full((repetitions, clusters), rate)
    if not single and correlation:
        scale = (1 - float(correlation)) / float(correlation)
        shares = generator.beta(rate * scale, (1 - rate) * scale, size=shares.shape)
    return sizes.astype(np.float64), generator.binomial(sizes, shares).astype(np.float64)


def coverage(cell: Cell, repetitions: int = REPETITIONS) -> tuple[float, float]:
    """Return the share of intervals with the base rate, for moot's interval and for the percentile
    bootstrap.
    """
    clusters, rate, _ = cell
    sizes, correct_counts = samples(cell, repetitions)
    (weights,) = ClusterBootstrap(range(clusters), SEED).weights()
    draws = np.ascontiguousarray(((weights @ correct_counts.T) / (weights @ sizes)[:, None]).T)
    values = correct_counts.sum(axis=1) / sizes.sum()
    codes = np.repeat(np.arange(clusters), sizes.astype(int))
    effective_clusters = ClusterBootstrap(codes, SEED).clusters_among(None)
    ours = np.array(
        [
            estimate_interval(value, row, effective_clusters, SHARE)
            for value, row in zip(values, draws, strict=True)
        ]
    )
    plain = np.quantile(draws, [0.025, 0.975], axis=1).T
    covers = [
        (ends[:, 0] - _ROUNDING <= rate) & (rate <= ends[:, 1] + _ROUNDING)
        for ends in (ours, plain)
    ]
    return float(covers[0].mean()), float(covers[1].mean())


def coverages(repetitions: int = REPETITIONS) -> dict[Cell, tuple[float, float]]:
    """Return the coverages of every combination of clusters, base rate and correlation."""
    cells: list[Cell] = list(itertools.product(CLUSTERS, RATES, CORRELATIONS))
    return {cell: coverage(cell, repetitions) for cell in cells}


def table(results: dict[Cell, tuple[float, float]]) -> str:
    """Return a Markdown table of coverages, with the percentile bootstrap's in brackets."""
    headings = [SINGLE, *(f"correlation {value}" for value in CORRELATIONS[1:])]
    lines = [f"| clusters | share | {' | '.join(headings)} |", "|---" * (2 + len(headings)) + "|"]
    for clusters, rate in itertools.product(CLUSTERS, RATES):
        cells = [results[clusters, rate, correlation] for correlation in CORRELATIONS]
        row_text = " | ".join(f"{100 * ours:.1f} ({100 * plain:.1f})" for ours, plain in cells)
        lines.append(f"| {clusters} | {rate} | {row_text} |")
    return "\n".join(lines)


def tabulate(repetitions: int) -> str:
    """Measure all coverages and return their table."""
    return table(coverages(repetitions))


if __name__ == "__main__":
    run_simulation(PART, __doc__, tabulate, REPETITIONS, "--repetitions")
