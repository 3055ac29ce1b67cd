"""Test that scores recover the parameters of simulated voices without bias.

Each test has 200 worlds. The truth is exact where the planted parameter is the score itself
(groups, grades), otherwise it is estimated from all worlds together.

Slow: only these tests detect a biased estimate or interval whose formula looks correct.
"""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from moot.core.cases import Case
from moot.core.model_config import ModelConfig
from moot.core.schemas import SCHEMAS
from moot.core.simulated_voice import SimulatedVoice
from moot.llm.endpoints.simulated import SimulatedEndpoint
from moot.llm.request import Message, request_to
from moot.llm.simulated.beliefs import build_world
from moot.scores.dynamics import stated_predictions
from moot.scores.group_rates import FALSE_POSITIVE, group_rates
from moot.scores.results import ExperimentResults, ExperimentView
from moot.stats.arrays import as_numbers
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.statistic import AMOUNT, DIFFERENCE, Statistic, mean_statistic
from moot.studies.appellate.data_opinions import TASK as APPEAL
from moot.studies.appellate.panel_steps import find_opposing_influences
from moot.studies.appellate.scores_panel import log_odds_ratio
from planted_answers import (
    LIKED,
    MAN,
    SEEDS,
    TASK,
    answer,
    assert_recovered,
    case,
    case_with_sex,
    probability_of_yes,
)

pytestmark = pytest.mark.slow

POSITION_TEXTS = {
    "affirm": "I would affirm the judgment below.",
    "not affirm": "I would reverse the judgment below.",
}
Estimates = list[tuple[float, float, float]]
CODE = {"affirm": 1, "not affirm": 0}
SPEAKERS = {"Human Judge": "human", "AI Judge 1": "judge_1", "AI Judge 2": "judge_2"}


# Panels


