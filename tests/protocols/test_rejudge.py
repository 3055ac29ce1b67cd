"""A second judge of held debates: in shards and in a preview."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from courtroom_runs import EXPERIMENT, MODEL, configuration, hold, people
from debate_jobs import debate_job
from fault_server import FaultServer
from moot.commands.preview import preview
from moot.jobs.debates import write_transcripts
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
CASES, ROUNDS = 6, 3


def make_configuration(server: FaultServer, folder: Path, **keys: Any) -> dict[str, Any]:
    """Return a configuration of trials and of a second judge of the same trials."""
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
    """Judge the trials again, and return the transcripts of all shards."""
    plan = Plan.from_yaml(config, PROJECT)
    paths = plan.experiments["again"].needed_by("second").items()
    shards = []
    for shard in range(plan.config.shards):
        output = results / "transcripts" / "again" / "second" / f"{shard}.parquet"
        output.parent.mkdir(parents=True, exist_ok=True)
        artifacts = {name: results / path for name, path in paths}
        write_transcripts(
            debate_job(plan, "again", "second", cases, shard, artifacts=artifacts), [], output
        )
        shards.append(pq.read_table(output).to_pandas())
    return pd.concat(shards).sort_values(["debate_id", "turn"], ignore_index=True)


def test_shards_give_the_same_debates_as_one_job(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", CASES)
    unsharded = make_configuration(server, tmp_path)
    hold_trials(unsharded, cases, tmp_path / "whole")
    expected = judge_again(unsharded, cases, tmp_path / "whole")
    request_count = server.count()
    sharded = make_configuration(server, tmp_path, shards=3)
    hold_trials(sharded, cases, tmp_path / "cut")
    assert len(list((tmp_path / "cut" / "transcripts" / EXPERIMENT / MODEL).iterdir())) == 3
    pd.testing.assert_frame_equal(judge_again(sharded, cases, tmp_path / "cut"), expected)
    assert server.count() == request_count, (
        "the ledger answers, however the debates are cut into jobs"
    )
    beliefs = expected[expected["call_id"] != ""]
    assert len(beliefs) == CASES * ROUNDS and set(beliefs["speaker"]) == {"judge"}


def test_a_preview_counts_only_the_judges_calls_and_names_missing_debates(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "results" / "cases" / "people.parquet", CASES)
    config = make_configuration(server, tmp_path, shards=2)
    results = tmp_path / "results"
    request_count = server.count()

    def preview_row() -> "pd.Series[Any]":
        rows = preview(Plan.from_yaml(config, PROJECT), results)
        return rows.set_index("experiment").loc["again"]

    assert f"transcripts/{EXPERIMENT}/{MODEL}/0.parquet" in preview_row()["needs"]
    assert server.count() == request_count
    hold_trials(config, cases, results)
    request_count = server.count()
    assert (preview_row()["calls_to_make"], preview_row()["calls_in_ledger"]) == (CASES * ROUNDS, 0)
    assert server.count() == request_count, "a preview makes no call"
    judge_again(config, cases, results)
    assert (preview_row()["calls_to_make"], preview_row()["calls_in_ledger"]) == (0, CASES * ROUNDS)
