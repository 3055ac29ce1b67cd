"""Test how a plan differs from a frozen one, in words."""

import re
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, people
from messages import refusal
from moot.commands.freezing import freeze
from moot.core.types import JsonObject
from moot.jobs.frozen_plans import (
    ANALYSIS_DIGEST,
    NOT_FROZEN,
    FrozenPlan,
    compare_with_frozen,
    differences,
)
from moot.plan.plan import Plan
from moot.workflow.user_files import frozen_files
from planned_contrasts import CONTRAST, FIRST_FREEZE, RESULTS, make_plan

REJUDGED = {"source_experiment": "other", "source_model": "m"}


@pytest.fixture(autouse=True)
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people(tmp_path / "results" / "cases" / "people.parquet", 40)
    return tmp_path


def compare(plan: Plan, study: str | None = None) -> str:
    return "\n".join(compare_with_frozen(plan, RESULTS, study))


def test_the_report_lists_the_differences_of_a_run_from_its_plan(project_folder: Path) -> None:
    assert compare_with_frozen(make_plan(), RESULTS) == (NOT_FROZEN,)
    freeze(make_plan(), RESULTS, FIRST_FREEZE)
    assert compare_with_frozen(make_plan(), RESULTS, "courtroom") == (
        (
            "This run is the plan that was frozen last, at 2026-01-02T03:04:05+00:00"
            " (data/frozen/plan-1.yaml), when the ledger held 0 replies."
        ),
    )
    seeded = compare(make_plan(seed=8))
    assert "; seed: frozen 1, now 8. Unexplained" in seeded
    assert "experiment planned, digest of cases: frozen" in seeded
    changes = [
        (make_plan({"repeats": 3}), "experiment planned, repeats: frozen 1, now 3"),
        (
            make_plan({"params": {"temperature": 0.1}}),
            "experiment planned, params.temperature: frozen 0.0, now 0.1",
        ),
        (
            make_plan(run=["planned"]),
            "contrast main: left out; experiment other: left out; experiment planned: left out;"
            " model m: left out",
        ),
        (make_plan(model={"temperature": 0.4}), "model m, temperature: frozen none, now 0.4"),
        (
            make_plan(contrasts={"main": {**CONTRAST, "metric": "f1"}}),
            "contrast main, metric: frozen accuracy, now f1",
        ),
        (
            make_plan(contrasts={"main": CONTRAST, "new": {**CONTRAST, "metric": "f1"}}),
            "contrast new: added",
        ),
        (make_plan(contrasts={"new": CONTRAST}), "contrast new: added; contrast main: left out"),
    ]
    for plan, words in changes:
        comparison = compare(plan)
        assert comparison.startswith("This run is not the plan that was frozen last, at 2026-01-02")
        end = f" It differs: {words}. Unexplained: `deviation` gives no reason."
        assert comparison.endswith(f"when the ledger held 0 replies.{end}"), comparison
        assert compare(plan, "stance").startswith("This run is the plan"), "it has no contrast"
    assert compare_with_frozen(make_plan(rehearsal=True), RESULTS) == ()
    Path("data/frozen/plan-1.yaml").write_text('{"plan": {}}')
    with refusal():
        compare_with_frozen(make_plan(), RESULTS)


def test_earlier_plans_and_one_that_was_edited_are_reported(project_folder: Path) -> None:
    freeze(make_plan({"cases": 12}), RESULTS, FIRST_FREEZE)
    freeze(make_plan(), RESULTS, FIRST_FREEZE)
    file = frozen_files()[1]
    assert compare(make_plan()).splitlines()[1:] == ["Earlier plans: 1, in data/frozen."]
    file.write_text(file.read_text().replace("2026-01-02", "2025-01-02"))
    edited = "data/frozen/plan-2.yaml was changed by hand after it was frozen."
    assert compare(make_plan()).splitlines()[2:] == [edited]


