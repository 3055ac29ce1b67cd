"""Test the decision to stop: the reason, the savings, and agreement with the table."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.analyses.stopping.interim import (
    ALL_DEBATED,
    BUDGET,
    SequentialTest,
    all_can_stop,
    measure_progress,
    stage_numbers,
)
from moot.analyses.stopping.sequential import DIFFERENCE_SHOWN, FUTILE, OPEN, SMALLER
from moot.analyses.stopping.tables import stopping_table
from moot.commands.rehearsing import RunMeasurement, report
from moot.core.artifacts import write_frame
from moot.core.cases import choose_cases
from moot.core.config import Config
from moot.core.schemas import SCHEMAS
from moot.overview.tables_contrasts import contrasts
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.contrasts import Contrast, Side, measure
from moot.scores.inference_scope import evaluate_among_valid, evaluate_contrast
from moot.scores.results import ExperimentResults
from results_on_disk import REARREST, case, experiment_view, prediction, write_results

CASES = [
    case(f"c{number:03}", ("no", "yes")[number % 2], topic=f"t{number // 2}")
    for number in range(200)
]
TEST = SequentialTest(
    cases_per_stage=20, difference=0.1, alpha=0.05, futility=True, usd=None, planned_cases=200
)
SIDES = Side("one", ("tiny",), "accuracy"), Side("two", ("tiny",), "accuracy")
CONTRAST = Contrast("main", "", *SIDES, "differ", True, "courtroom", test=TEST)


def results(
    folder: Path, debated_count: int, *patterns: str, task: Any = REARREST, **columns: Any
) -> dict[str, ExperimentResults]:
    """Return results of both sides on the first cases in the order of stages.

    Each pattern repeats: `+` correct, `-` wrong, `i` invalid.
    """
    number = stage_numbers(choose_cases(CASES, 200, 0), task, 20, 0)
    debated = sorted(CASES, key=lambda case: number[case.case_id])[:debated_count]
    words = {
        "+": lambda target: target,
        "-": lambda target: "yes" if target == "no" else "no",
        "i": lambda _: "",
    }
    results_by_name = {}
    for name, pattern in zip(("one", "two"), patterns, strict=True):
        rows = []
        for member, letter in zip(debated, cycle(pattern)):
            label = words[letter](member.target)
            rows.append(prediction(member.case_id, member.target, label, **columns))
        results_by_name[name] = write_results(
            folder, CASES, {"tiny": rows}, task=task, experiment=name, config=experiment_view()
        )
    return results_by_name


@pytest.mark.parametrize(
    ("debated_count", "first", "second", "change", "reason"),
    [
        (20, "+", "-", {}, DIFFERENCE_SHOWN),
        (20, "-", "+", {}, DIFFERENCE_SHOWN),
        (20, "+-", "-+", {}, OPEN),
        (100, "+-++", "-+++", {}, FUTILE),
        (100, "+-++", "-+++", {"futility": False}, OPEN),
        (200, "+-++", "-+++", {}, ALL_DEBATED),
        (100, "+", "+", {}, SMALLER),
        (20, "+-", "-+", {"usd": 3.99}, BUDGET),
        (20, "+-", "-+", {"usd": 4.0}, OPEN),
        (200, "+-++", "-+++", {"usd": 1.0}, ALL_DEBATED),
        (0, "+", "-", {"usd": 0.0}, OPEN),
    ],
)
def test_the_decision_states_its_reason(
    tmp_path: Path, debated_count: int, first: str, second: str, change: dict[str, Any], reason: str
) -> None:
    experiment = results(tmp_path, debated_count, first, second, cost_usd=0.05)
    at = measure_progress(CONTRAST, replace(TEST, **change), experiment)
    assert (at.reason, at.stages, at.planned_stages, at.cases) == (
        reason,
        debated_count // 20,
        10,
        debated_count,
    )
    assert at.usd == pytest.approx(0.1 * debated_count) or (debated_count == 0 and at.usd != at.usd)


def test_the_next_stage_with_cases_must_be_within_the_budget(tmp_path: Path) -> None:
    """One cluster contains all cases but five; the next stage is empty, and these five are in the
    stage after it.
    """
    cases = []
    for number, member in enumerate(CASES):
        topic = member.case_id if number >= len(CASES) - 5 else "t"
        cases.append(replace(member, attributes={"topic": topic}))
    task = replace(REARREST, cluster="topic")
    stage_of = stage_numbers(choose_cases(cases, 200, 0), task, 20, 0)
    debated = [case for case in cases if stage_of[case.case_id] <= stage_of[CASES[0].case_id]]
    assert stage_of[CASES[0].case_id] + 1 not in stage_of.values() and len(debated) < 200
    rows = [prediction(case.case_id, case.target, case.target, cost_usd=0.05) for case in debated]
    results_by_name = {}
    for name in ("one", "two"):
        results_by_name[name] = write_results(
            tmp_path, cases, {"tiny": rows}, task=task, experiment=name, config=experiment_view()
        )
    assert (
        measure_progress(
            CONTRAST, replace(TEST, usd=0.1 * len(debated) + 0.05, futility=False), results_by_name
        ).reason
        == BUDGET
    )


def test_linked_contrasts_stop_when_all_are_decided_or_the_budget_is_spent(tmp_path: Path) -> None:
    experiment = results(tmp_path, 20, "+-", "-+", cost_usd=0.05)
    progress = measure_progress(CONTRAST, TEST, experiment)
    linked = [
        replace(progress, reason=reason)
        for reason in (DIFFERENCE_SHOWN, SMALLER, FUTILE, ALL_DEBATED)
    ]
    assert all_can_stop(linked) and not all_can_stop([*linked, progress])
    assert all_can_stop([progress, replace(progress, reason=BUDGET)])


def test_interval_and_p_of_the_bets_are_wider_than_for_a_fixed_sample(
    tmp_path: Path,
) -> None:
    experiment = results(tmp_path, 60, "+", "++++-")
    early, fixed = measure(CONTRAST, experiment), measure(replace(CONTRAST, test=None), experiment)
    assert early and fixed
    assert (early.first, early.second, early.difference, early.cases) == (
        fixed.first,
        fixed.second,
        fixed.difference,
        60,
    )
    assert early.low < fixed.low < fixed.high < early.high and early.p > fixed.p
    evaluation = evaluate_contrast(CONTRAST, results(tmp_path / "few", 8, "+", "-"))
    assert evaluation and evaluation.population == "cases like these", (
        "few cases do not change the measure"
    )


def test_the_largest_bet_includes_planned_clusters_without_debates(
    tmp_path: Path,
) -> None:
    clustered_task = replace(REARREST, cluster="topic")
    first = results(tmp_path / "a", 60, "+", "++++-", task=REARREST)
    second = results(tmp_path / "b", 60, "+", "++++-", task=clustered_task)
    independent, paired = measure(CONTRAST, first), measure(CONTRAST, second)
    assert independent and paired and paired.clusters == 30 and paired.p > independent.p


def test_the_interval_among_valid_answers_is_also_sequential(tmp_path: Path) -> None:
    experiment = results(tmp_path, 100, "+", "+i-+")
    valid = evaluate_among_valid(CONTRAST, experiment)
    fixed = evaluate_among_valid(replace(CONTRAST, test=None), experiment)
    assert valid and fixed and valid.difference.cases == 75
    assert valid.difference.low < fixed.difference.low


def test_the_tables_show_stops_and_savings(tmp_path: Path) -> None:
    experiment = results(tmp_path, 40, "+", "-", cost_usd=0.05, calls=3)
    study = StudyResults(
        "courtroom",
        experiment,
        no_scores(),
        {},
        pd.DataFrame(),
        contrasts=[CONTRAST, replace(CONTRAST, name="fixed", test=None)],
    )
    content = stopping_table(study)
    (row,) = content.frame.to_dict("records")
    assert (row["contrast"], row["stopped because"], row["stages"], row["planned stages"]) == (
        "main",
        DIFFERENCE_SHOWN,
        2,
        10,
    )
    assert (row["calls"], row["calls not made"]) == (240, 960)
    assert (row["US dollars"], row["US dollars not spent"]) == pytest.approx((4.0, 16.0))
    assert row["cases, fixed, for what was found"] < row["cases, fixed, for what matters"]
    (tmp_path / "results/tables/courtroom").mkdir(parents=True)
    content.frame.to_csv(tmp_path / "results/tables/courtroom/stopping.csv", index=False)
    rehearsed = report(
        tmp_path,
        Config(seed=1, models={}, datasets={}, experiments={}),
        RunMeasurement(1.0, 1.0, 0.1),
    )
    assert (
        "The comparison main stopped after 40 of 200 cases (difference shown), which depends"
        in rehearsed
    )
    contrast_table = contrasts(study)
    assert any("betting confidence sequence" in note for note in contrast_table.notes)
    assert contrast_table.frame.loc[0, "p"] == row["p"] > contrast_table.frame.loc[1, "p"]


def test_the_cost_of_recorded_debates_is_unknown(tmp_path: Path) -> None:
    experiment = results(tmp_path / "results", 40, "+", "-", cost_usd=None, calls=None)
    write_frame(
        tmp_path / "results/calls/one/tiny.parquet",
        "calls",
        SCHEMAS["calls"].empty_table().to_pandas(),
        {"moot_version": ""},
    )
    config = Config(seed=1, models={}, datasets={}, experiments={})
    assert report(tmp_path, config, RunMeasurement(1.0, 1.0, 0.1)), (
        "a rehearsal can include recorded debates"
    )
    study = StudyResults(
        "courtroom", experiment, no_scores(), {}, pd.DataFrame(), contrasts=[CONTRAST]
    )
    (row,) = stopping_table(study).frame.to_dict("records")
    assert (
        pd.isna(row["calls"])
        and pd.isna(row["calls not made"])
        and pd.isna(row["US dollars not spent"])
    )
