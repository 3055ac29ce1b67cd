"""`snakemake power` on simulated debates: what they vary by, what the plan shows, and what a
difference costs.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from courtroom_runs import PROJECT, configuration, people
from moot.commands.planned_power import (
    ContrastPower,
    _planned_cases,
    planned_power,
    power_lines,
    summarise_power,
    write_power,
)
from moot.commands.preview import preview
from moot.core.artifacts import read_cases, read_frame
from moot.core.errors import UserError
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.scores.contrasts import Side
from moot.stats.power import Goal, Spread, cases_needed, paired_proportions

CASES, REPEATS = 40, 2
BETTER = {"first": "one/good", "second": "one/poor"}


def raw(**keys: Any) -> dict[str, Any]:
    voice = {"price": {"input": 1.0, "output": 2.0}, "base_url": "http://nowhere.invalid"}
    entry = {
        "protocol": "zero_shot",
        "dataset": "people",
        "models": ["good", "poor"],
        "cases": CASES,
        "repeats": REPEATS,
    }
    found = configuration("http://nowhere.invalid", Path(), {})
    return found | {
        "run": [],
        "models": {
            "good": {"model": "good", **voice, "simulated": {"competence": 0.85}},
            "poor": {"model": "poor", **voice, "simulated": {"competence": 0.6}},
        },
        "experiments": {"one": entry},
        "contrasts": {"better": BETTER},
        "power": {"difference": 0.2},
        **keys,
    }


def debate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debates of both models by simulated voices, in `results/` of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    cases = people(Path("results/cases/people.parquet"), 100)
    plan = Plan.from_yaml(raw(rehearsal=True), PROJECT)
    for model in ("good", "poor"):
        shard = Path(f"results/transcripts/one/{model}/0.parquet")

        loaded, task = read_cases(cases)
        write_transcripts(plan, Job("one", model, loaded, task, shard=0), [cases], shard)
        outputs = [Path(f"results/{kind}/one/{model}.parquet") for kind in ("predictions", "calls")]
        write_predictions(plan, "one", cases, [shard], *outputs)


def test_a_plan_is_judged_by_its_rehearsal_and_then_by_a_pilot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = Plan.from_yaml(raw(), PROJECT)
    advice = (
        "better: no debates of 10 cases or more by both sides, or of all; run `snakemake rehearse`,"
        " or a pilot"
    )
    with pytest.raises(UserError, match=advice):
        write_power(plan)
    assert advice in summarise_power(plan)

    people(Path("results/cases/people.parquet"), 100)
    said = write_power(plan)
    assert (
        "better (accuracy, by assumption: one side alone is right on 30% of the cases): 40 cases x"
        " 2 show" in said
    )
    priced = preview(plan, Path("results")).set_index("experiment").loc["one"]
    a_debate = (priced["usd"] / priced["debates"]).sum()
    row = pd.read_csv("results/power/power.csv").iloc[0]
    assert row["US dollars"] == pytest.approx(row["cases"] * a_debate, rel=0.02) and a_debate > 0
    needed = cases_needed(0.2, paired_proportions(0.3))
    assert row["cases"] == np.ceil(needed) == 68
    assert row["variances from"] == "assumption" and pd.isna(row["difference found"])
    f1 = Plan.from_yaml(raw(contrasts={"better": BETTER | {"metric": "f1"}}), PROJECT)
    with pytest.raises(UserError, match=advice):
        write_power(f1)

    debate(tmp_path / "rehearsal", monkeypatch)
    monkeypatch.chdir(tmp_path)
    powered = planned_power(plan)[0][0]
    frames = [
        read_frame(Path(f"rehearsal/results/predictions/one/{model}.parquet"))
        for model in ("good", "poor")
    ]
    right = [frame.assign(right=frame["prediction"] == frame["target"]) for frame in frames]
    means = [frame.groupby("case_id")["right"].mean() for frame in right]
    within = [frame.groupby("case_id")["right"].var().mean() for frame in right]
    assert powered.spread.difference == pytest.approx((means[0] - means[1]).mean())
    assert list(powered.spread.within) == pytest.approx(within)
    assert powered.spread.between_variance == pytest.approx(
        [(means[0] - means[1]).var() - sum(within) / REPEATS]
    )
    assert (
        powered.usd == pytest.approx(sum(frame["cost_usd"].mean() for frame in frames))
        and powered.usd > 0
    )
    assert (powered.cases, powered.repeats, powered.available) == (
        (CASES,),
        (REPEATS, REPEATS),
        (100,),
    )

    said = write_power(plan)
    assert (
        "better (accuracy, by rehearsal (SIMULATED) of 40 cases): 40 cases x 2 show a difference"
        " of 0." in said
    )
    assert " cases x 1, $" in said
    row = pd.read_csv("results/power/power.csv").iloc[0]
    assert (row["voices"], row["planned cases"], row["to show"]) == ("SIMULATED", CASES, 0.2)
    assert row["US dollars"] == pytest.approx(row["cases"] * row["repeats"] * powered.usd)
    assert "SIMULATED" in Path("results/power/power.html").read_text()
    assert Path("results/power/power.png").stat().st_size > 10_000

    debate(tmp_path, monkeypatch)
    assert planned_power(plan)[0][0].source == "pilot"
    write_power(plan)
    assert "voices" not in pd.read_csv("results/power/power.csv")
    assert "by pilot of 40 cases" in summarise_power(plan)


def test_what_the_data_set_cannot_show_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debate(tmp_path, monkeypatch)
    said = write_power(Plan.from_yaml(raw(power={"difference": 0.01}), PROJECT))
    assert "the data set has 100." in said
    row = pd.read_csv("results/power/power.csv").iloc[0]
    assert pd.isna(row["cases"]) and row["cases, one repeat"] > 1000


def test_five_cases_show_nothing_and_groups_count_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"split": ["test"] * 5, "attributes": [{"sex": one} for one in "ffmmm"]})
    plan = Plan.from_yaml(raw(), PROJECT)
    results = SimpleNamespace(cases=frame)
    assert _planned_cases(plan, Side("one", ("good",), "accuracy"), results) == (CASES, 5)
    assert _planned_cases(plan, Side("one", ("good",), "accuracy", {"sex": "f"}), results) == (
        round(CASES * 0.4),
        2,
    )
    few = ContrastPower(
        plan.contrasts[0],
        "pilot",
        Spread(0.1, (0.2,), (0.1, 0.1), cases=(5,)),
        (5,),
        (20, 20),
        (5,),
        0.1,
        Goal(),
        Goal(0.025),
    )
    lines = list(power_lines([few], 0.1, 0.3))
    assert lines[0].endswith("5 cases x 20 show no difference, however large at 80% power.")
    assert lines[1].endswith("the data set has 5.")


def test_simulated_voices_that_hardly_differ_are_no_ground_to_plan_on() -> None:
    """At temperature 0 two wordings of a question get the same answers from a simulated voice."""
    contrast = Plan.from_yaml(raw(), PROJECT).contrasts[0]
    alike = Spread(0.0, (0.01,), (np.nan, np.nan), cases=(150,), is_binary=True)
    rehearsed = ContrastPower(
        contrast, "rehearsal (SIMULATED)", alike, (150,), (1, 1), (283,), 0.1, Goal(), Goal()
    )
    assert "hardly differ" in list(power_lines([rehearsed], 0.1, 0.3))[1]
    assert list(power_lines([rehearsed], 0.1, 0.3))[1].endswith(
        "right on 30% of the cases, 0.1 would take 255."
    )
    pilot = replace(rehearsed, source="pilot")
    assert " cases x 1, $" in list(power_lines([pilot], 0.1, 0.3))[1]


def test_nothing_to_plan_for_is_said() -> None:
    with pytest.raises(UserError, match="the configuration names none"):
        write_power(Plan.from_yaml(raw(contrasts={}), PROJECT))
    assert summarise_power(Plan.from_yaml(raw(contrasts={}), PROJECT)) == ""
