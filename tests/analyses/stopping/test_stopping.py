"""Where debates end: the reason, what was not spent, and that an interim analysis decides as the
table says.
"""

from dataclasses import replace
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
from moot.analyses.stopping.sequential import FUTILE, OPEN, SHOWN, SMALLER
from moot.analyses.stopping.tables import stopped
from moot.commands.rehearsing import RunMeasurement, report
from moot.core.artifacts import write_frame
from moot.core.cases import choose_cases
from moot.core.config import Config
from moot.core.schemas import SCHEMAS
from moot.overview.tables_contrasts import contrasts
from moot.report.content import StudyResults
from moot.scores import no_scores
from moot.scores.answers import evaluate_among_valid, evaluate_contrast
from moot.scores.contrasts import Contrast, Side, measure
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
    folder: Path, held: int, *right: str, task: Any = REARREST, **columns: Any
) -> dict[str, ExperimentResults]:
    """Both sides on the first cases of the order of stages;
    `right`: a pattern of right, wrong and invalid answers of each.
    """
    number = stage_numbers(choose_cases(CASES, 200, 0), task, 20, 0)
    debated = sorted(CASES, key=lambda one: number[one.case_id])[:held]
    words = {
        "+": lambda target: target,
        "-": lambda target: "yes" if target == "no" else "no",
        "i": lambda _: "",
    }
    return {
        name: write_results(
            folder, CASES,
            {"tiny": [prediction(one.case_id, one.target, words[pattern[at % len(pattern)]](one.target), **columns) for at, one in enumerate(debated)]},
            task=task, experiment=name, config=experiment_view(),
        )
        for name, pattern in zip(("one", "two"), right, strict=True)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("held", "first", "second", "change", "reason"),
    [
        (20, "+", "-", {}, SHOWN),
        (20, "-", "+", {}, SHOWN),
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
def test_the_reason_to_stop(
    tmp_path: Path, held: int, first: str, second: str, change: dict[str, Any], reason: str
) -> None:
    found = results(tmp_path, held, first, second, cost_usd=0.05)
    at = measure_progress(CONTRAST, replace(TEST, **change), found)
    assert (at.reason, at.stages, at.planned_stages, at.cases) == (reason, held // 20, 10, held)
    assert at.usd == pytest.approx(0.1 * held) or (held == 0 and at.usd != at.usd)


def test_the_next_stage_that_has_cases_must_be_within_the_budget(tmp_path: Path) -> None:
    """One cluster of all cases but five, of which the stage after it has none: these five are of
    the stage after that.
    """
    large = {one.case_id for one in CASES[:-5]}
    cases = [
        replace(one, attributes={"topic": "t" if one.case_id in large else one.case_id})
        for one in CASES
    ]
    task = replace(REARREST, cluster="topic")
    stage_of = stage_numbers(choose_cases(cases, 200, 0), task, 20, 0)
    held = [one for one in cases if stage_of[one.case_id] <= stage_of[CASES[0].case_id]]
    assert stage_of[CASES[0].case_id] + 1 not in stage_of.values() and len(held) < 200
    rows = [prediction(one.case_id, one.target, one.target, cost_usd=0.05) for one in held]
    found = {
        name: write_results(
            tmp_path, cases, {"tiny": rows}, task=task, experiment=name, config=experiment_view()
        )
        for name in ("one", "two")
    }
    assert (
        measure_progress(
            CONTRAST, replace(TEST, usd=0.1 * len(held) + 0.05, futility=False), found
        ).reason
        == BUDGET
    )


def test_linked_contrasts_stop_when_each_is_decided_or_the_money_is_gone(tmp_path: Path) -> None:
    found = results(tmp_path, 20, "+-", "-+", cost_usd=0.05)
    here = measure_progress(CONTRAST, TEST, found)
    others = [replace(here, reason=reason) for reason in (SHOWN, SMALLER, FUTILE, ALL_DEBATED)]
    assert all_can_stop(others) and not all_can_stop([*others, here])
    assert all_can_stop([here, replace(here, reason=BUDGET)])


def test_interval_and_p_are_those_of_the_bets_and_wider_than_of_a_fixed_number(
    tmp_path: Path,
) -> None:
    found = results(tmp_path, 60, "+", "++++-")
    early, fixed = measure(CONTRAST, found), measure(replace(CONTRAST, test=None), found)
    assert early and fixed
    assert (early.first, early.second, early.difference, early.cases) == (
        fixed.first,
        fixed.second,
        fixed.difference,
        60,
    )
    assert early.low < fixed.low < fixed.high < early.high and early.p > fixed.p
    given = evaluate_contrast(CONTRAST, results(tmp_path / "few", 8, "+", "-"))
    assert given and given.population == "cases like these", (
        "few cases are no reason to ask another question"
    )


def test_a_cluster_that_was_planned_and_not_debated_counts_for_the_largest_bet(
    tmp_path: Path,
) -> None:
    together = replace(REARREST, cluster="topic")
    alone, paired = (
        measure(CONTRAST, results(tmp_path / name, 60, "+", "++++-", task=task))
        for name, task in (("a", REARREST), ("b", together))
    )
    assert alone and paired and paired.clusters == 30 and paired.p > alone.p


def test_among_valid_answers_the_interval_is_of_bets_too(tmp_path: Path) -> None:
    found = results(tmp_path, 100, "+", "+i-+")
    valid = evaluate_among_valid(CONTRAST, found)
    fixed = evaluate_among_valid(replace(CONTRAST, test=None), found)
    assert valid and fixed and valid.difference.cases == 75
    assert valid.difference.low < fixed.difference.low


def test_the_tables_say_where_it_stopped_and_what_was_spared(tmp_path: Path) -> None:
    found = results(tmp_path, 40, "+", "-", cost_usd=0.05, calls=3)
    study = StudyResults(
        "courtroom",
        found,
        no_scores(),
        {},
        pd.DataFrame(),
        contrasts=[CONTRAST, replace(CONTRAST, name="fixed", test=None)],
    )
    content = stopped(study)
    (row,) = content.frame.to_dict("records")
    assert (row["contrast"], row["stopped because"], row["stages"], row["planned stages"]) == (
        "main",
        SHOWN,
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
        "The comparison main stopped after 40 of 200 cases (difference shown), which rests on"
        in rehearsed
    )
    planned = contrasts(study)
    assert any("betting confidence sequence" in note for note in planned.notes)
    assert planned.frame.loc[0, "p"] == row["p"] > planned.frame.loc[1, "p"]


def test_what_recorded_debates_took_is_not_known(tmp_path: Path) -> None:
    found = results(tmp_path / "results", 40, "+", "-", cost_usd=None, calls=None)
    write_frame(
        tmp_path / "results/calls/one/tiny.parquet",
        "calls",
        SCHEMAS["calls"].empty_table().to_pandas(),
        {"moot_version": ""},
    )
    config = Config(seed=1, models={}, datasets={}, experiments={})
    assert report(tmp_path, config, RunMeasurement(1.0, 1.0, 0.1)), (
        "a rehearsal may hold recorded debates"
    )
    study = StudyResults("courtroom", found, no_scores(), {}, pd.DataFrame(), contrasts=[CONTRAST])
    (row,) = stopped(study).frame.to_dict("records")
    assert (
        pd.isna(row["calls"])
        and pd.isna(row["calls not made"])
        and pd.isna(row["US dollars not spent"])
    )
