"""Test that plans are frozen with what the ledger holds, and never overwritten."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from courtroom_runs import people
from debate_jobs import debate_job
from fault_server import FaultServer
from messages import refusal
from moot.commands.freezing import freeze
from moot.jobs.debates import write_transcripts
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.workflow.user_files import frozen_files
from planned_contrasts import FIRST_FREEZE, RESULTS, make_plan

SECOND_FREEZE = datetime(2026, 2, 3, tzinfo=UTC)


@pytest.fixture(autouse=True)
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people(tmp_path / "results" / "cases" / "people.parquet", 40)
    return tmp_path


def test_a_second_freeze_makes_a_new_file(project_folder: Path) -> None:
    first_report = freeze(make_plan(), RESULTS, FIRST_FREEZE)
    assert "Frozen at 2026-01-02T03:04:05+00:00: data/frozen/plan-1.yaml" in first_report
    assert (
        "main: planned against other, accuracy, differ" in first_report
        and "planned: 10 cases" in first_report
    )
    first = Path("data/frozen/plan-1.yaml").read_bytes()
    assert "frozen already, since 2026-01-02" in freeze(make_plan(), RESULTS, SECOND_FREEZE)
    assert len(frozen_files()) == 1
    second_report = freeze(make_plan({"cases": 12}), RESULTS, SECOND_FREEZE)
    assert "It differs from the plan frozen at 2026-01-02T03:04:05+00:00" in second_report
    assert "  experiment planned, cases: frozen 10, now 12" in second_report
    assert [path.name for path in frozen_files()] == ["plan-1.yaml", "plan-2.yaml"]
    assert Path("data/frozen/plan-1.yaml").read_bytes() == first


def run_debates(plan: Plan) -> None:
    """Run the debates of both experiments and write their predictions."""
    cases = RESULTS / "cases" / "people.parquet"
    for name in ("planned", "other"):
        shard = Path(f"results/transcripts/{name}/m/0.parquet")
        write_transcripts(debate_job(plan, name, "m", cases, shard=0), [cases], shard)
        outputs = (Path(f"results/{kind}/{name}/m.parquet") for kind in ("predictions", "calls"))
        write_predictions(plan.config, plan.experiments[name], cases, [shard], *outputs)


def test_a_plan_changed_after_the_replies_is_reported_even_without_predictions(
    project_folder: Path,
) -> None:
    """Freeze and run, delete the predictions, reverse and drop a contrast, and freeze again."""
    with FaultServer() as server:
        contrast = {"first": "planned", "second": "other", "direction": "first_higher"}
        second_contrast = {"f1": {"first": "planned", "second": "other", "metric": "f1"}}
        keys: dict[str, Any] = {"model": {"base_url": server.url}, "shards": 1}
        freeze(
            make_plan(contrasts={"main": contrast, **second_contrast}, **keys),
            RESULTS,
            FIRST_FREEZE,
        )
        run_debates(make_plan(contrasts={"main": contrast, **second_contrast}, **keys))
        shutil.rmtree("results/predictions")
        shutil.rmtree("results/transcripts")
        reversed_plan = make_plan(
            contrasts={"main": {**contrast, "first": "other", "second": "planned"}}, **keys
        )
        report = freeze(reversed_plan, RESULTS, SECOND_FREEZE)
    ledger_state = (
        "when the ledger held 20 replies, 20 of them to calls of this plan's runs (10 of planned/m,"
        " 10 of other/m)"
    )
    assert f"Frozen at 2026-02-03T00:00:00+00:00: data/frozen/plan-2.yaml, {ledger_state}" in report
    assert "contrast main: its sides were exchanged" in report and "contrast f1: left out" in report
    third_report = freeze(
        make_plan({"params": {"temperature": 0.9}}, **keys), RESULTS, SECOND_FREEZE
    )
    assert (
        "held 20 replies, 10 of them to calls of this plan's runs (10 of other/m)" in third_report
    ), "the ledger has no replies to the changed calls"
    replies = [yaml.safe_load(path.read_text())["replies"] for path in frozen_files()]
    assert replies == [0, 20, 20]


def test_a_plan_without_contrasts_is_reported(project_folder: Path) -> None:
    with refusal():
        freeze(make_plan(contrasts={}), RESULTS, FIRST_FREEZE)
    with refusal():
        freeze(make_plan(run=["planned"]), RESULTS, FIRST_FREEZE)
