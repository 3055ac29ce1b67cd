"""How often the error among kept answers is within the allowed share, by simulation.

With `--write` the table is put into the analysis' README.md.
"""

from dataclasses import dataclass

import numpy as np
from results_page import Part, run_simulation

from moot.analyses.deferral.risk import candidate_thresholds, draw_one_per_cluster, learn_threshold
from moot.stats.arrays import Floats

SMOKE = ["--worlds", "20"]
PART = Part("deferral", "benchmark_deferral.py", "scripts/moot/analyses/deferral/README.md")
WORLDS = 1000
SEED = 11


@dataclass(frozen=True, slots=True)
class World:
    """Cases with repeated answers whose error falls with their signal.

    Attributes:
        cases: the number of cases.
        repeats: answers of each case.
        slope: the error of the least sure answer less the error of the surest.
        error: the mean error.
        levels: how many values the signal has; 0: it is continuous.
        max_error: the allowed share of errors.
    """

    cases: int
    repeats: int
    slope: float
    error: float
    levels: int
    max_error: float

    def signals(self, random: np.random.Generator) -> Floats:
        """Return the signal of each case."""
        signals = random.random(self.cases)
        return np.floor(signals * self.levels) / self.levels if self.levels else signals

    def true_error(self, threshold: float) -> float:
        """Return the expected error of a case whose signal is at least a threshold."""
        values = (np.arange(self.levels) / self.levels) if self.levels else np.linspace(0, 1, 2001)
        return float(self.errors(values[values >= threshold]).mean())

    def errors(self, signals: Floats) -> Floats:
        """Return the probability of an error by signal."""
        centre = (1 - 1 / self.levels) / 2 if self.levels else 0.5
        return np.clip(self.error + self.slope * (centre - signals), 0.0, 1.0)

    def hold(self, random: np.random.Generator) -> tuple[bool, float]:
        """Return whether the learnt threshold keeps the allowed error, and the share it defers."""
        signals = np.repeat(self.signals(random), self.repeats)
        chances = self.errors(signals)
        # repeats of a case are wrong together
        luck = np.repeat(random.random(self.cases), self.repeats)
        is_wrong = luck < chances
        clusters = np.repeat(np.arange(self.cases), self.repeats).tolist()
        positions = draw_one_per_cluster(clusters, int(random.integers(2**31)))
        first, second = positions[: self.cases // 2], positions[self.cases // 2 :]
        candidates = candidate_thresholds(signals[second], self.max_error)
        threshold = learn_threshold(signals[first], is_wrong[first], candidates, self.max_error)
        if threshold == np.inf:
            return True, 1.0
        return self.true_error(threshold) <= self.max_error, float((signals < threshold).mean())


WORLDS_BY_NAME = {
    "400 cases, informative signal, 10 % allowed": World(400, 1, 0.4, 0.2, 0, 0.1),
    "1,000 cases, informative signal, 10 % allowed": World(1000, 1, 0.4, 0.2, 0, 0.1),
    "1,000 cases, signal of 5 values, 10 % allowed": World(1000, 1, 0.4, 0.2, 5, 0.1),
    "1,000 cases, 3 equal repeats, 10 % allowed": World(1000, 3, 0.4, 0.2, 0, 0.1),
    "1,000 cases, error 6 %, 10 % allowed": World(1000, 1, 0.0, 0.06, 0, 0.1),
    "400 cases, error 10.5 %, signal without information, 10 % allowed": World(
        400, 1, 0.0, 0.105, 0, 0.1
    ),
    "200 cases, informative signal, 20 % allowed": World(200, 1, 0.6, 0.3, 0, 0.2),
    "100 cases, signal that misleads, 20 % allowed": World(100, 1, -0.3, 0.25, 0, 0.2),
}


def measure(world: World, worlds: int = WORLDS) -> tuple[float, float]:
    """Return how often the bound holds, and the mean share that is deferred."""
    random = np.random.default_rng([SEED, world.cases, world.levels, world.repeats])
    results = [world.hold(random) for _ in range(worlds)]
    return (
        float(np.mean([holds for holds, _ in results])),
        float(np.mean([share for _, share in results])),
    )


def table(worlds: int) -> str:
    """Return the Markdown table of all designs, from a number of worlds each."""
    lines = ["| cases | the bound holds | deferred |", "|---|---|---|"]
    for name, world in WORLDS_BY_NAME.items():
        holds, share = measure(world, worlds)
        lines.append(f"| {name} | {100 * holds:.1f} | {100 * share:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run_simulation(PART, __doc__, table, WORLDS)
