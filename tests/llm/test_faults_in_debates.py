"""Whole experiments with faulty servers: results, failures and the end of a run."""

from pathlib import Path

import pandas as pd
import pytest

from courtroom_runs import configuration, hold, people
from fault_kinds import TRANSIENT
from fault_server import FaultServer
from moot.core.errors import RunStoppedError
from moot.llm.ledger.ledger import Ledger

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
