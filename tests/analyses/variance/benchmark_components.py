"""How often intervals of components of variance hold planted ones, by simulation;
`--write`: into scripts/moot/analyses/variance/README.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from results_page import Part, run_simulation

from moot.analyses.variance.components import Effect, decompose
from moot.stats.arrays import Floats

SMOKE = ["--worlds", "2"]
PART = Part("components", "benchmark_components.py", "scripts/moot/analyses/variance/README.md")
WORLDS = 500
SEED = 5
CASE, RUN, JUDGE, CASE_AND_JUDGE = (
    frozenset(facets) for facets in (("case",), ("run",), ("judge",), ("case", "judge"))
)  # of a run its case is known
ASKING_AGAIN: Effect = frozenset()
Facets = Mapping[str, list[int]]


@dataclass(frozen=True, slots=True)
class Design:
    """Planted variances and the answers of a world.

    Attributes:
        sizes: cases, runs of each, judges of each run, and how often each is asked.
        variances: of cases, runs, judges, case and judge together.
        residual_variance: of asking again; None for answers that are right or wrong, whose effects
            are on the scale of probabilities around one half.
        missing: the share of answers that are missing by chance.
    """

    sizes: tuple[int, int, int, int]
    variances: tuple[float, float, float, float]
    residual_variance: float | None = None
    missing: float = 0.0

    @property
    def shares(self) -> dict[Effect, float]:
        """The planted shares of variance."""
        parts = dict(zip((CASE, RUN, JUDGE, CASE_AND_JUDGE), self.variances, strict=True))
        parts[ASKING_AGAIN] = (
            0.25 - sum(self.variances) if self.residual_variance is None else self.residual_variance
        )
        return {effect: variance / sum(parts.values()) for effect, variance in parts.items()}

    def world(self, random: np.random.Generator) -> tuple[Floats, Facets]:
        """Answers, with their case, run and judge."""
        case, run, judge, _ = (part.ravel() for part in np.indices(self.sizes))
        run, case_and_judge = case * self.sizes[1] + run, case * self.sizes[2] + judge
        means = np.full(len(case), 0.5)
        for level, variance in zip((case, run, judge, case_and_judge), self.variances, strict=True):
            means += self._effects(random, int(level.max()) + 1, variance)[level]
        is_binary = self.residual_variance is None
        values = (
            random.random(len(means)) < means
            if is_binary
            else means + random.normal(0, self.residual_variance**0.5, len(means))
        )
        is_present = random.random(len(means)) >= self.missing
        facets = {
            "case": case[is_present].tolist(),
            "run": run[is_present].tolist(),
            "judge": judge[is_present].tolist(),
        }
        return np.asarray(values[is_present], dtype=np.float64), facets

    def _effects(self, random: np.random.Generator, levels: int, variance: float) -> Floats:
        if self.residual_variance is not None:
            return random.normal(0, variance**0.5, levels)
        return (
            random.uniform(-1, 1, levels) * (3 * variance) ** 0.5
        )  # so that no probability leaves 0 to 1


DESIGNS = {
    "right or wrong; 10 cases, 3 debates each, 4 answers": Design(
        (10, 3, 1, 4), (0.04, 0.006, 0, 0)
    ),
    "right or wrong; 20 cases, 3 debates each, 4 answers, 30 % missing": Design(
        (20, 3, 1, 4), (0.04, 0.006, 0, 0), missing=0.3
    ),
    "right or wrong; 50 cases, 2 debates each, 2 answers": Design(
        (50, 2, 1, 2), (0.04, 0.006, 0, 0)
    ),
    "right or wrong; 20 cases, 10 judges, asked twice": Design(
        (20, 1, 10, 2), (0.02, 0, 0.002, 0.004)
    ),
    "right or wrong; 8 cases, 3 debates each, 10 judges, asked twice, 10 % missing": Design(
        (8, 3, 10, 2), (0.02, 0.005, 0.0005, 0.001), missing=0.1
    ),
    "normal; 10 cases, 8 judges, asked twice": Design((10, 1, 8, 2), (1, 0, 0.2, 0.3), 1.0),
    "normal; 20 cases, 10 judges, asked twice, 30 % missing": Design(
        (20, 1, 10, 2), (1, 0, 0.2, 0.3), 1.0, 0.3
    ),
    "normal; 16 cases, 3 debates each, 10 judges, asked twice": Design(
        (16, 3, 10, 2), (0.45, 0.17, 0, 0), 0.38
    ),
    "normal; 50 cases, 12 judges, asked once": Design((50, 1, 12, 1), (1, 0, 0.2, 0.3), 1.0),
}


@dataclass(frozen=True, slots=True)
class CoverageAndBias:
    """Of one component: the share of intervals that hold the planted share, and the mean estimate
    less that share.
    """

    covered: float
    bias: float


def measure(design: Design, worlds: int = WORLDS) -> dict[Effect, CoverageAndBias]:
    """Coverage and bias by component; what the design cannot tell apart counts as one."""
    random, planted = np.random.default_rng([SEED, *design.sizes]), design.shares
    covers: dict[Effect, list[bool]] = {}
    errors: dict[Effect, list[float]] = {}
    for _ in range(worlds):
        decomposition = decompose(*design.world(random))
        for part in decomposition.components if decomposition else ():
            truth = sum(planted.get(effect, 0.0) for effect in (part.effect, *part.confounded))
            covers.setdefault(part.effect, []).append(part.low <= truth <= part.high)
            errors.setdefault(part.effect, []).append(part.share - truth)
    return {
        effect: CoverageAndBias(float(np.mean(covers[effect])), float(np.mean(errors[effect])))
        for effect in covers
    }


def table(worlds: int) -> str:
    """Coverage of each design's components in Markdown."""
    lines = ["| design | case | debate | judge | case and judge | asking again |", "|---" * 6 + "|"]
    for name, design in DESIGNS.items():
        results = measure(design, worlds)
        cells = [
            f"{100 * results[effect].covered:.1f}" if effect in results else ""
            for effect in (CASE, RUN, JUDGE, CASE_AND_JUDGE, ASKING_AGAIN)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run_simulation(PART, __doc__, table, WORLDS)
