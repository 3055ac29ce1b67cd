"""A plan frozen before the run: never overwritten, compared in words, and dated at the freeze alone."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration, people
from moot.core.errors import UserError
from moot.stages.digests import frozen_files
from moot.stages.freezing import NOT_FROZEN, compare_with_frozen, freeze
from moot.stages.plan import Plan

BEFORE, LATER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2026, 2, 3, tzinfo=UTC)
EXPERIMENT = {"protocol": "zero_shot", "dataset": "people", "models": ["m"], "cases": 10}
OTHER = {"protocol": "cot", "dataset": "people", "models": ["m"], "cases": 10}
RESULTS = Path("results")
CONTRAST = {"first": "planned", "second": "other"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people(tmp_path / "results" / "cases" / "people.parquet", 40)
    return tmp_path


def plan_of(change: dict[str, Any] | None = None, **keys: Any) -> Plan:
    raw = configuration("http://nowhere.invalid", Path(), {})
    raw["models"] = {"m": {"model": "m", "base_url": "http://nowhere.invalid", **keys.pop("model", {})}}
    raw["experiments"] = {"planned": EXPERIMENT | (change or {}), "other": OTHER}
    return Plan.from_yaml({**raw, "contrasts": {"main": CONTRAST}, "run": [], **keys}, PROJECT)


def test_a_freeze_is_never_overwritten_and_a_second_goes_beside_it(folder: Path) -> None:
    said = freeze(plan_of(), RESULTS, BEFORE)
    assert "Frozen at 2026-01-02T03:04:05+00:00: data/frozen/plan-1.json" in said
    assert "main: planned against other, accuracy, differ" in said and "planned: 10 cases" in said
    first = Path("data/frozen/plan-1.json").read_bytes()
    assert "frozen already, since 2026-01-02" in freeze(plan_of(), RESULTS, LATER)
    assert len(frozen_files()) == 1
    again = freeze(plan_of({"cases": 12}), RESULTS, LATER)
    assert "It differs from the plan frozen at 2026-01-02T03:04:05+00:00" in again
    assert "  experiment planned, cases: frozen 10, now 12" in again
    assert [path.name for path in frozen_files()] == ["plan-1.json", "plan-2.json"]
    assert Path("data/frozen/plan-1.json").read_bytes() == first


def test_the_report_says_whether_the_run_is_the_plan_and_what_differs(folder: Path) -> None:
    assert compare_with_frozen(plan_of(), RESULTS, None) == NOT_FROZEN
    freeze(plan_of(), RESULTS, BEFORE)
    path = frozen_files()[-1]
    same = compare_with_frozen(plan_of(), RESULTS, path, "courtroom")
    assert same.startswith(
        "This run is the plan that was frozen at 2026-01-02T03:04:05+00:00 (data/frozen/plan-1.json)"
    )
    changes = [
        (plan_of({"repeats": 3}), "experiment planned, repeats: frozen 1, now 3"),
        (plan_of({"params": {"temperature": 0.1}}), "experiment planned, params.temperature: frozen"),
        (plan_of(seed=8), "seed: frozen"),
        (plan_of(seed=8), "cases of planned: others (frozen 10, now 10)"),
        (plan_of(model={"temperature": 0.4}), "model m, temperature: frozen none, now 0.4"),
        (plan_of(contrasts={"main": {**CONTRAST, "metric": "f1"}}), "contrast main, metric: frozen accuracy, now f1"),
        (plan_of(contrasts={"main": CONTRAST, "new": {**CONTRAST, "metric": "f1"}}), "contrast new: added"),
        (plan_of(contrasts={"new": CONTRAST}), "contrast main: not in this run"),
    ]
    for plan, words in changes:
        said = compare_with_frozen(plan, RESULTS, path)
        assert said.startswith("This run is not the plan") and words in said, (words, said)
    assert compare_with_frozen(plan_of(rehearsal=True), RESULTS, path) == ""


def test_prompts_and_cases_that_change_are_named(folder: Path) -> None:
    freeze(plan_of(), RESULTS, BEFORE)
    path = frozen_files()[-1]
    own = folder / "config" / "prompts" / "prompting"
    own.mkdir(parents=True)
    template = next((PROJECT / "config" / "prompts" / "prompting").glob("zero_shot*.jinja"))
    (own / template.name).write_text(template.read_text() + "Think.\n")
    people(folder / "results" / "cases" / "people.parquet", 60)
    said = compare_with_frozen(plan_of(), RESULTS, path)
    assert "prompts of planned: another wording" in said and "prompts of other" not in said
    assert "cases of planned: others (frozen 10, now 10)" in said


def test_a_plan_frozen_after_debates_says_so(folder: Path) -> None:
    file = folder / "results" / "predictions" / "other" / "m.parquet"
    file.parent.mkdir(parents=True)
    file.touch()
    assert "Results stand already of other/m" in freeze(plan_of(), RESULTS, BEFORE)
    said = compare_with_frozen(plan_of(), RESULTS, frozen_files()[-1])
    assert "when the ledger held 0 replies and results of other/m stood already" in said


def test_nothing_to_freeze_and_a_broken_file_are_said(folder: Path) -> None:
    with pytest.raises(UserError, match="no contrast of the configuration can be tested in this run"):
        freeze(plan_of(contrasts={}), RESULTS, BEFORE)
    with pytest.raises(UserError, match="main: other is not part of this run"):
        freeze(plan_of(run=["planned"]), RESULTS, BEFORE)
    Path("data/frozen").mkdir(parents=True)
    Path("data/frozen/plan-1.json").write_text(json.dumps({"plan": {}}))
    with pytest.raises(UserError, match=r"plan-1.json: not a frozen plan \(KeyError: 'existing'\)"):
        compare_with_frozen(plan_of(), RESULTS, frozen_files()[-1])
