"""How often intervals of ratings and of what else decides pairs hold planted ones;
`--write`: into docs/results.md.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import results_page

from moot.stats.bootstrap import Floats, as_numbers
from moot.stats.ratings import FIRST, SECOND, TIE, Ratings, fit_ratings

BEGIN, END = (
    "<!-- ratings: python benchmarks/coverage_ratings.py --write -->",
    "<!-- end of ratings -->",
)
WORLDS = 200
SEED = 8
SIDE, LENGTH, OWN = "side", "length", "own family"
PLANTED = {SIDE: 0.5, LENGTH: 0.3, OWN: 0.6}


@dataclass(frozen=True, slots=True)
class Tournament:
    """Debaters whose strengths are spread evenly, topics with two debates of swapped sides, and
    judges of each.

        `copied` is how often a judge says what the first judge of the debate said; `ties`: nu of
        Davidson's model.
    """

    debaters: int
    topics: int
    judges: int
    copied: float
    ties: float

    @property
    def strengths(self) -> Floats:
        """Less their mean."""
        return np.linspace(-1.2, 1.2, self.debaters)

    def played(self, random: np.random.Generator) -> Ratings | None:
        """One tournament, rated with the terms that decided it."""
        rows = [row for topic in range(self.topics) for row in self._topic(random, topic)]
        first, second, outcomes, topics, *features = zip(*rows, strict=True)
        terms = {name: as_numbers(values) for name, values in zip(PLANTED, features, strict=True)}
        names = [[f"debater {number}" for number in side] for side in (first, second)]
        return fit_ratings(names[0], names[1], as_numbers(outcomes), topics, terms)

    def _topic(self, random: np.random.Generator, topic: int) -> Iterator[tuple[float, ...]]:
        pair = random.choice(self.debaters, 2, replace=False)
        said: dict[int, float] = {}
        for debate, judge in product((0, 1), range(self.judges)):
            if judge == 0:
                length = float(random.normal(0, 1))
            one, other = pair[debate], pair[1 - debate]
            # in every debate each judge is of a family of debaters of its own
            own = float(one % self.judges == judge) - float(other % self.judges == judge)
            eta = self.strengths[one] - self.strengths[other]
            eta += PLANTED[SIDE] + PLANTED[LENGTH] * length + PLANTED[OWN] * own
            chances = np.array([np.exp(eta / 2), np.exp(-eta / 2), self.ties])
            drawn = float(random.choice([FIRST, SECOND, TIE], p=chances / chances.sum()))
            # who copies has the first judge's features too, so that what was planted stays true of
            # each row
            if judge and random.random() < self.copied:
                drawn, own = said[debate], said[debate + 2]
            elif judge == 0:
                said |= {debate: drawn, debate + 2: own}
            yield one, other, drawn, topic, 1.0, length, own


TOURNAMENTS = {
    "8 debaters, 60 topics, 3 judges": Tournament(8, 60, 3, 0.0, 0.0),
    "8 debaters, 60 topics, 3 judges, half copied, ties": Tournament(8, 60, 3, 0.5, 0.5),
    "16 debaters, 200 topics, 2 judges, half copied, ties": Tournament(16, 200, 2, 0.5, 0.5),
}


def measure(tournament: Tournament, worlds: int = WORLDS) -> dict[str, tuple[float, float]]:
    """Coverage of strengths and of each term, and the mean of the estimate less what was planted."""
    random = np.random.default_rng([SEED, tournament.topics])
    planted = {
        f"debater {number}": float(value) for number, value in enumerate(tournament.strengths)
    }
    found: dict[str, list[tuple[bool, float]]] = {}
    for _ in range(worlds):
        ratings = tournament.played(random)
        for name, one in ({**ratings.strengths, **ratings.terms} if ratings else {}).items():
            truth = planted.get(name, PLANTED.get(name, 0.0))
            if not np.isnan(one.low):
                place = name if name in PLANTED else "strengths"
                found.setdefault(place, []).append(
                    (one.low <= truth <= one.high, one.value - truth)
                )
    return {name: (float(np.mean([held for held, _ in rows])), float(np.mean([off for _, off in rows])))
            for name, rows in found.items()}  # fmt: skip


def table(worlds: int) -> str:
    """Coverage of each tournament's strengths and terms in Markdown."""
    names = ["strengths", *PLANTED]
    lines = [f"| tournament | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for name, tournament in TOURNAMENTS.items():
        found = measure(tournament, worlds)
        lines.append(f"| {name} | {' | '.join(f'{100 * found[one][0]:.1f}' for one in names)} |")
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
