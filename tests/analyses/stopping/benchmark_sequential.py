"""How often contrasts that are analysed after every case err, and how many cases they save, by
simulation.

Random orders of recorded debates and planted worlds. `--write` puts the tables into
scripts/moot/analyses/stopping/README.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
from results_page import Part, run_simulation

from moot.analyses.stopping.sequential import (
    BETS,
    DIFFERENCE_SHOWN,
    FUTILE,
    FUTILITY_FACTOR,
    FUTILITY_SHARE,
    LEVEL,
    OPEN,
    SMALLER,
)
from moot.stats.arrays import Floats
from moot.stats.power import cases_needed, paired_proportions
from moot.stats.statistic import DIFFERENCE

SMOKE = ["--orders", "2"]
PROJECT = Path(__file__).resolve().parents[3]
PART = Part("sequential", "benchmark_sequential.py", "scripts/moot/analyses/stopping/README.md")
ORDERS = 10_000
SEED = 17
DISCORDANT, TO_SHOW, CASES_PER_STAGE = 0.3, 0.1, 20
EFFECTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
World = Callable[[np.random.Generator], tuple[Floats, Floats]]
"""Draws the sums and sizes of clusters, in the order in which they are debated."""


@dataclass(frozen=True)
class End:
    """Where a run stopped: why, after how many cases, and whether its interval then held the true
    difference.
    """

    reason: str
    cases: float
    covered: bool


class StakeHistory:
    """The stakes of `moot.analyses.stopping.sequential` after every cluster, all at once.

    Args:
        sums, sizes: of clusters, in order.
        largest: the most cases of a cluster.
    """

    def __init__(self, sums: Floats, sizes: Floats, largest: float) -> None:
        self.sums, self.sizes, self.largest, self.seen = sums, sizes, largest, sizes.cumsum()

    def stakes(self, supposed: float, sign: int) -> Floats:
        """Return the logarithm of each bet's stake, shape (bets, clusters)."""
        gains = (
            sign
            * (self.sums - supposed * self.sizes)
            / ((DIFFERENCE[1] + sign * supposed) * self.largest)
        )
        return np.asarray(np.log1p(BETS[:, None] * gains).cumsum(axis=1))

    def stop(
        self, truth: float, matters: float, cases_per_stage: int, futility: bool = False
    ) -> End:
        """Return the first interim analysis at which something is decided."""
        threshold, planned_cases = np.log(2 / LEVEL), self.seen[-1]
        ends = np.flatnonzero(
            np.diff(np.append(self.seen // cases_per_stage, np.inf)) > 0
        )  # the last cluster of each stage
        stakes = [
            self.stakes(*bet)[:, ends]
            for bet in ((0.0, 1), (0.0, -1), (-matters, 1), (matters, -1))
        ]

        def reached(times: Floats) -> tuple[Floats, Floats]:
            up, down, over, under = (
                _mixed(log_stakes * times) >= threshold for log_stakes in stakes
            )
            return up | down, over & under

        shows_difference, is_smaller = reached(np.ones(len(ends)))
        share = self.seen[ends] / planned_cases
        later = reached(FUTILITY_FACTOR / share)
        is_futile = (
            (share >= FUTILITY_SHARE) & (share < 1) & ~(later[0] | later[1])
            if futility
            else np.zeros_like(shows_difference)
        )
        is_decided = shows_difference | is_smaller | is_futile
        at = int(is_decided.argmax()) if is_decided.any() else len(ends) - 1
        reason = (
            DIFFERENCE_SHOWN
            if shows_difference[at]
            else SMALLER
            if is_smaller[at]
            else FUTILE
            if is_futile[at]
            else OPEN
        )
        covered = all(
            _mixed(self.stakes(truth, sign)[:, [ends[at]]])[0] < threshold for sign in (1, -1)
        )
        return End(reason, float(self.seen[ends[at]]), covered)


def _mixed(logs: Floats) -> Floats:
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(BETS)))


# Worlds


def independent(difference: float, cases: int, discordant: float = DISCORDANT) -> World:
    """Single cases, one debate of either side."""

    def draw(random: np.random.Generator) -> tuple[Floats, Floats]:
        uniforms, first = random.random(cases), (discordant + difference) / 2
        return (uniforms < first) * 1.0 - ((uniforms >= first) & (uniforms < discordant)), np.ones(
            cases
        )

    return draw


def repeated(difference: float, cases: int) -> World:
    """Single cases, three debates of either side, whose cases are of different difficulty."""

    def draw(random: np.random.Generator) -> tuple[Floats, Floats]:
        easy = random.uniform(0.1, 0.9 - difference, cases)
        return (random.binomial(3, easy + difference) - random.binomial(3, easy)) / 3, np.ones(
            cases
        )

    return draw


