"""Test that scores recover planted parameters without bias.

Each test has 200 worlds. The truth is exact where the planted parameter is the score itself
(error rates), otherwise it is estimated from all worlds together.

Slow: only these tests detect a biased estimate or interval whose formula looks correct.
"""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.core.cases import Case
from moot.core.schemas import SCHEMAS
from moot.scores.dynamics import stated_predictions
from moot.scores.group_rates import FALSE_POSITIVE, group_rates
from moot.scores.results import ExperimentResults, ExperimentView
from moot.stats.arrays import as_numbers
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import AMOUNT, Statistic, mean_statistic
from moot.studies.appellate.data_opinions import TASK as APPEAL
from moot.studies.appellate.panel_steps import find_opposing_influences
from moot.studies.appellate.scores_panel import log_odds_ratio
from planted_answers import (
    LIKED,
    SEEDS,
    TASK,
    answer,
    assert_recovered,
    case,
    case_with_sex,
    probability_of_yes,
)

pytestmark = pytest.mark.slow

Estimates = list[tuple[float, float, float]]


# Panels


def panels(seed: int, cases: int, repeats: int = 1) -> pd.DataFrame:
    """Return the steps of panels of two judges and a person, who never changes, in three rounds.

    A judge moves towards the person three times as much as towards the peer.
    """
    draws = np.random.default_rng([seed, cases, repeats])
    rows = []
    for number, repeat in product(range(cases), range(repeats)):
        person = 1 if (number // 2 + repeat) % 2 else -1
        judges = np.sign(draws.normal(0.3, 1.0, 2))
        case_id = case(number, APPEAL).case_id
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


def assert_odds_recovered(frames: list[pd.DataFrame], high: float = 0.98) -> Estimates:
    """Check the odds of each world against the odds of all worlds; return the estimates."""
    chances = find_chances(frames)
    jackknife, statistic = odds_of_following(chances, 0)
    truth = jackknife.value(statistic)
    assert truth > 0.5, "judges follow the person more than the peer"
    by_world = {seed: odds(rows, seed) for seed, rows in chances.groupby("world", sort=True)}
    assert list(by_world) == list(range(len(frames)))
    estimates = list(by_world.values())
    assert_recovered(estimates, truth, high=high)
    return estimates


def test_the_odds_of_following_the_person_are_recovered() -> None:
    assert_odds_recovered([panels(seed, 60) for seed in range(SEEDS)])


def test_intervals_of_five_cases_debated_twenty_times_cover_but_are_wide() -> None:
    """The appellate paper's design. By case, the interval spans a factor of seven in the odds."""
    worlds = [panels(seed, 5, repeats=20) for seed in range(SEEDS // 2)]
    estimates = assert_odds_recovered(worlds, high=0.99)
    assert np.mean([high - low for _, low, high in estimates]) > 1.5


# Flips


def opinions(seed: int, cases: int) -> pd.DataFrame:
    """Return transcripts with the opinion of a judge before, between and after four arguments."""
    draws = np.random.default_rng([seed, cases])
    rows = []
    for number in range(cases):
        belief = draws.normal()
        for turn in range(5):
            if turn:
                label = TASK.labels[turn % 2].upper()
                belief += 0.5 if label == "YES" else -0.5
                argument = f"advocate, round {turn}: The answer is {label}."
                rows.append((number, 2 * turn, "advocate", argument, ""))
            opinion = "yes" if belief + 0.7 * draws.normal() > 0 else "no"
            rows.append((number, 2 * turn + 1, "judge", "", opinion))
    frame = pd.DataFrame(rows, columns=["number", "turn", "speaker", "text", "prediction"])
    names = frame["number"].map(lambda number: case(number).case_id)
    return frame.assign(model=f"world-{seed}", case_id=names, debate_id=names + "#0")


def flips(worlds: list[pd.DataFrame], cases: list[Case]) -> "pd.Series[Any]":
    """Return the flips of each debate by world, from the scores' own table of opinions."""
    transcripts = pd.concat(worlds, ignore_index=True).assign(kind="statement", visibility="public")
    transcripts = transcripts.reindex(columns=[*SCHEMAS["transcripts"].names])
    transcripts = transcripts.assign(confidence=np.nan, probability=np.nan)
    results = ExperimentResults(Path(), "x", ExperimentView("courtroom", "d", ("m",), "test", {}))
    results.__dict__ |= {
        "transcript_parts": lambda columns: iter([transcripts]),
        "_cases_and_task": (cases, TASK),
    }
    opinions = stated_predictions(results)
    changed = opinions["previous"].notna() & (opinions["previous"] != opinions["prediction"])
    return changed.groupby([opinions["model"], opinions["debate_id"]], observed=True).sum()


def test_the_flips_of_a_judge_are_recovered() -> None:
    cases = [case(number) for number in range(40)]
    counts = flips([opinions(seed, 40) for seed in range(SEEDS)], cases)
    truth = float(counts.mean())
    assert truth > 0.3
    estimates = []
    for seed in range(SEEDS):
        flip_counts = counts.loc[f"world-{seed}"]
        assert len(flip_counts) == len(cases)
        jackknife = ClusterJackknife(flip_counts.index)
        estimates.append(jackknife.estimate(mean_statistic(flip_counts, AMOUNT)))
    assert_recovered(estimates, truth)


# Rates by group


def test_a_planted_difference_of_error_rates_is_recovered() -> None:
    """Half of 70 men and 70 women are positive. The false positive rate of men is higher by a known
    amount.
    """
    task = replace(TASK, groups=("sex",))
    cases = [case_with_sex(number, ("man", "woman")[number // 2 % 2]) for number in range(140)]
    frame = pd.DataFrame(
        {"case_id": [item.case_id for item in cases], "target": [item.target for item in cases]}
    )
    estimates = []
    for seed in range(SEEDS):
        results = ExperimentResults(
            Path(), "x", ExperimentView("zero_shot", "d", ("m",), "test", {}), seed
        )
        answers = [answer(seed, item) for item in cases]
        results.__dict__ |= {"_cases_and_task": (cases, task)}
        results.__dict__ |= {
            "predictions": frame.assign(model="m", status="valid", prediction=answers)
        }
        [difference] = [
            item.difference
            for item in group_rates(results, "m", (FALSE_POSITIVE,))
            if item.group == "man"
        ]
        assert difference, "the reference of two equal groups is the last by name"
        estimates.append((difference.difference, difference.low, difference.high))
    assert_recovered(estimates, probability_of_yes("no", LIKED) - probability_of_yes("no", 0.0))
