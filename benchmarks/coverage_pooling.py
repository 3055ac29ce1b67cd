"""How often intervals of partially pooled shares hold planted ones, by simulation;
`--write`: into docs/results.md.
"""

import argparse
import sys
from dataclasses import dataclass

import numpy as np
import results_page

from moot.stats.components import decompose
from moot.stats.pooling import partially_pooled

BEGIN, END = (
    "<!-- pooling: python benchmarks/coverage_pooling.py --write -->",
    "<!-- end of pooling -->",
)
WORLDS = 500
SEED = 11


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases whose true shares have a beta distribution, and how often each is answered."""

    cases: int
    answers: int
    yes: float
    no: float


DESIGNS = {
    "5 cases, 3 answers each, shares evenly from 0 to 1": Cases(5, 3, 1, 1),
    "5 cases, 10 answers each, shares evenly from 0 to 1": Cases(5, 10, 1, 1),
    "5 cases, 3 answers each, most shares near 0 or 1": Cases(5, 3, 0.3, 0.3),
    "12 cases, 3 answers each, shares around 1/2": Cases(12, 3, 2, 2),
    "12 cases, 5 answers each, shares around 2/3": Cases(12, 5, 8, 4),
    "12 cases, 5 answers each, many shares near 0 or 1": Cases(12, 5, 0.5, 0.5),
    "40 cases, 3 answers each, shares evenly from 0 to 1": Cases(40, 3, 1, 1),
}


@dataclass(frozen=True, slots=True)
class Found:
    """The share of intervals that hold the planted share, and the mean squared errors of raw and
    pooled shares.
    """

    covered: float
    raw: float
    pooled: float


def measure(design: Cases, worlds: int = WORLDS) -> Found:
    """Coverage and errors over all worlds in which any two answers of a case differ."""
    random = np.random.default_rng([SEED, design.cases, design.answers])
    covered, raw, pooled = [], [], []
    for _ in range(worlds):
        planted = random.beta(design.yes, design.no, design.cases)
        said = (
            (random.random((design.cases, design.answers)) < planted[:, None]).ravel().astype(float)
        )
        facets = {"case": np.repeat(np.arange(design.cases), design.answers).tolist()}
        found = decompose(said, facets, intervals=False)
        for share, one in zip(
            planted, partially_pooled(said, facets, "case", found) if found else (), strict=False
        ):
            covered.append(one.low <= share <= one.high)
            raw.append((one.raw - share) ** 2)
            pooled.append((one.value - share) ** 2)
    return Found(*(float(np.mean(values)) for values in (covered, raw, pooled)))


def table(worlds: int) -> str:
    """Coverage and errors of each design in Markdown."""
    lines = [
        "| design | coverage | error of the raw share | of the pooled share |",
        "|---" * 4 + "|",
    ]
    for name, design in DESIGNS.items():
        found = measure(design, worlds)
        lines.append(
            f"| {name} | {100 * found.covered:.1f} | {found.raw**0.5:.3f} |"
            f" {found.pooled**0.5:.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table, or put it into the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    parser.add_argument("--worlds", type=int, default=WORLDS)
    arguments = parser.parse_args()
    written = table(arguments.worlds)
    if arguments.write:
        results_page.put(BEGIN, END, written)
    sys.stdout.write(f"{written}\n")


if __name__ == "__main__":
    main()
