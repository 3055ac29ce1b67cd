"""Several jobs and runs that call one model, on SQLite and on PostgreSQL, keep its limits together.

Slow: only this test detects limits that several processes exceed together.
"""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from copy import copy
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from courtroom_runs import configuration, hold, people, start_job
from fault_server import FaultServer
from moot.core.artifacts import read_cases
from moot.core.cases import shard_number
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.llm.ledger.ledger import Ledger
from moot.llm.limits import Pace
from moot.plan.plan import Plan
from patience import PATIENCE
from postgres_server import postgres_server

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
CALLS = 16
"""Of one debate."""


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A ledger that holds nothing, or nothing that these tests ask for: each names its model
    otherwise.
    """
    return (
        str(tmp_path / "ledger")
        if request.param == "sqlite"
        else str(request.getfixturevalue("postgres"))
    )


class Jobs:
    """Jobs that hold the debates of one shard each, with one model."""

    def __init__(
        self,
        server: FaultServer,
        ledger: str,
        folder: Path,
        debates: int,
        shards: int = 0,
        **model: Any,
    ) -> None:
        self.count, self.folder = shards or int(model["jobs"]), folder
        model = {"served_as": folder.name, **model}  # so that one database serves many tests
        self.config = {
            **configuration(server.url, folder, model, shards=self.count),
            "ledger": ledger,
        }
        self.cases = people(folder / "cases.parquet", debates)

    def start(self, shard: int) -> BaseProcess:
        return start_job(self.config, self.cases, self.folder / f"{shard}.parquet", 10.0, shard)

    def with_model(self, **changed: Any) -> "Jobs":
        """The same, as a run of its own whose configuration says otherwise."""
        changed_jobs = copy(self)
        models = {name: {**entry, **changed} for name, entry in self.config["models"].items()}
        changed_jobs.config = {**self.config, "models": models}
        return changed_jobs

    def run(self) -> None:
        self.wait([self.start(shard) for shard in range(self.count)])

    def wait(self, jobs: list[BaseProcess]) -> None:
        for job in jobs:
            job.join(PATIENCE)
        assert [job.exitcode for job in jobs] == [0] * len(jobs), (
            self.folder / "0.parquet.err"
        ).read_text()[-3000:]


def kill(jobs: list[BaseProcess], server: FaultServer) -> None:
    for job in jobs:
        assert job.pid
        os.killpg(job.pid, signal.SIGKILL)
    server.reset(faults=[])


def test_calls_under_way_at_once(server: FaultServer, ledger: str, tmp_path: Path) -> None:
    server.reset(latency=0.15)
    Jobs(server, ledger, tmp_path, 12, jobs=4, concurrency=7).run()
    stats = server.stats()
    assert stats["requests"] == 12 * CALLS
    assert stats["peak"] == 7


def test_separate_runs_share_one_limit(server: FaultServer, ledger: str, tmp_path: Path) -> None:
    """The first is alone and has every call; the second comes later."""
    server.reset(latency=0.15)
    runs = Jobs(server, ledger, tmp_path, 12, shards=2, concurrency=5)
    first = runs.start(0)
    server.wait_for(5)
    runs.wait([first, runs.start(1)])
    assert server.stats()["requests"] == 12 * CALLS
    assert server.stats()["peak"] == 5


def test_the_lower_of_two_limits_counts(server: FaultServer, ledger: str, tmp_path: Path) -> None:
    server.reset(faults=["hang"], rate=1.0)
    runs = Jobs(server, ledger, tmp_path, 8, shards=2, concurrency=3, timeout=600)
    first = runs.start(0)
    server.wait_for(3)
    second = runs.with_model(concurrency=9).start(1)
    with pytest.raises(TimeoutError):
        server.wait_for(4, 3)
    kill([first, second], server)


def test_more_runs_than_calls_take_turns(server: FaultServer, ledger: str, tmp_path: Path) -> None:
    server.reset(latency=0.05)
    runs = Jobs(server, ledger, tmp_path, 10, shards=5, concurrency=1)
    cases_per_shard = Counter(shard_number(case.case_id, 5) for case in read_cases(runs.cases)[0])
    (largest_shard, _), *_, (smallest_shard, _) = cases_per_shard.most_common()
    first = runs.start(largest_shard)
    server.wait_for(1)
    second = runs.start(smallest_shard)
    runs.wait([first, second])
    assert server.stats()["peak"] == 1


def test_limits_that_are_switched_off_are_of_each_run(
    server: FaultServer, ledger: str, tmp_path: Path
) -> None:
    server.reset(faults=["hang"], rate=1.0)
    runs = Jobs(
        server, ledger, tmp_path, 12, shards=2, concurrency=3, share_limits=False, timeout=600
    )
    processes = [runs.start(shard) for shard in range(2)]
    server.wait_for(6)
    kill(processes, server)


def test_sharing_limits_needs_no_statement_per_call(
    server: FaultServer, ledger: str, tmp_path: Path
) -> None:
    server.reset(latency=0.0)
    statements: list[str] = []

    def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "model_shares" in statement or "paces" in statement:
            statements.append(statement)

    runs = Jobs(server, ledger, tmp_path, 40, shards=1, concurrency=8)
    sa.event.listen(sa.Engine, "before_cursor_execute", count)
    start_time = time.monotonic()
    try:
        hold(runs.config, runs.cases, tmp_path / "out.parquet")
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", count)
    seconds = time.monotonic() - start_time
    assert server.stats()["requests"] == 40 * CALLS
    assert statements
    assert len(statements) <= 20 + 4 * 4 * seconds, (
        "four in each look, which there are four of in a second"
    )


def test_requests_a_minute(server: FaultServer, ledger: str, tmp_path: Path) -> None:
    server.reset(latency=0.0)
    Jobs(server, ledger, tmp_path, 6, jobs=3, requests_per_minute=1500).run()
    moments = sorted(moment for moment, _ in server.stats()["arrivals"])
    assert len(moments) == 6 * CALLS
    seconds = moments[-1] - moments[0]
    assert seconds > 0.95 * len(moments) / 25
    ends = np.searchsorted(moments, np.array(moments) + 1)
    most_in_a_second = (ends - np.arange(len(moments))).max()
    assert most_in_a_second <= 25 + 8  # late ones pile up


def test_a_wait_requested_from_one_job_delays_all_jobs(
    server: FaultServer, ledger: str, tmp_path: Path
) -> None:
    server.reset(latency=0.25)
    jobs = Jobs(server, ledger, tmp_path, 12, jobs=3, concurrency=6)
    processes = [jobs.start(shard) for shard in range(3)]
    server.wait_for(60)
    server.reset(keep=True, faults=["rate_limited_retry_after"], rate=1.0, retry_after=5.0)
    server.wait_for(server.count() + 1)
    server.reset(keep=True, faults=[])
    jobs.wait(processes)
    stats = server.stats()
    first_refusal = min(moment for moment, kind in stats["arrivals"] if kind)
    assert 0 < stats["faults"]["rate_limited_retry_after"] <= 12
    # a quarter of a second after the refusal, and more on a busy machine
    assert not [
        moment
        for moment, _ in stats["arrivals"]
        if first_refusal + 2.0 < moment < first_refusal + 5.0
    ]
    assert stats["replies"] == 12 * CALLS


def test_the_share_of_a_killed_job_is_free(
    server: FaultServer, ledger: str, tmp_path: Path
) -> None:
    server.reset(faults=["hang"], rate=1.0)
    jobs = Jobs(server, ledger, tmp_path, 8, jobs=2, concurrency=4, timeout=600)
    first = jobs.start(0)
    server.wait_for(4)
    second = jobs.start(1)
    with pytest.raises(TimeoutError):  # the first has all calls that may be under way
        server.wait_for(5, 2)
    assert first.pid and second.pid
    os.killpg(first.pid, signal.SIGKILL)
    server.wait_for(8)
    os.killpg(second.pid, signal.SIGKILL)
    server.reset(faults=[])
    jobs.run()
    assert server.stats()["requests"] == 8 * CALLS


def test_what_a_job_does_not_want_is_the_others(
    server: FaultServer, ledger: str, tmp_path: Path
) -> None:
    """One job has a single debate, so one call at a time; the other has several, and takes the
    rest.
    """
    server.reset(latency=0.15)
    jobs = Jobs(server, ledger, tmp_path, 12, shards=4, jobs=2, concurrency=6)
    cases_per_shard = Counter(shard_number(case.case_id, 4) for case in read_cases(jobs.cases)[0])
    shard_by_count = {count: shard for shard, count in cases_per_shard.items()}
    small_shard, large_shard = shard_by_count[1], shard_by_count[5]
    jobs.wait([jobs.start(small_shard), jobs.start(large_shard)])
    assert server.stats()["requests"] == 6 * CALLS
    assert server.stats()["peak"] == 6


def test_tokens_move_the_next_call_on_by_all_that_they_are() -> None:
    pace, config = Pace(), ModelConfig(model="m", tokens_per_minute=6000)
    assert pace.take(100.0, 1000, config) == (True, 0.0)
    assert pace.take(100.0, 50, config) == (False, 9.5)
    assert pace.take(109.5, 50, config) == (True, 0.5)
    assert pace.take(109.5, 50, config) == (True, 1.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"endpoint": "embedded", "model": "smollm2-135m", "jobs": 2},
            "`jobs` goes with a server's model",
        ),
        ({"jobs": 9, "concurrency": 8}, "needs `concurrency` of at least 9"),
        ({"jobs": 2, "batch": True}, "cannot be combined with `batch`"),
        ({"jobs": 0}, "greater than or equal to 1"),
    ],
)
def test_jobs_that_cannot_share_are_refused(
    model: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        Plan.from_yaml(configuration("http://127.0.0.1:1", tmp_path, model), PROJECT)


def test_as_many_jobs_run_as_are_configured(tmp_path: Path) -> None:
    plan = Plan.from_yaml(configuration("http://127.0.0.1:1", tmp_path, {"jobs": 3}), PROJECT)
    assert plan.jobs_at_once("test", 64) == 3


def test_reading_a_ledger_creates_no_files_next_to_it(tmp_path: Path) -> None:
    Ledger(str(tmp_path)).close()
    assert not (tmp_path / "processes").exists()