def clustered(difference: float, cases: int) -> World:
    """Clusters of 1 to 8 cases, each of which leans to one side."""

    def draw(random: np.random.Generator) -> tuple[Floats, Floats]:
        sizes = random.integers(1, 9, cases // 4)
        lean = random.choice([-0.1, 0.1], len(sizes))
        moved = random.binomial(sizes, 0.5)
        first = random.binomial(moved, 0.5 + difference + lean)
        return 2.0 * first - moved, sizes * 1.0

    return draw


PLANTED = {
    "single cases": independent,
    "three repeats of a case": repeated,
    "clusters of 1 to 8 cases": clustered,
}
RECORDED = {
    "debate, vote": (("debate", ""), ("self-consistency", "")),
    "debate, cooperative debate": (("debate", ""), ("cooperative debate", "")),
    "gpt-4.1-mini, gpt-4o-mini": (("debate", "gpt-4.1-mini"), ("debate", "gpt-4o-mini")),
}


def models_of(rows: pd.DataFrame) -> set[str]:
    """Return the models of some records."""
    return set(rows["model"])


def recorded(name: str) -> Floats:
    """Return the differences of the recorded cases between the means of each side's debates, in
    which invalid answers are wrong.
    """
    folder = PROJECT / "data" / "records"
    rows = pd.read_parquet(folder / "agenticsimlaw-nlsy97_records.parquet")
    targets = pd.read_parquet(folder / "agenticsimlaw-nlsy97_cases.parquet").set_index("case_id")[
        "target"
    ]
    rows = rows[rows["kind"] == "conclusion"]
    rows = rows.assign(right=(rows["prediction"] == rows["case_id"].map(targets)).astype(float))
    sides = [
        rows[(rows["method"] == method) & (rows["model"] == (model or rows["model"]))]
        for method, model in RECORDED[name]
    ]
    models = models_of(sides[0]) & models_of(sides[1]) or models_of(rows)
    first, second = (
        side[side["model"].isin(models)].groupby("case_id")["right"].mean() for side in sides
    )
    return (first - second).dropna().to_numpy()


def in_random_order(values: Floats) -> World:
    """Recorded cases, each once."""
    return lambda random: (random.permutation(values), np.ones(len(values)))


def sides_exchanged(values: Floats) -> World:
    """Recorded cases in random order, the sides of each exchanged or not, so that there is no
    difference.
    """
    return lambda random: (
        random.permutation(values) * random.choice([-1, 1], len(values)),
        np.ones(len(values)),
    )


def resampled(values: Floats) -> World:
    """Recorded cases drawn with replacement, as new cases of which these are a sample."""
    return lambda random: (random.choice(values, len(values)), np.ones(len(values)))


# Measuring


def stopping_points(
    world: World, truth: float, orders: int, cases_per_stage: int = 1, futility: bool = False
) -> pd.DataFrame:
    """Return the stop of each of many runs: columns reason, cases, covered."""
    points = []
    for number in range(orders):
        sums, sizes = world(np.random.default_rng([SEED, number]))
        largest = 8.0 if sizes.max() > 1 else 1.0
        points.append(
            StakeHistory(sums, sizes, largest).stop(truth, TO_SHOW, cases_per_stage, futility)
        )
    return pd.DataFrame(points)


def errors(orders: int) -> Iterator[tuple[str, float, float, float]]:
    """Yield a world, its true difference, and two shares of its runs.

    These are the runs that show a difference, and the runs whose interval contains the true one.
    """
    for name, world in PLANTED.items():
        for difference in (0.0, TO_SHOW):
            points = stopping_points(world(difference, 240), difference, orders)
            yield (
                name,
                difference,
                (points["reason"] == DIFFERENCE_SHOWN).mean(),
                points["covered"].mean(),
            )
    for name in RECORDED:
        values = recorded(name)
        worlds = {
            "sides exchanged": sides_exchanged,
            "random order": in_random_order,
            "drawn anew": resampled,
        }
        for how, world in worlds.items():
            truth = 0.0 if world is sides_exchanged else float(values.mean())
            points = stopping_points(world(values), truth, orders)
            yield (
                f"recorded: {name}; {how}",
                truth,
                (points["reason"] == DIFFERENCE_SHOWN).mean(),
                points["covered"].mean(),
            )


def savings(orders: int) -> Iterator[tuple[float, int, float, pd.DataFrame]]:
    """Yield a true difference, planned cases, the power of the fixed plan, and the stops of runs in
    stages of `CASES_PER_STAGE`.
    """
    spread = paired_proportions(DISCORDANT)
    fixed = ceil(cases_needed(TO_SHOW, spread))
    for difference in EFFECTS:
        power = spread.power(difference, fixed, (1, 1), LEVEL) if difference else LEVEL
        for planned_cases in (fixed, 2 * fixed):
            yield (
                difference,
                planned_cases,
                power,
                stopping_points(
                    independent(difference, planned_cases),
                    difference,
                    orders,
                    CASES_PER_STAGE,
                    futility=True,
                ),
            )


def percent(share: float) -> str:
    """With one decimal."""
    return f"{100 * share:.1f}"


def tables(orders: int) -> str:
    """Both tables in Markdown."""
    lines = [
        (
            "| analyses after every case | true difference | shown, % | interval holds the true"
            " difference, % |"
        ),
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {truth:.3f} | {percent(shown_share)} | {percent(covered)} |"
        for name, truth, shown_share, covered in errors(orders)
    ]
    fixed = ceil(cases_needed(TO_SHOW, paired_proportions(DISCORDANT)))
    lines += [
        "",
        (
            f"| true difference | {fixed} cases, fixed: shown, % | planned cases | shown, % |"
            " smaller than matters, % | futile, % | mean cases | saved of the plan, % | saved of"
            f" {fixed}, % |"
        ),
        "|--:" * 9 + "|",
    ]
    for difference, planned_cases, power, points in savings(orders):
        reasons = [
            percent((points["reason"] == reason).mean())
            for reason in (DIFFERENCE_SHOWN, SMALLER, FUTILE)
        ]
        mean = points["cases"].mean()
        lines.append(
            f"| {difference:g} | {percent(power)} | {planned_cases} | {' | '.join(reasons)} |"
            f" {mean:.0f}"
            f" | {percent(1 - mean / planned_cases)} | {percent(1 - mean / fixed)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    run_simulation(PART, __doc__, tables, ORDERS, "--orders")
