"""The same guarantees on a real PostgreSQL, with four processes writing at once."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from test_ledger import entries

from courtroom_runs import configuration, hold, people, start_job
from fault_server import FaultServer
from moot.core.errors import CallFailedError, RunStoppedError, UserError
from moot.llm.ledger import Ledger, Reservation


def _programs() -> Path | None:
    """The folder of PostgreSQL's own programs: on the path, or where Debian keeps them."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server that listens on a socket in a folder of its own."""
    programs = _programs()
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    if programs is None:
        pytest.skip("PostgreSQL's programs (initdb, pg_ctl) are not installed")
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    with TemporaryDirectory(prefix="moot-pg-", dir="/tmp") as folder:
        data = Path(folder) / "data"
        if user:
            shutil.chown(folder, user)
        _run(user, programs / "initdb", "-D", data, "-U", "moot", "-A", "trust")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=on"
        _run(user, programs / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start")
        try:
            yield f"postgresql://moot:password@/postgres?host={folder}"
        finally:
            _run(user, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _run(user: str | None, *command: str | Path) -> None:
    """Run one of PostgreSQL's programs; its server keeps the output open, so that a pipe would never end."""
    subprocess.run(command, user=user, check=True, stdout=subprocess.DEVNULL, cwd="/tmp")


@pytest.fixture
def ledger(postgres: str) -> Iterator[Ledger]:
    opened = Ledger(postgres)
    with opened._engine.begin() as connection:
        for table in ("replies", "calls", "pieces", "failures", "reservations"):
            connection.exec_driver_sql(f"TRUNCATE {table}")
        connection.exec_driver_sql("UPDATE totals SET calls = 0, tokens = 0, cost_usd = 0")
    yield opened
    opened.close()


async def test_the_first_reply_counts(ledger: Ledger) -> None:
    first, second = entries(1, "first \x00 🏛")[0], entries(1, "second")[0]
    assert (await ledger.put(first)).text == "first \x00 🏛"
    assert (await ledger.put(second)).text == "first \x00 🏛"
    assert ledger.spent().calls == 1
    await ledger.put_failure("f", CallFailedError("went wrong"))
    await ledger.put_failure("f", CallFailedError("went wrong again"))
    assert str(await ledger.failure("f")) == "went wrong again"


def test_the_place_is_shown_without_its_password(ledger: Ledger) -> None:
    assert "password" not in ledger.place
    assert ledger.place.startswith("postgresql")


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"ledger postgresql.*nowhere.* then run again") as refusal:
        Ledger("postgresql://moot:password@/postgres?host=/nowhere")
    assert "password" not in str(refusal.value)


def test_a_budget_is_a_budget(ledger: Ledger) -> None:
    limits = {"calls": 2.0}
    results = ledger._reserve([Reservation(str(n), 1, 0.0, 60.0, limits) for n in range(3)])
    assert [type(result) for result in results] == [type(None), type(None), RunStoppedError]


def test_four_processes_write_at_once(ledger: Ledger, postgres: str, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 24)
    with FaultServer(latency=0.01) as server:
        config = {**configuration(server.url, tmp_path, shards=4), "ledger": postgres}
        jobs = [start_job(config, cases, tmp_path / f"{shard}.parquet", 10.0, shard) for shard in range(4)]
        for job in jobs:
            job.join(90)
        assert [job.exitcode for job in jobs] == [0] * 4, (tmp_path / "0.parquet.err").read_text()[-2000:]
        assert ledger.spent().calls == server.stats()["requests"] == 24 * 16
        replayed = hold({**config, "replay": True}, cases, tmp_path / "replayed.parquet")
        assert server.stats()["requests"] == 24 * 16
    assert (tmp_path / "replayed.parquet").read_bytes() == (tmp_path / "0.parquet").read_bytes()
    assert not replayed.empty


def test_four_processes_want_the_same_replies(ledger: Ledger, postgres: str, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 6)
    with FaultServer(latency=0.01) as server:
        config = {**configuration(server.url, tmp_path), "ledger": postgres}
        jobs = [start_job(config, cases, tmp_path / f"{number}.parquet") for number in range(4)]
        for job in jobs:
            job.join(90)
        assert [job.exitcode for job in jobs] == [0] * 4, (tmp_path / "0.parquet.err").read_text()[-2000:]
    assert ledger.spent().calls == 6 * 16
    contents = {(tmp_path / f"{number}.parquet").read_bytes() for number in range(4)}
    assert len(contents) == 1


def test_four_processes_share_one_budget(ledger: Ledger, postgres: str, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 24)
    with FaultServer(latency=0.01) as server:
        config = {**configuration(server.url, tmp_path, shards=4, budget={"calls": 77}), "ledger": postgres}
        jobs = [start_job(config, cases, tmp_path / f"{shard}.parquet", 10.0, shard) for shard in range(4)]
        for job in jobs:
            job.join(90)
        assert [job.exitcode for job in jobs] == [1] * 4
        assert ledger.spent().calls == server.stats()["requests"] == 77
