"""The ledger gives the same guarantees on PostgreSQL, with four processes that write at once.

Slow: only this test detects a difference between PostgreSQL and SQLite with several writing
processes.
"""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from test_ledger import entries

from courtroom_runs import configuration, hold, people, start_job
from fault_server import FaultServer
from moot.core.errors import CallFailedError, UserError
from moot.llm.ledger.ledger import Ledger
from patience import PATIENCE
from postgres_server import down, postgres_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture
def ledger(postgres: str) -> Iterator[Ledger]:
    empty_ledger = Ledger(postgres)
    with empty_ledger._engine.begin() as connection:
        for table in ("calls", "failures", "reservations"):
            connection.exec_driver_sql(f"TRUNCATE {table}")
        connection.exec_driver_sql("UPDATE totals SET calls = 0, tokens = 0, cost_usd = 0")
    yield empty_ledger
    empty_ledger.close()


async def test_the_first_reply_counts(ledger: Ledger) -> None:
    first, second = entries(1, "first \x00 🏛")[0], entries(1, "second")[0]
    assert (await ledger.put(first)).text == "first \x00 🏛"
    assert (await ledger.put(second)).text == "first \x00 🏛"
    assert ledger.read_totals().calls == 1
    await ledger.put_failure("f", CallFailedError("went wrong"))
    await ledger.put_failure("f", CallFailedError("went wrong again"))
    assert str(await ledger.failure("f")) == "went wrong again"


def test_the_place_is_shown_without_its_password(ledger: Ledger) -> None:
    assert "password" not in ledger.place
    assert ledger.place.startswith("postgresql")


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"ledger postgresql.*nowhere.* then run again") as caught:
        Ledger("postgresql://moot:password@/postgres?host=/nowhere")
    assert "password" not in str(caught.value)


def test_four_processes_want_the_same_replies_and_pay_once(
    ledger: Ledger, postgres: str, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 6)
    with FaultServer(latency=0.05) as server:
        config = {**configuration(server.url, tmp_path), "ledger": postgres}
        jobs = [start_job(config, cases, tmp_path / f"{number}.parquet") for number in range(4)]
        for job in jobs:
            job.join(PATIENCE)
        assert [job.exitcode for job in jobs] == [0] * 4, (tmp_path / "0.parquet.err").read_text()[
            -2000:
        ]
        assert ledger.read_totals().calls == server.stats()["requests"] == 6 * 16
    contents = {(tmp_path / f"{number}.parquet").read_bytes() for number in range(4)}
    assert len(contents) == 1


def test_four_processes_share_one_budget(ledger: Ledger, postgres: str, tmp_path: Path) -> None:
    cases = people(
        tmp_path / "cases.parquet", 96
    )  # no shard is done within the budget, however early its job starts
    with FaultServer(latency=0.01) as server:
        config = {
            **configuration(server.url, tmp_path, shards=4, budget={"calls": 77}),
            "ledger": postgres,
        }
        jobs = [
            start_job(config, cases, tmp_path / f"{shard}.parquet", 10.0, shard)
            for shard in range(4)
        ]
        for job in jobs:
            job.join(PATIENCE)
        assert [job.exitcode for job in jobs] == [1] * 4
        assert ledger.read_totals().calls == server.stats()["requests"] == 77


def test_the_calls_of_a_killed_process_are_made_by_another(
    ledger: Ledger, postgres: str, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 6)
    with FaultServer(latency=0.05) as server:
        config = {**configuration(server.url, tmp_path, {"concurrency": 4}), "ledger": postgres}
        jobs = [start_job(config, cases, tmp_path / f"{number}.parquet") for number in range(3)]
        server.wait_for(20)
        assert jobs[0].pid
        os.killpg(jobs[0].pid, signal.SIGKILL)
        for job in jobs:
            job.join(PATIENCE)
        assert [job.exitcode for job in jobs] == [-signal.SIGKILL, 0, 0], (
            tmp_path / "1.parquet.err"
        ).read_text()[-2000:]
        assert 6 * 16 <= server.stats()["requests"] <= 6 * 16 + 4, (
            "again only what the killed one had under way"
        )
    assert ledger.read_totals().calls == 6 * 16


def test_a_crashed_server_ends_the_job_and_the_next_job_continues(
    ledger: Ledger, postgres: str, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 24)
    with FaultServer(latency=0.1) as server:
        config = {**configuration(server.url, tmp_path), "ledger": postgres}
        job = start_job(config, cases, tmp_path / "out.parquet")
        server.wait_for(40)
        with down(postgres):  # a server that is back at once may be missed by no statement
            job.join(PATIENCE)
        assert job.exitcode == 1
        error_lines = (tmp_path / "out.parquet.err").read_text().splitlines()
        assert sum("moot: ledger postgresql" in line for line in error_lines) == 1, error_lines
        assert not any("Traceback" in line for line in error_lines), error_lines
        transcripts = hold(config, cases, tmp_path / "out.parquet")
        assert server.stats()["requests"] <= 24 * 16 + 2 * 16, "again only what was under way"
    assert not transcripts.empty


_END_HOLDERS = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"


async def test_a_lost_connection_frees_its_calls_and_the_process_continues(
    ledger: Ledger, postgres: str
) -> None:
    second_ledger = Ledger(postgres)
    async with ledger.claim("one"):
        waits = asyncio.create_task(second_ledger.claim("one").__aenter__())
        await asyncio.sleep(0.3)
        assert not waits.done()
        with second_ledger.transaction() as connection:
            connection.execute(sa.text(_END_HOLDERS))
        await asyncio.wait_for(waits, PATIENCE)
    async with asyncio.timeout(PATIENCE), ledger.claim("two"):
        pass
    second_ledger.close()
    async with asyncio.timeout(PATIENCE), ledger.claim("one"):
        pass


async def test_a_wave_of_more_calls_than_the_server_has_locks_names_the_setting(
    ledger: Ledger,
) -> None:
    claims = [ledger.claim(f"call {number}") for number in range(20_000)]
    with pytest.raises(UserError, match="max_locks_per_transaction"):
        await asyncio.gather(*(claim.__aenter__() for claim in claims))