def test_a_deviation_has_a_reason_or_is_called_unexplained(project_folder: Path) -> None:
    freeze(make_plan(), RESULTS, FIRST_FREEZE)
    assert "Unexplained" not in compare(make_plan())
    assert "Unexplained: `deviation` gives no reason." in compare(make_plan({"cases": 12}))
    reason = "The server was closed."
    assert f"Reason given: {reason}" in compare(make_plan({"cases": 12}, deviation=reason))
    assert reason not in compare(make_plan(deviation=reason)), (
        "a run without deviation needs no reason"
    )


@pytest.mark.parametrize(
    ("template", "change", "changed"),
    [
        ("zero_shot", {}, ["planned"]),
        ("cot", {"protocol": "rejudge", "params": REJUDGED}, ["other", "planned"]),
    ],
)
def test_changed_prompts_and_cases_are_named(
    template: str, change: dict[str, Any], changed: list[str], project_folder: Path
) -> None:
    freeze(make_plan(change), RESULTS, FIRST_FREEZE)
    user_folder = project_folder / "config" / "prompts" / "prompting"
    user_folder.mkdir(parents=True)
    shipped = PROJECT / "config" / "prompts" / "prompting" / f"{template}.jinja"
    (user_folder / shipped.name).write_text(shipped.read_text() + "Think.\n")
    people(project_folder / "results" / "cases" / "people.parquet", 60)
    comparison = compare(make_plan(change))
    assert re.findall(r"experiment (\w+), digest of prompts: frozen", comparison) == changed
    assert "experiment planned, digest of cases: frozen" in comparison


def plan(**model: object) -> JsonObject:
    return {
        "contrasts": {},
        "experiments": {},
        "models": {"a": {"temperature": 0, **model}},
        "seed": 1,
        ANALYSIS_DIGEST: "",
    }


def test_a_difference_is_named_by_its_key_and_by_a_whole_entry_that_one_plan_lacks() -> None:
    frozen, present = plan(parameters={"top_p": 1}), plan(parameters={"top_p": 0.5})
    assert list(differences(frozen, frozen)) == []
    assert list(differences(frozen, present)) == [
        "model a, parameters.top_p: frozen 1, now 0.5",
    ]
    assert list(differences(frozen, plan(parameters=None))) == [
        'model a, parameters: frozen {"top_p": 1}, now none',
    ]


@pytest.mark.parametrize(
    ("replies", "counts", "recorded", "words"),
    [
        (0, {"a/m": None}, ["b", "c"], "; the debates of b were recorded earlier"),
        (9, {"a/m": 0, "b/m": 0}, [], ", none of them to calls of this plan's runs"),
        (9, {"a/m": 2, "b/m": 1, "c/m": 4}, [], ", 3 of them to calls of this plan's runs"
         " (2 of a/m, 1 of b/m)"),
        (9, {"a/m": None, "b/m": 0}, [], ", none of them to calls of this plan's runs; calls of a/m"
         " cannot be counted before the debates that they depend on"),
        (9, {"a/m": None}, [], "; calls of a/m cannot be counted before the debates that they"
         " depend on"),
    ],
)  # fmt: skip
def test_the_replies_before_a_plan_are_those_to_the_runs_of_its_study(
    replies: int, counts: dict[str, int | None], recorded: list[str], words: str
) -> None:
    contrasts = {
        "first": {"study": "stance", "first": "a", "second": "b/m"},
        "second": {"study": "feedback", "first": "c", "second": "c"},
    }
    described = {"contrasts": contrasts, "experiments": dict.fromkeys("abc"), "models": {}}
    content = {"replies": replies, "replies_of_runs": counts, "recorded": recorded}
    frozen = FrozenPlan(Path("plan-1.yaml"), 1, {**content, "plan": described}, is_as_written=True)
    assert frozen.replies_before("stance") == f"when the ledger held {replies} replies{words}"


def test_exchanged_sides_of_a_contrast_are_one_difference() -> None:
    sides = {"first": "a", "second": "b", "metric": "f1"}
    exchanged = {"first": "b", "second": "a", "metric": "accuracy"}
    frozen, present = ({**plan(), "contrasts": {"c": entry}} for entry in (sides, exchanged))
    assert list(differences(frozen, present)) == [
        "contrast c: its sides were exchanged",
        "contrast c, metric: frozen f1, now accuracy",
    ]
