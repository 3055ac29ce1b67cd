"""Test `snakemake power`: what contrasts can show, by debates or by an assumption."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from courtroom_runs import PROJECT, configuration, people
from messages import refusal
from moot.commands.power_report import (
    OUTPUT,
    ContrastPower,
    _planned_cases,
    planned_power,
    power_lines,
    write_power,
)
from moot.core.artifacts import describe, read_cases, write_rows
from moot.core.errors import UserError
from moot.core.schemas import SCHEMAS
from moot.plan.plan import Plan
from moot.scores.contrasts import Side
from moot.stats.power import Goal, Spread
from results_on_disk import prediction

CASES, REPEATS = 40, 2
CONTRAST = {"first": "one/good", "second": "one/poor"}
ADVICE = "better: both sides debated fewer than 10 cases, and not all; run a pilot"


def make_plan(**keys: Any) -> Plan:
    entry = {
        "protocol": "zero_shot",
        "dataset": "people",
        "models": ["good", "poor"],
        "cases": CASES,
        "repeats": REPEATS,
    }
    server = {"base_url": "http://nowhere.invalid"}
    return Plan.from_yaml(
        {
            **configuration("http://nowhere.invalid", Path(), {}),
            "run": [],
            "models": {name: {"model": name, **server} for name in ("good", "poor")},
            "experiments": {"one": entry},
            "contrasts": {"better": CONTRAST},
            "power": {"difference": 0.2},
            **keys,
        },
        PROJECT,
    )


def hold_debates() -> dict[str, np.ndarray]:
    """Write debates of both models, and return which are right, shape (cases, repeats)."""
    cases, _ = read_cases(people(Path("results/cases/people.parquet"), 100))
    random, right_share = np.random.default_rng(3), {}
    for model, competence in (("good", 0.85), ("poor", 0.6)):
        right_share[model] = random.random((CASES, REPEATS)) < competence
        rows = []
        for number, repeat in itertools.product(range(CASES), range(REPEATS)):
            target = cases[number].target
            wrong_share = next(label for label in cases[number].labels if label != target)
            answer = target if right_share[model][number, repeat] else wrong_share
            row = prediction(cases[number].case_id, target, answer, repeat=repeat)
            about = {"experiment": "one", "model": model}
            rows.append({**dict.fromkeys(SCHEMAS["predictions"].names), **about, **row})
        path = Path(f"results/predictions/one/{model}.parquet")
        write_rows(path, "predictions", rows, describe("one"))
    return right_share


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_power_is_computed_from_an_assumption_until_there_are_debates() -> None:
    plan = make_plan()
    with pytest.raises(UserError, match=ADVICE):
        write_power(plan)
    people(Path("results/cases/people.parquet"), 100)
    summary = write_power(plan)
    assert "by assumption: one side alone is right on 30% of the cases): 40 cases x 2" in summary
    row = pd.read_csv(OUTPUT).iloc[0]
    assert (row["variances from"], row["cases x 1"]) == ("assumption", 61)
    with pytest.raises(UserError, match=ADVICE):
        write_power(make_plan(contrasts={"better": CONTRAST | {"metric": "f1"}}))


def test_debates_give_the_variances_between_and_within_cases() -> None:
    right_share = hold_debates()
    plan = make_plan()
    [power], _ = planned_power(plan)
    means = right_share["good"].mean(axis=1) - right_share["poor"].mean(axis=1)
    within_variance = [side.var(axis=1, ddof=1).mean() for side in right_share.values()]
    assert list(power.spread.within) == pytest.approx(within_variance)
    expected = means.var(ddof=1) - sum(within_variance) / REPEATS
    assert power.spread.between_variance == pytest.approx((max(0, expected),))
    assert (power.cases, power.repeats, power.available) == ((CASES,), (REPEATS, REPEATS), 100)
    assert "better (accuracy, by the debates of 40 cases): 40 cases x 2" in write_power(plan)
    row = pd.read_csv(OUTPUT).iloc[0]
    assert row["cases x 1"] > row["cases x 3"]
    summary = write_power(make_plan(power={"difference": 0.01}))
    assert "the data set has 100." in summary
    assert pd.read_csv(OUTPUT).iloc[0]["cases x 1"] > 1000


def test_groups_have_their_own_counts() -> None:
    frame = pd.DataFrame({"split": ["test"] * 5, "attributes": [{"sex": sex} for sex in "ffmmm"]})
    plan, results = make_plan(), SimpleNamespace(cases=frame)
    assert _planned_cases(plan, Side("one", ("good",), "accuracy"), results) == (CASES, 5)
    women = Side("one", ("good",), "accuracy", {"sex": "f"})
    assert _planned_cases(plan, women, results) == (round(CASES * 0.4), 2)


def test_one_case_shows_nothing() -> None:
    spread = Spread((0.2,), (0.1, 0.1), cases=(1,))
    power = ContrastPower(make_plan().contrasts[0], "debates", spread, (1,), 1, (20, 20), Goal())
    first, second = power_lines([power], 0.1)
    assert first.endswith("1 cases x 20 show no difference at 80% power.")
    assert second.endswith("the data set has 1.")


def test_a_configuration_without_contrasts_is_reported() -> None:
    with refusal():
        write_power(make_plan(contrasts={}))
