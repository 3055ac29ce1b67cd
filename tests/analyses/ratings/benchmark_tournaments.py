"""How well a tournament of few pairs ranks: the rank correlation of ratings with planted strengths,
by opponents.

Strengths lie evenly between -1.2 and 1.2; the judge favours one side by 0.5; each pair debates both
ways round.
"""

import sys
from itertools import product

import numpy as np
from scipy.stats import spearmanr

from moot.analyses.ratings.config import TournamentConfig
from moot.stats.arrays import as_numbers
from moot.stats.ratings import FIRST, SECOND, fit_ratings

WORLDS, SEED, SIDE = 50, 12, 0.5
OPPONENT_COUNTS = {6: (2, 3, 5), 12: (2, 4, 6, 11), 20: (2, 4, 8, 19)}
DESIGNS: list[tuple[int, int, int]] = []
for debater_count, opponent_counts in OPPONENT_COUNTS.items():
    DESIGNS += product((debater_count,), opponent_counts, (5, 20))


def correlation(debaters: int, opponents: int, cases: int, world: int) -> float:
    """Return the correlation of the ratings of one tournament with the true strengths."""
    random = np.random.default_rng([SEED, debaters, opponents, cases, world])
    names = [str(number) for number in range(debaters)]
    strengths = dict(
        zip(names, random.permutation(np.linspace(-1.2, 1.2, debaters)).tolist(), strict=True)
    )
    pairs = TournamentConfig(debaters=names, opponents=opponents).pairs
    pairings = [(*pair, case) for pair, case in product(pairs, range(cases))]
    chances = [
        1 / (1 + np.exp(-(strengths[debater] - strengths[opponent] + SIDE)))
        for debater, opponent, _ in pairings
    ]
    outcomes = np.where(random.random(len(pairings)) < chances, FIRST, SECOND)
    first, second, case = zip(*pairings, strict=True)
    ratings = fit_ratings(
        first, second, as_numbers(outcomes), case, {"side": np.ones(len(pairings))}
    )
    rated = [ratings.strengths[name].value for name in names] if ratings else []
    return float(spearmanr(rated, list(strengths.values())).statistic)


if __name__ == "__main__":
    sys.stdout.write(
        "| debaters | opponents of each | cases a pair and side | debates | rank correlation"
        " |\n|--:|--:|--:|--:|--:|\n"
    )
    for design in DESIGNS:
        correlations = [correlation(*design, world) for world in range(WORLDS)]
        debates = design[0] * design[1] * design[2]
        sys.stdout.write(
            f"| {' | '.join(map(str, design))} | {debates:,} | {np.mean(correlations):.2f} (least"
            f" {min(correlations):.2f}) |\n"
        )