def panels(seed: int, cases: int, repeats: int = 1) -> pd.DataFrame:
    """Return the steps of panels of two voices and a person, who never changes, in three rounds."""
    voice = SimulatedVoice(
        human_pull=0.9,
        peer_pull=0.3,
        stubbornness=0.2,
        noise_sd=2.0,
        difficulty_sd=0.3,
        model_sd=0.3,
    )
    rows = []
    for number in range(cases):
        judged_case = case(number, APPEAL)
        for repeat in range(repeats):
            previous_positions: dict[str, str] = {}
            for rank in (1, 2, 3):
                records = []
                for name, label in previous_positions.items():
                    records.append(f"{name}, round {rank - 1}: {POSITION_TEXTS[label]}")
                positions = {"Human Judge": APPEAL.labels[(number // 2 + repeat) % 2]}
                for seat in (1, 2):
                    name, model = f"AI Judge {seat}", f"voice-{seat}-{repeat}"
                    positions[name] = answer(voice, seed, judged_case, APPEAL, model, records, name)
                for name, position in positions.items():
                    debate_id = f"{judged_case.case_id}#{repeat}"
                    step = (debate_id, judged_case.case_id, rank, SPEAKERS[name], CODE[position])
                    rows.append(step)
                previous_positions = positions
    frame = pd.DataFrame(rows, columns=["debate_id", "case_id", "round", "speaker", "code"])
    return frame.assign(model="m", kind="statement")


def odds(chances: pd.DataFrame, seed: int) -> tuple[float, float, float]:
    """Return the log odds of moving to the person relative to the peer, with an interval."""
    bootstrap, statistic = odds_of_following(chances, seed)
    return bootstrap.estimate(statistic)


def odds_of_following(chances: pd.DataFrame, seed: int) -> tuple[ClusterBootstrap, Statistic]:
    """Return the bootstrap over the cases of some chances, and the log odds as its statistic."""
    moved = as_numbers(chances["moved"])
    human, peer = (as_numbers(chances["opposed"] == opponent) for opponent in ("human", "peer"))
    return ClusterBootstrap(chances["case_id"], seed), log_odds_ratio(moved, human, peer)


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
    bootstrap, statistic = odds_of_following(chances, 0)
    truth = bootstrap.value(statistic)
    assert truth > 0.5, "voices follow the person more than the peer"
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
    voice = SimulatedVoice(true_argument=0.5, false_argument=0.5, difficulty_sd=0.5, noise_sd=1.0)
    rows = []
    for number in range(cases):
        judged_case = case(number)
        arguments: list[str] = []
        for turn in range(5):
            if turn:
                label = TASK.labels[turn % 2].upper()
                arguments.append(f"advocate, round {turn}: The answer is {label}.")
                rows.append((number, 2 * turn, "advocate", arguments[-1], ""))
            rows.append(
                (
                    number,
                    2 * turn + 1,
                    "judge",
                    "",
                    answer(voice, seed, judged_case, TASK, "judge", arguments),
                )
            )
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
        bootstrap = ClusterBootstrap(flip_counts.index, seed)
        estimates.append(bootstrap.estimate(mean_statistic(flip_counts, AMOUNT)))
    assert_recovered(estimates, truth)


# Groups


def test_a_planted_difference_between_groups_is_recovered() -> None:
    """The voice is correct in exactly 80 % of one group and 60 % of the other."""
    estimates = []
    for seed in range(SEEDS):
        correct_by_group = []
        for share, numbers in ((0.8, range(70)), (0.6, range(70, 140))):
            voice = SimulatedVoice(competence=share)
            cases = list(map(case, numbers))
            correct_by_group.append(
                [answer(voice, seed, case, TASK, "m", []) == case.target for case in cases]
            )
        sums = [Sums(as_numbers(values)[:, None], np.ones((70, 1))) for values in correct_by_group]
        difference = compare_unpaired(*sums, range(70), range(70, 140), seed, DIFFERENCE)
        estimates.append((difference.difference, difference.low, difference.high))
    assert_recovered(estimates, 0.2)


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
        answers = [answer(MAN, seed, item, task, "m", []) for item in cases]
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


# Graders


@pytest.mark.parametrize("noise", [0.5, 1.5])
async def test_the_noise_of_a_grader_is_recovered_from_two_grades(
    noise: float,
) -> None:
    """Grades are whole numbers from 0 to 10 around 8 or 3, with a known effect of rounding and
    bounds.
    """
    schema = {
        "type": "object",
        "properties": {"grade": {"type": "integer", "minimum": 0, "maximum": 10}},
    }
    config = ModelConfig(
        endpoint="simulated", model="m", simulated=SimulatedVoice(grader_noise=noise, noise_sd=1e-9)
    )
    estimates, all_grades = [], []
    for seed in range(SEEDS):
        endpoint = SimulatedEndpoint(config, build_world(seed))
        pairs = []
        for number in range(30):
            message = (
                Message(
                    "user",
                    f"<agenda>\nTopic {number}.\n</agenda>\n<decision>\nAGREEMENT\n</decision>",
                ),
            )
            grades = []
            for n in (0, 1):
                request = request_to(
                    config, message, max_tokens=50, temperature=1, seed=n, schema=schema
                )
                reply = await endpoint.complete(request)
                grades.append(int(reply.text.split(":")[1].strip(" }\n")))
            pairs.append(grades)
        distances = np.abs(np.diff(np.array(pairs), axis=1))[:, 0]
        all_grades += chain.from_iterable(pairs)
        estimates.append(
            ClusterBootstrap(range(30), seed).estimate(mean_statistic(distances, AMOUNT))
        )
    assert_recovered(
        estimates, expected_distance(noise, float(np.mean(np.array(all_grades) > 5.5))), high=0.99
    )


def expected_distance(noise: float, agreement_share: float) -> float:
    """Return the mean distance between two grades around 8 (with the share) or 3."""
    grades = np.arange(11)
    distance = 0.0
    for steady, share in ((8, agreement_share), (3, 1 - agreement_share)):
        bounds = np.array([-np.inf, *(grades[1:] - 0.5), np.inf])
        chances = np.diff(norm.cdf(bounds, steady, noise))
        distance += share * float(chances @ np.abs(grades[:, None] - grades) @ chances)
    return distance
