"""Test that the odds of following the person are recovered from planted moves without bias.

Each test has some hundred worlds; the truth is that of all worlds together. Slow: only this test
detects a biased estimate or interval whose formula looks correct.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from moot.stats.arrays import as_numbers
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic
from moot.studies.appellate.panel_steps import find_opposing_influences
from moot.studies.appellate.scores_panel import log_odds_ratio

pytestmark = pytest.mark.slow

WORLDS = 200


def panels(seed: int, cases: int, repeats: int = 1) -> pd.DataFrame:
    """Return the steps of panels of two judges and a person, who never changes, in three rounds.

    A judge moves towards the person three times as much as towards the peer.
    """
    draws = np.random.default_rng([seed, cases, repeats])
    rows = []
    for number, repeat in product(range(cases), range(repeats)):
        person = 1 if (number // 2 + repeat) % 2 else -1
        judges = np.sign(draws.normal(0.3, 1.0, 2))
        case_id = f"c{number:03d}"
        for rank in (1, 2, 3):
            positions = {"human": person, "judge_1": judges[0], "judge_2": judges[1]}
            for speaker, position in positions.items():
                rows.append((f"{case_id}#{repeat}", case_id, rank, speaker, int(position > 0)))
            pull = 0.9 * person + 0.3 * judges[::-1] + 0.2 * judges
            judges = np.sign(pull + draws.normal(0.0, 1.5, 2))
    frame = pd.DataFrame(rows, columns=["debate_id", "case_id", "round", "speaker", "code"])
    return frame.assign(model="m", kind="statement", text="Words.")


def odds(chances: pd.DataFrame, seed: int) -> tuple[float, float, float]:
    """Return the log odds of moving to the person relative to the peer, with an interval."""
    jackknife, statistic = odds_of_following(chances, seed)
    return jackknife.estimate(statistic)


def odds_of_following(chances: pd.DataFrame, seed: int) -> tuple[ClusterJackknife, Statistic]:
    """Return the jackknife over the cases of some chances, and the log odds as its statistic."""
    moved = as_numbers(chances["moved"])
    human, peer = (as_numbers(chances["opposed"] == opponent) for opponent in ("human", "peer"))
    return ClusterJackknife(chances["case_id"]), log_odds_ratio(moved, human, peer)


def find_chances(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the chances to move in the panels of all worlds together, with their world."""
    worlds = []
    for n, frame in enumerate(frames):
        debates, cases = f"{n}-" + frame["debate_id"], f"{n}-" + frame["case_id"]
        worlds.append(frame.assign(debate_id=debates, case_id=cases))
    chances = find_opposing_influences(pd.concat(worlds))
    return chances.assign(world=chances["case_id"].str.partition("-")[0].astype(int))


def estimates_of(
    frames: list[pd.DataFrame], most_covered: float = 0.98
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return the odds and the interval of each world, compared with the odds of all worlds.

    They have no bias beyond three Monte-Carlo errors, and cover as they should.
    """
    chances = find_chances(frames)
    jackknife, statistic = odds_of_following(chances, 0)
    truth = jackknife.value(statistic)
    assert truth > 0.5, "judges follow the person more than the peer"
    by_world = {seed: odds(rows, seed) for seed, rows in chances.groupby("world", sort=True)}
    assert list(by_world) == list(range(len(frames)))
    estimates = np.array(list(by_world.values()))
    error = estimates[:, 0].std(ddof=1) / len(estimates) ** 0.5
    assert abs(estimates[:, 0].mean() - truth) < 3 * error
    covered = np.mean((estimates[:, 1] <= truth) & (truth <= estimates[:, 2]))
    assert 0.92 <= covered <= most_covered, covered
    return estimates


def test_the_odds_of_following_the_person_are_recovered() -> None:
    estimates_of([panels(seed, 60) for seed in range(WORLDS)])


def test_intervals_of_five_cases_debated_twenty_times_cover_but_are_wide() -> None:
    """The appellate paper's design. By case, the interval spans a factor of seven in the odds."""
    worlds = [panels(seed, 5, repeats=20) for seed in range(WORLDS // 2)]
    estimates = estimates_of(worlds, most_covered=0.99)
    assert np.mean(estimates[:, 2] - estimates[:, 1]) > 1.5
