"""Debates judged again through the real layers: in shards, under a budget, and previewed before
anything is paid for.
"""

from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from courtroom_runs import EXPERIMENT, MODEL, configuration, hold, people
from fault_server import FaultServer
from moot.commands.preview import preview
from moot.core.artifacts import read_cases
from moot.core.errors import RunStoppedError
from moot.jobs.debates import Job, write_transcripts
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
CASES, ROUNDS = 6, 3


def judged_by(server: FaultServer, folder: Path, **keys: Any) -> dict[str, Any]:
    """Trials of one model, and the same trials before another."""
    config = configuration(server.url, folder, **keys)
    config["models"]["second"] = {**config["models"][MODEL], "model": "second", "concurrency": 1}
    params = {"source_experiment": EXPERIMENT, "source_model": MODEL}
    entry = {"protocol": "rejudge", "dataset": "people", "models": ["second"], "params": params}
    config["experiments"]["again"] = entry
    return config


def hold_trials(config: dict[str, Any], cases: Path, results: Path) -> None:
    for shard in range(config.get("shards", 1)):
        path = results / "transcripts" / EXPERIMENT / MODEL / f"{shard}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        hold(config, cases, path, shard)


def judge_again(config: dict[str, Any], cases: Path, results: Path) -> pd.DataFrame:
    """What the second judge said, all shards below each other."""
    plan = Plan.from_yaml(config, PROJECT)
    needed = plan.experiments["again"].needed_by("second").items()
    said = []
    for shard in range(plan.config.shards):
        output = results / "transcripts" / "again" / "second" / f"{shard}.parquet"
        output.parent.mkdir(parents=True, exist_ok=True)
        artifacts = {name: results / path for name, path in needed}
        write_transcripts(
            plan, Job("again", "second", *read_cases(cases), shard, artifacts=artifacts), [], output
        )
        said.append(pq.read_table(output).to_pandas())
    return pd.concat(said).sort_values(["debate_id", "turn"], ignore_index=True)


def calls_paid(folder: Path) -> int:
    with closing(Ledger(str(folder / "ledger"))) as ledger:
        return ledger.read_totals().calls


def test_shards_hold_each_debate_once_and_say_what_one_job_would(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", CASES)
    whole = judged_by(server, tmp_path)
    hold_trials(whole, cases, tmp_path / "whole")
    once = judge_again(whole, cases, tmp_path / "whole")
    asked = server.count()
    cut = judged_by(server, tmp_path, shards=3)
    hold_trials(cut, cases, tmp_path / "cut")
    assert len(list((tmp_path / "cut" / "transcripts" / EXPERIMENT / MODEL).iterdir())) == 3
    pd.testing.assert_frame_equal(judge_again(cut, cases, tmp_path / "cut"), once)
    assert server.count() == asked, "the ledger answers, however the debates are cut into jobs"
    beliefs = once[once["call_id"] != ""]
    assert len(beliefs) == CASES * ROUNDS and set(beliefs["speaker"]) == {"judge"}


def test_a_preview_counts_the_judges_calls_alone_and_says_what_must_be_held_first(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "results" / "cases" / "people.parquet", CASES)
    config = judged_by(server, tmp_path, shards=2)
    results = tmp_path / "results"
    asked = server.count()

    def again() -> "pd.Series[Any]":
        rows = preview(Plan.from_yaml(config, PROJECT), results)
        return rows.set_index("experiment").loc["again"]

    assert f"transcripts/{EXPERIMENT}/{MODEL}/0.parquet" in again()["needs"]
    assert server.count() == asked
    hold_trials(config, cases, results)
    asked = server.count()
    assert (again()["calls_to_make"], again()["calls_in_ledger"]) == (CASES * ROUNDS, 0)
    assert server.count() == asked, "a preview asks nobody"
    judge_again(config, cases, results)
    assert (again()["calls_to_make"], again()["calls_in_ledger"]) == (0, CASES * ROUNDS)


def test_a_budget_stops_the_judge_and_nothing_paid_for_is_asked_again(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", CASES)
    config = judged_by(server, tmp_path)
    hold_trials(config, cases, tmp_path)
    ledger = calls_paid(tmp_path)
    short = {**config, "budget": {"calls": ledger + 5}}
    with pytest.raises(RunStoppedError, match="budget"):
        judge_again(short, cases, tmp_path)
    assert calls_paid(tmp_path) == ledger + 5
    assert not (tmp_path / "transcripts" / "again" / "second" / "0.parquet").exists()
    enough = {**config, "budget": {"calls": ledger + CASES * ROUNDS}}
    said = judge_again(enough, cases, tmp_path)
    assert (said["call_id"] != "").sum() == CASES * ROUNDS
    assert calls_paid(tmp_path) == ledger + CASES * ROUNDS


def test_turns_are_taken_out_under_a_budget_and_by_preview_as_they_are_counted(
    server: FaultServer, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    cases = people(results / "cases" / "people.parquet", CASES)
    config = judged_by(server, tmp_path)
    options = {"repeats": 2, "debates": 3, "interventions": ["removed"], "ask_decisive_turn": True}
    params = {"source_experiment": EXPERIMENT, "source_model": MODEL, **options}
    config["experiments"]["again"] |= {"protocol": "attribution", "params": params}
    hold_trials(config, cases, results)
    row = preview(Plan.from_yaml(config, PROJECT), results).set_index("experiment").loc["again"]
    most = 3 * (
        1 + 4 + 6 * 2 + 1
    )  # an answer that says what is measured, the whole, each turn, and what is stated
    assert (row["debates"], row["calls_to_make"]) == (3, most)
    held, asked = calls_paid(tmp_path), server.count()
    with pytest.raises(RunStoppedError, match="budget"):
        judge_again({**config, "budget": {"calls": held + 20}}, cases, results)
    assert calls_paid(tmp_path) == held + 20
    said = judge_again(config, cases, results)
    assert calls_paid(tmp_path) == held + most and server.count() == asked + most
    assert said["debate_id"].nunique() == 3 and (said["kind"] == "asked again").sum() == most - 3
    assert (said["kind"] == "conclusion").sum() == 3
