"""Whole experiments with faulty servers: results, failures and the end of a run."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from courtroom_runs import EXPERIMENT, PROJECT, configuration, hold, people
from fault_kinds import CONTENT, TRANSIENT
from fault_server import FaultServer
from moot.core.errors import RunStoppedError
from moot.jobs.predictions import write_predictions
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("short_pauses")


def test_debates_end_alike_on_a_failing_and_a_healthy_server(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 12)
    server.reset(faults=[], latency=0.0)
    healthy = hold(
        configuration(server.url, tmp_path / "healthy"), cases, tmp_path / "healthy.parquet"
    )
    request_count = server.stats()["requests"]
    transient = [*TRANSIENT, "empty"]
    server.reset(faults=transient, rate=0.3, seed=3, max_faulty_attempts=0, retry_after=0.01)
    config = configuration(server.url, tmp_path / "failing", {"attempts": 12})
    failing = hold(config, cases, tmp_path / "failing.parquet")
    pd.testing.assert_frame_equal(failing, healthy)
    stats = server.stats()
    failures = sum(stats["faults"].values()) - stats["faults"]["out_of_order"]
    assert set(stats["faults"]) == set(transient)
    assert stats["requests"] == request_count + failures
    assert failures > 0.25 * request_count
    ledger = Ledger(config["ledger"])
    ids = [call_id for call_id in failing["call_id"] if call_id]
    assert sum(entry.reply.attempts - 1 for entry in ledger.entries(ids)) == failures
    conclusions = failing[failing["kind"] == "conclusion"]
    assert len(conclusions) == 12
    assert conclusions["prediction"].isin(["yes", "no"]).all()


def test_useless_replies_are_kept_and_do_not_fail_a_shard(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 12)
    server.reset(
        faults=[kind for kind in CONTENT if kind != "empty"],
        rate=0.6,
        seed=5,
        max_faulty_attempts=0,
    )
    config = configuration(server.url, tmp_path)
    transcripts = hold(config, cases, tmp_path / "first.parquet")
    verdicts = transcripts[transcripts["kind"] == "verdict"]
    assert {"strict", "invalid"} <= set(verdicts["parse_status"])
    assert verdicts.loc[verdicts["parse_status"] == "invalid", "prediction"].isna().all()
    request_count = server.stats()["requests"]
    replayed = hold(config, cases, tmp_path / "again.parquet")
    pd.testing.assert_frame_equal(replayed, transcripts)
    assert server.stats()["requests"] == request_count


def test_a_debate_that_fails_leaves_the_others_whole(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 12)
    server.reset(faults=["context_length"], rate=0.05, seed=2, max_faulty_attempts=0)
    config = configuration(server.url, tmp_path)
    transcripts = hold(config, cases, tmp_path / "out.parquet")
    failed = transcripts[transcripts["parse_status"] == "failed"]
    assert len(failed) == server.stats()["faults"]["context_length"] > 0
    assert failed["parsed"].str.contains("maximum context length").all()
    conclusions = transcripts[transcripts["kind"] == "conclusion"]
    assert len(conclusions) == 12
    assert conclusions["prediction"].notna().any()
    outputs = tmp_path / "predictions.parquet", tmp_path / "calls.parquet"
    plan = Plan.from_yaml(config, PROJECT)
    write_predictions(
        plan.config, plan.experiments[EXPERIMENT], cases, [tmp_path / "out.parquet"], *outputs
    )
    troubled = pq.read_table(outputs[0]).to_pandas().set_index("case_id")["retries"]
    assert dict(troubled[troubled > 0]) == dict(failed["case_id"].value_counts())


def test_an_error_ends_the_run_at_once_and_not_in_turn(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 60)
    server.reset(faults=["insufficient_quota"], rate=0.02, seed=4, max_faulty_attempts=0)
    with pytest.raises(RunStoppedError, match="quota"):
        hold(
            configuration(server.url, tmp_path, {"concurrency": 4}), cases, tmp_path / "out.parquet"
        )
    stats = server.stats()
    assert stats["faults"]["insufficient_quota"] <= 4
    assert Ledger(str(tmp_path / "ledger")).read_totals().calls == stats["replies"]
