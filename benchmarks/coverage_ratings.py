"""Measure how often intervals of ratings, and of the other terms, contain the planted values.

`--write` puts the table into docs/results.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from results_page import Part, run_simulation

from moot.stats.arrays import Floats, as_numbers
from moot.stats.ratings import FIRST, SECOND, TIE, Ratings, fit_ratings

PART = Part("ratings", "coverage_ratings.py")
WORLDS = 200
SEED = 8
SIDE, LENGTH, OWN_FAMILY = "side", "length", "own family"
PLANTED = {SIDE: 0.5, LENGTH: 0.3, OWN_FAMILY: 0.6}


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament: debaters with evenly spread strengths, topics with two debates of swapped
    sides, and judges of each debate.

    `copied` is the probability that a judge repeats the verdict of the debate's first judge; `ties`
    is nu of Davidson's model.
    """

    debaters: int
    topics: int
    judges: int
    copied: float
    ties: float

    @property
    def strengths(self) -> Floats:
        """Return the strengths, centred at 0."""
        return np.linspace(-1.2, 1.2, self.debaters)

    def simulate(self, random: np.random.Generator) -> Ratings | None:
        """Simulate one tournament, and rate it with the terms that decided it."""
        rows = list[tuple[float, ...]]()
        for topic in range(self.topics):
            rows += self._topic(random, topic)
        first, second, outcomes, topics, *features = zip(*rows, strict=True)
        terms = {name: as_numbers(values) for name, values in zip(PLANTED, features, strict=True)}
        first_names = [f"debater {number}" for number in first]
        second_names = [f"debater {number}" for number in second]
        return fit_ratings(first_names, second_names, as_numbers(outcomes), topics, terms)

    def _topic(self, random: np.random.Generator, topic: int) -> Iterator[tuple[float, ...]]:
        pair = random.choice(self.debaters, 2, replace=False)
        first_judge: dict[int, float] = {}
        for debate, judge in product((0, 1), range(self.judges)):
            if judge == 0:
                length = float(random.normal(0, 1))
            debater, opponent = pair[debate], pair[1 - debate]
            # in every debate each judge belongs to the family of one debater
            family_advantage = float(debater % self.judges == judge) - float(
                opponent % self.judges == judge
            )
            eta = self.strengths[debater] - self.strengths[opponent]
            eta += PLANTED[SIDE] + PLANTED[LENGTH] * length + PLANTED[OWN_FAMILY] * family_advantage
            chances = np.array([np.exp(eta / 2), np.exp(-eta / 2), self.ties])
            outcome = float(random.choice([FIRST, SECOND, TIE], p=chances / chances.sum()))
            # a judge who copies also gets the first judge's features, so that the planted effects
            # hold in each row
            if judge and random.random() < self.copied:
                outcome, family_advantage = first_judge[debate], first_judge[debate + 2]
            elif judge == 0:
                first_judge |= {debate: outcome, debate + 2: family_advantage}
            yield debater, opponent, outcome, topic, 1.0, length, family_advantage


TOURNAMENTS = {
    "8 debaters, 60 topics, 3 judges": Tournament(8, 60, 3, 0.0, 0.0),
    "8 debaters, 60 topics, 3 judges, half copied, ties": Tournament(8, 60, 3, 0.5, 0.5),
    "16 debaters, 200 topics, 2 judges, half copied, ties": Tournament(16, 200, 2, 0.5, 0.5),
}


def measure(tournament: Tournament, worlds: int = WORLDS) -> dict[str, tuple[float, float]]:
    """Return the coverage of strengths and of each term, and the mean error of the estimates."""
    random = np.random.default_rng([SEED, tournament.topics])
    planted = {
        f"debater {number}": float(value) for number, value in enumerate(tournament.strengths)
    }
    results: dict[str, list[tuple[bool, float]]] = {}
    for _ in range(worlds):
        ratings = tournament.simulate(random)
        for name, estimate in ({**ratings.strengths, **ratings.terms} if ratings else {}).items():
            truth = planted.get(name, PLANTED.get(name, 0.0))
            if not np.isnan(estimate.low):
                place = name if name in PLANTED else "strengths"
                results.setdefault(place, []).append(
                    (estimate.low <= truth <= estimate.high, estimate.value - truth)
                )
    means: dict[str, tuple[float, float]] = {}
    for name, rows in results.items():
        coverage, error = np.mean(rows, axis=0)
        means[name] = (float(coverage), float(error))
    return means


def table(worlds: int) -> str:
    """Return the coverage of each tournament's strengths and terms in Markdown."""
    names = ["strengths", *PLANTED]
    lines = [f"| tournament | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for name, tournament in TOURNAMENTS.items():
        results = measure(tournament, worlds)
        lines.append(
            f"| {name} | {' | '.join(f'{100 * results[column][0]:.1f}' for column in names)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    run_simulation(PART, __doc__, table, WORLDS)
