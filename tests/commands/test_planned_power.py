"""Test `snakemake power` on simulated debates: variances, power of the plan, and cost."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from courtroom_runs import PROJECT, configuration, people
from moot.commands.planned_power import ContrastPower, _planned_cases, planned_power
from moot.commands.power_report import power_lines, summarise_power, write_power
from moot.commands.preview import preview
from moot.core.artifacts import read_cases, read_frame
from moot.core.errors import UserError
from moot.jobs import debates
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.predictions import write_predictions
from moot.llm.stand_in import StandIn
from moot.plan.plan import Plan
from moot.scores.contrasts import Side
from moot.stats.power import Goal, Spread, cases_needed, paired_proportions
from planted_answers import choose_as_planted

CASES, REPEATS = 40, 2
COMPETENCES = {"good": 0.85, "poor": 0.6}
CONTRAST = {"first": "one/good", "second": "one/poor"}


def make_configuration(**keys: Any) -> dict[str, Any]:
    voice = {"price": {"input": 1.0, "output": 2.0}, "base_url": "http://nowhere.invalid"}
    entry = {
        "protocol": "zero_shot",
        "dataset": "people",
        "models": ["good", "poor"],
        "cases": CASES,
        "repeats": REPEATS,
    }
    base = configuration("http://nowhere.invalid", Path(), {})
    return base | {
        "run": [],
        "models": {
            "good": {"model": "good", **voice},
            "poor": {"model": "poor", **voice},
        },
        "experiments": {"one": entry},
        "contrasts": {"better": CONTRAST},
        "power": {"difference": 0.2},
        **keys,
    }


def hold_debates(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run debates of both models with a stand-in, in `results/` of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    cases = people(Path("results/cases/people.parquet"), 100)
    plan = Plan.from_yaml(make_configuration(rehearsal=True), PROJECT)
    for model in ("good", "poor"):
        shard = Path(f"results/transcripts/one/{model}/0.parquet")

        loaded, task = read_cases(cases)
        choose = choose_as_planted(loaded, 1, competence=COMPETENCES[model], liked=0.0)
        stand_in = StandIn(1, choose=choose)
        monkeypatch.setattr(debates, "stand_in_endpoints", lambda _, to=stand_in: lambda *_: to)
        write_transcripts(plan, Job("one", model, loaded, task, shard=0), [cases], shard)
        outputs = [Path(f"results/{kind}/one/{model}.parquet") for kind in ("predictions", "calls")]
        write_predictions(plan, "one", cases, [shard], *outputs)


def test_power_is_computed_from_a_rehearsal_and_then_from_a_pilot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = Plan.from_yaml(make_configuration(), PROJECT)
    advice = (
        "better: both sides debated fewer than 10 cases, and not all; run `snakemake rehearse`,"
        " or a pilot"
    )
    with pytest.raises(UserError, match=advice):
        write_power(plan)
    assert advice in summarise_power(plan)

    people(Path("results/cases/people.parquet"), 100)
    report = write_power(plan)
    assert (
        "better (accuracy, by assumption: one side alone is right on 30% of the cases): 40 cases x"
        " 2 show" in report
    )
    costs = preview(plan, Path("results")).set_index("experiment").loc["one"]
    debate_usd = (costs["usd"] / costs["debates"]).sum()
    row = pd.read_csv("results/power/power.csv").iloc[0]
    assert (
        row["US dollars"] == pytest.approx(row["cases"] * debate_usd, rel=0.02) and debate_usd > 0
    )
    case_count = cases_needed(0.2, paired_proportions(0.3))
    assert row["cases"] == np.ceil(case_count) == 68
    assert row["variances from"] == "assumption" and pd.isna(row["difference found"])
    f1 = Plan.from_yaml(
        make_configuration(contrasts={"better": CONTRAST | {"metric": "f1"}}), PROJECT
    )
    with pytest.raises(UserError, match=advice):
        write_power(f1)

    hold_debates(tmp_path / "rehearsal", monkeypatch)
    monkeypatch.chdir(tmp_path)
    contrast_power = planned_power(plan)[0][0]
    frames = [
        read_frame(Path(f"rehearsal/results/predictions/one/{model}.parquet"))
        for model in ("good", "poor")
    ]
    graded = [frame.assign(right=frame["prediction"] == frame["target"]) for frame in frames]
    means = [frame.groupby("case_id")["right"].mean() for frame in graded]
    within_variances = [frame.groupby("case_id")["right"].var().mean() for frame in graded]
    assert contrast_power.spread.difference == pytest.approx((means[0] - means[1]).mean())
    assert list(contrast_power.spread.within) == pytest.approx(within_variances)
    assert contrast_power.spread.between_variance == pytest.approx(
        [(means[0] - means[1]).var() - sum(within_variances) / REPEATS]
    )
    assert (
        contrast_power.usd == pytest.approx(sum(frame["cost_usd"].mean() for frame in frames))
        and contrast_power.usd > 0
    )
    assert (contrast_power.cases, contrast_power.repeats, contrast_power.available) == (
        (CASES,),
        (REPEATS, REPEATS),
        (100,),
    )

    report = write_power(plan)
    assert (
        "better (accuracy, by rehearsal (SIMULATED) of 40 cases): 40 cases x 2 show a difference"
        " of 0." in report
    )
    assert " cases x 1, $" in report
    row = pd.read_csv("results/power/power.csv").iloc[0]
    assert (row["voices"], row["planned cases"], row["to show"]) == ("SIMULATED", CASES, 0.2)
    assert row["US dollars"] == pytest.approx(row["cases"] * row["repeats"] * contrast_power.usd)
    assert "SIMULATED" in Path("results/power/power.html").read_text()
    assert Path("results/power/power.png").stat().st_size > 10_000

    hold_debates(tmp_path, monkeypatch)
    assert planned_power(plan)[0][0].source == "pilot"
    write_power(plan)
    assert "voices" not in pd.read_csv("results/power/power.csv")
    assert "by pilot of 40 cases" in summarise_power(plan)


def test_a_difference_that_is_too_small_for_the_data_set_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_debates(tmp_path, monkeypatch)
    report = write_power(Plan.from_yaml(make_configuration(power={"difference": 0.01}), PROJECT))
    assert "the data set has 100." in report
    row = pd.read_csv("results/power/power.csv").iloc[0]
    assert pd.isna(row["cases"]) and row["cases, one repeat"] > 1000


def test_five_cases_show_nothing_and_groups_have_their_own_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"split": ["test"] * 5, "attributes": [{"sex": sex} for sex in "ffmmm"]})
    plan = Plan.from_yaml(make_configuration(), PROJECT)
    results = SimpleNamespace(cases=frame)
    assert _planned_cases(plan, Side("one", ("good",), "accuracy"), results) == (CASES, 5)
    assert _planned_cases(plan, Side("one", ("good",), "accuracy", {"sex": "f"}), results) == (
        round(CASES * 0.4),
        2,
    )
    contrast_power = ContrastPower(
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
    lines = list(power_lines([contrast_power], 0.1, 0.3))
    assert lines[0].endswith("5 cases x 20 show no difference of any size at 80% power.")
    assert lines[1].endswith("the data set has 5.")


def test_sides_of_a_rehearsal_that_hardly_differ_give_no_estimate() -> None:
    contrast = Plan.from_yaml(make_configuration(), PROJECT).contrasts[0]
    spread = Spread(0.0, (0.01,), (np.nan, np.nan), cases=(150,), is_binary=True)
    rehearsal = ContrastPower(
        contrast, "rehearsal (SIMULATED)", spread, (150,), (1, 1), (283,), 0.1, Goal(), Goal()
    )
    assert "hardly differ" in list(power_lines([rehearsal], 0.1, 0.3))[1]
    assert list(power_lines([rehearsal], 0.1, 0.3))[1].endswith(
        "right on 30% of the cases, showing 0.1 would need 255."
    )
    pilot = replace(rehearsal, source="pilot")
    assert " cases x 1, $" in list(power_lines([pilot], 0.1, 0.3))[1]


def test_a_configuration_without_contrasts_is_reported() -> None:
    with pytest.raises(UserError, match="the configuration names none"):
        write_power(Plan.from_yaml(make_configuration(contrasts={}), PROJECT))
    assert summarise_power(Plan.from_yaml(make_configuration(contrasts={}), PROJECT)) == ""
