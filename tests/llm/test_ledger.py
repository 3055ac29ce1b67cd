"""The ledger keeps replies through full disks, locks and damage, and reports the fault."""

import asyncio
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa

from courtroom_runs import configuration, hold, people, start_job
from fault_server import FaultServer
from ledger_at_moment import open_at
from messages import refusal
from moot.core import run_signals
from moot.core.errors import RunStoppedError, UserError
from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat, Settings
from moot.llm.ledger import database as ledger_database
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Message, Reply, Request, call_id
from patience import PATIENCE

PROJECT = Path(__file__).resolve().parents[2]


def entries(count: int, text: str = "x", start: int = 0) -> list[Entry]:
    return [
        Entry(f"{n:064d}", "m", '{"n": 1}', 0, Reply(text)) for n in range(start, start + count)
    ]


LONG_TEXT = random.Random(1).randbytes(50_000).hex()
"""A text that compression makes no shorter than half."""


def stored(folder: Path, count: int) -> int:
    ledger = Ledger(str(folder))
    try:
        return len(ledger.replies([entry.call_id for entry in entries(count)]))
    finally:
        ledger.close()


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """What a full disk is like, for this process."""
    previous_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, previous_limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous_limit)


@contextmanager
def unprivileged_user() -> Iterator[None]:
    """Without root's right to write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_the_first_reply_counts_and_comes_back(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    first, second = entries(1, "first")[0], entries(1, "second")[0]
    assert await ledger.get(first.call_id) is None
    assert (await ledger.put(first)).text == "first"
    assert (await ledger.put(second)).text == "first"
    assert (stored_entry := await ledger.get(first.call_id)) is not None
    assert stored_entry.reply.text == "first"
    ledger.close()


async def test_no_caller_waits_forever_after_an_error() -> None:
    def work(items: object) -> list[int]:
        raise RuntimeError("a bug")

    gathered: Batched[int, int] = Batched(work)
    results = await asyncio.wait_for(
        asyncio.gather(*map(gathered, range(5)), return_exceptions=True), PATIENCE
    )
    assert all(isinstance(result, RuntimeError) for result in results)


def test_a_full_disk_ends_with_one_message_and_loses_nothing(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    ledger.store(entries(5))
    with (
        files_no_larger_than(200_000),
        refusal(),
    ):
        ledger.store(entries(50, LONG_TEXT, start=5))
    ledger.close()
    assert stored(tmp_path, 55) == 5
    reopened = Ledger(str(tmp_path))
    reopened.store(entries(50, LONG_TEXT, start=5))
    assert reopened.read_totals().calls == 55
    reopened.close()


def test_a_full_disk_leaves_no_half_written_output(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 30, "A long story. " * 300)
    config = configuration(server.url, tmp_path)
    with files_no_larger_than(1_000_000), refusal():
        hold(config, cases, tmp_path / "out.parquet")
    assert not list(tmp_path.glob("*out.parquet*"))
    ledger = Ledger(config["ledger"])
    call_count, request_count = ledger.read_totals().calls, server.stats()["requests"]
    assert request_count - 16 <= call_count <= request_count < 480, (
        "at most what was under way is lost"
    )
    hold(config, cases, tmp_path / "out.parquet")
    assert server.stats()["requests"] - request_count == 480 - call_count


async def test_replies_that_come_to_a_full_disk_after_the_end_are_named_once(
    server: FaultServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.reset(latency=0.3)
    model = ModelConfig(endpoint="openai", model="test", base_url=server.url)
    with closing(Ledger(str(tmp_path))) as ledger:
        chat = Chat("far", model, ledger, Settings(), Progress("test", 1))
        calls = [
            asyncio.create_task(chat.ask(Request("openai", "test", (Message("user", n),), {}), 0))
            for n in "abcd"
        ]
        await asyncio.to_thread(server.wait_for, 4)
        for task in calls:
            task.cancel()
        with files_no_larger_than(1000):
            await chat.close()
        await asyncio.gather(*calls, return_exceptions=True)
        assert ledger.read_totals().calls == 0
    server.reset(latency=0.0)
    error_messages = [
        record.getMessage() for record in caplog.records if record.levelname == "ERROR"
    ]
    assert len(error_messages) == 1
    assert "model 'far': a reply that was under way is not kept: ledger" in error_messages[0]


def test_an_output_that_cannot_be_written_is_explained(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 2)
    (tmp_path / "out.parquet").mkdir()
    job = start_job(configuration(server.url, tmp_path), cases, tmp_path / "out.parquet")
    job.join(PATIENCE)
    assert job.exitcode == 1
    last = (tmp_path / "out.parquet.log").read_text().splitlines()[-1]
    assert "Is a directory" in last
    assert "run the same command again" in last
    assert not list(tmp_path.glob(".out.parquet*"))


def test_a_ledger_under_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refusal():
        Ledger(str(tmp_path / "file" / "ledger"))


async def test_a_reply_is_found_while_many_wait_to_write(tmp_path: Path) -> None:
    ledger, writer_count = Ledger(str(tmp_path)), 20
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(writer_count))
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        writers = [
            asyncio.create_task(ledger.put_attempt(f"{nth:064x}", 1, 0.0))
            for nth in range(writer_count)
        ]
        while (
            ledger._engine.pool.checkedout() < 15
        ):  # as many as a pool gives unless told otherwise
            await asyncio.sleep(0.01)
        assert await ledger.get(f"{1:064x}") is None
    await asyncio.gather(*writers)
    assert ledger.read_totals().tokens == writer_count
    ledger.close()


def test_a_locked_ledger_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_database, "LOCK_SECONDS", 0.3)
    ledger = Ledger(str(tmp_path))
    holder = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with refusal():
        ledger.store(entries(3))
    assert ledger.replies([]) == {}, "reading goes on"
    holder.execute("COMMIT")
    holder.close()
    ledger.store(entries(3))
    assert ledger.read_totals().calls == 3
    ledger.close()


def test_a_locked_ledger_is_not_waited_for_where_the_process_is_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_database, "STOPPING_SECONDS", 0.0)
    monkeypatch.setattr(run_signals, "_stops", [])
    ledger = Ledger(str(tmp_path))
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with (
            run_signals.act_on_signals(lambda _: None),
            pytest.raises(RunStoppedError, match="stopped by SIGTERM"),
        ):
            os.kill(os.getpid(), signal.SIGTERM)
            ledger.store(entries(3))
    ledger.close()


@pytest.mark.parametrize(("start", "length"), [(0, 16), (44, 4), (100, 8), (4096, 60_000)])
def test_a_damaged_ledger_is_reported_with_the_page_on_recovery_and_not_changed(
    tmp_path: Path, start: int, length: int
) -> None:
    ledger = Ledger(str(tmp_path))
    ledger.store(entries(300, LONG_TEXT[:300]))
    ledger.close()
    file = tmp_path / "ledger.sqlite"
    content = bytearray(file.read_bytes())
    content[start : start + length] = bytes(byte ^ 255 for byte in content[start : start + length])
    file.write_bytes(content)
    with refusal():
        damaged = Ledger(str(tmp_path))
        damaged.replies([entry.call_id for entry in entries(300)])
        damaged.store(entries(1, "more"))
    assert file.read_bytes() == content
    assert "### A damaged ledger" in (PROJECT / "docs" / "running.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("version", "reason", "writable"),
    [(99, "written by a newer moot", True), (3, "written by an earlier moot", False)],
)
def test_a_ledger_of_another_version_is_refused_and_not_changed(
    version: int, reason: str, writable: bool
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ledger.sqlite"
        Ledger(folder).close()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(f"UPDATE meta SET value = '{version}'")
            connection.execute("DROP TABLE totals")
            connection.commit()
        content_before = file.read_bytes()
        for path in () if writable else (file, Path(folder)):
            path.chmod(0o555)
        with (
            nullcontext() if writable else unprivileged_user(),
            pytest.raises(UserError, match=reason),
        ):
            Ledger(folder)
        assert file.read_bytes() == content_before


@pytest.mark.parametrize(
    "url", ["mysql://me:secret@host/db", "nonsense://", "postgresql+nodriver://me:secret@host/db"]
)
def test_an_invalid_ledger_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UserError, match="ledger") as caught:
        Ledger(url)
    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_three_processes_open_one_new_ledger_in_the_same_moment(tmp_path: Path) -> None:
    """Slow: only this test detects processes that make the same tables at once."""
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(time.sleep, [0.2] * 3))  # all three are up
        for number in range(6):
            ledger, moment = str(tmp_path / str(number)), time.time() + 0.02
            list(pool.map(open_at, [ledger] * 3, [moment] * 3))


def test_four_processes_want_the_same_replies_and_pay_once(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 6)
    server.reset(latency=0.05)
    config = configuration(server.url, tmp_path)
    jobs = [start_job(config, cases, tmp_path / f"{number}.parquet") for number in range(4)]
    for job in jobs:
        job.join(PATIENCE)
    assert [job.exitcode for job in jobs] == [0] * 4
    assert server.stats()["requests"] == 6 * 16
    assert len({(tmp_path / f"{number}.parquet").read_bytes() for number in range(4)}) == 1


# Compression


def of_requests(requests: Iterable[str]) -> list[Entry]:
    reply = Reply(
        "YES", created_at="2026-11-22T10:00:00+00:00", finish_reason="stop", prompt_tokens=900
    )
    return [Entry(call_id(request, 0), "m", request, 0, reply) for request in requests]


@pytest.mark.parametrize(
    "text", ["", "\\n\\n", "\n\n", '"]],"', "\ud800 \U0001f3db\n\n\x00" * 30, "x" * 10_000]
)
def test_a_request_comes_back_character_by_character(text: str, tmp_path: Path) -> None:
    request = Request(
        "openai", "m", (Message("user", text), Message("user", text)), {"seed": 1}
    ).to_json()
    odd = [request, text, request + text, text + request]
    ledger = Ledger(str(tmp_path))
    ledger.store(of_requests(odd))
    call_ids = [call_id(odd_request, 0) for odd_request in odd]
    stored_requests = {entry.call_id: entry.request for entry in ledger.entries(call_ids)}
    assert [stored_requests[each_id] for each_id in call_ids] == odd
    assert all(
        entry.request == "" for entry in ledger.entries(list(stored_requests), requests=False)
    )
    ledger.close()


def test_a_failed_transaction_stores_no_entry(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    first = entries(13)
    with pytest.raises(ValueError, match="hexadecimal"):
        ledger.store([*first, replace(first[0], call_id="no digest")])
    assert not ledger.replies([entry.call_id for entry in first])
    ledger.store(first)
    assert len(ledger.replies([entry.call_id for entry in first])) == len(first)
    ledger.close()


def test_a_damaged_reply_is_named(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    (entry,) = entries(1)
    ledger.store([entry])
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE calls SET request = x'00ff'")
    with refusal():
        list(ledger.entries([entry.call_id]))
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE calls SET reply = x'00ff'")
    with refusal():
        ledger.replies([entry.call_id])
    ledger.close()


@pytest.mark.parametrize(
    "cause",
    [
        "locking protocol",
        "database is locked",
        "database or disk is full",
        "attempt to write a readonly database",
        "database disk image is malformed",
        "disk I/O error",
        "unable to open database file",
    ],
)
def test_what_sqlite_says_of_a_folder_gets_a_cause_and_a_remedy(tmp_path: Path, cause: str) -> None:
    """The connection fails as it does on the file system in question."""

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError(cause)

    engine = ledger_database.open_engine(str(tmp_path / "ledger"))
    sa.event.listen(engine, "connect", fail)
    place = str(tmp_path / "ledger")
    with refusal(), ledger_database.explain_errors(lambda: place), engine.connect():
        pass
