"""How often intervals of error correlations hold planted ones, by simulation.

With `--write` the table is put into the analysis' README.md.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd
from results_page import Part, run_simulation
from scipy.stats import multivariate_normal, norm

from moot.analyses.panel_worth.panels import Panels
from moot.stats.jackknife import ClusterJackknife

SMOKE = ["--worlds", "2"]
PART = Part("panels", "benchmark_panels.py", "scripts/moot/analyses/panel_worth/README.md")
WORLDS = 200
SEED = 12


@dataclass(frozen=True, slots=True)
class Court:
    """Members whose errors follow a Gaussian copula.

    Attributes:
        cases: the number of cases, one panel each.
        accuracies: of each member.
        latent: the correlation of two members' latent errors.
        are_named: whether members keep their names from case to case.
    """

    cases: int
    accuracies: tuple[float, ...]
    latent: float
    are_named: bool = True

    def true_correlation(self) -> float:
        """Return the planted correlation of errors, summed over pairs as the estimate is."""
        errors = 1 - np.array(self.accuracies)
        known_errors = errors if self.are_named else np.full(len(errors), errors.mean())
        spreads = np.sqrt(known_errors * (1 - known_errors))
        normal = multivariate_normal([0, 0], [[1, self.latent], [self.latent, 1]])
        covariance = scale = 0.0
        for first, second in permutations(range(len(errors)), 2):
            both_wrong = normal.cdf(norm.ppf([errors[first], errors[second]]))
            covariance += both_wrong - known_errors[first] * known_errors[second]
            scale += spreads[first] * spreads[second]
        return float(covariance / scale)

    def draw_panels(self, random: np.random.Generator) -> Panels:
        """Draw the panels of one world."""
        members = len(self.accuracies)
        common = random.normal(size=(self.cases, 1))
        member_noise = random.normal(size=(self.cases, members))
        latent = np.sqrt(self.latent) * common + np.sqrt(1 - self.latent) * member_noise
        errors = latent < norm.ppf(1 - np.array(self.accuracies))
        cases, names = np.indices(errors.shape)
        answers = {
            "panel": cases.ravel().astype(str),
            "case_id": cases.ravel().astype(str),
            "member": names.ravel() if self.are_named else np.arange(errors.size),
            "prediction": np.where(errors.ravel(), "wrong", "right"),
            "target": "right",
        }
        return Panels(pd.DataFrame(answers))


COURTS = (
    Court(30, (0.6,) * 3, 0.3),
    Court(100, (0.6,) * 3, 0.3),
    Court(100, (0.6,) * 3, 0.0),
    Court(100, (0.55, 0.6, 0.7, 0.8, 0.9), 0.5),
    Court(100, (0.8,) * 9, 0.8),
    Court(100, (0.7,) * 4, 0.4, are_named=False),
    Court(300, (0.97,) * 5, 0.5),
    Court(1000, (0.97,) * 5, 0.5),
    Court(200, (0.9,) * 3, 0.3),
    Court(500, (0.9,) * 3, 0.3),
    Court(30, (0.97,) * 3, 0.5),
)


def measure(court: Court, worlds: int = WORLDS) -> tuple[float, float, float]:
    """Return the planted correlation, the coverage of its intervals, and the share without one."""
    random = np.random.default_rng([SEED, court.cases, len(court.accuracies)])
    planted = court.true_correlation()
    holds: list[bool] = []
    for _ in range(worlds):
        panels = court.draw_panels(random)
        sample = ClusterJackknife(panels.cases)
        _, low, high = sample.estimate(panels.error_correlation())
        if not np.isnan(low):
            holds.append(low <= planted <= high)
    coverage = float(np.mean(holds)) if holds else float("nan")
    return planted, coverage, 1 - len(holds) / worlds


def table(worlds: int) -> str:
    """Return the Markdown table of all courts, from a number of worlds each."""
    lines = [
        "| cases | members | right, % | planted correlation | covered | without interval |",
        "|---|---|---|---|---|---|",
    ]
    for court in COURTS:
        planted, coverage, refused_share = measure(court, worlds)
        accuracies = [f"{100 * share:.0f}" for share in sorted({*court.accuracies})]
        cells = (
            f"{court.cases:,}",
            f"{len(court.accuracies)}{'' if court.are_named else ', unnamed'}",
            "–".join(dict.fromkeys((accuracies[0], accuracies[-1]))),
            f"{planted:.2f}",
            "" if np.isnan(coverage) else f"{100 * coverage:.1f}",
            f"{100 * refused_share:.0f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run_simulation(PART, __doc__, table, WORLDS)
