"""A ledger that cannot be written returns its replies and reports missing ones.

It belongs to a shared or archived run.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from test_ledger import entries, unprivileged_user

from courtroom_runs import PROJECT, configuration, hold, people
from fault_server import FaultServer
from moot.core.errors import RunStoppedError, UserError
from moot.jobs.standins import PreviewLedger
from moot.llm.ledger.ledger import Ledger

IDS = [entry.call_id for entry in entries(9)]


@pytest.fixture
def archive() -> Iterator[Path]:
    """A ledger's folder in a folder that others may read.

    Pytest takes that right from its own, again and again.
    """
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        (Path(folder) / "archive").mkdir()
        yield Path(folder) / "archive" / "ledger"


def close_off(folder: Path) -> dict[str, bytes]:
    """Take away every right to write; what the folder holds."""
    for path in (*folder.iterdir(), folder, folder.parent):
        path.chmod(0o555)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_debates_of_two_models_are_rebuilt_and_a_missing_reply_is_named(
    server: FaultServer, archive: Path
) -> None:
    folder = archive.parents[1]
    cases = people(folder / "cases.parquet", 6)
    server.reset(faults=["context_length"], rate=0.05, seed=2, max_faulty_attempts=0)
    model: dict[str, Any] = {
        "endpoint": "openai",
        "base_url": server.url,
        "price": {"input": 1.0, "output": 1.0},
    }
    models = {name: {**model, "model": name} for name in ("test", "far")}
    config = configuration(
        server.url, folder, budget={"calls": 96, "usd": 9.0}, ledger=str(archive), models=models
    )
    config["experiments"]["trial"]["params"] = {"seats": {"judge": "far"}}
    recorded = hold(config, cases, folder / "recorded.parquet")
    assert (recorded["parse_status"] == "failed").any()
    recorded_bytes = (folder / "recorded.parquet").read_bytes()
    request_count, state_before = server.count(), close_off(archive)
    with unprivileged_user():
        for replay in (True, False):
            hold({**config, "replay": replay}, cases, folder / f"{replay}.parquet")
        with pytest.raises(
            RunStoppedError,
            match=r"read-only: the ledger .* has no reply .* Copy the ledger to a folder",
        ):
            hold({**config, "seed": 2}, cases, folder / "other.parquet")
    for name in ("True", "False"):
        assert (folder / f"{name}.parquet").read_bytes() == recorded_bytes
    assert server.count() == request_count
    assert contents(archive) == state_before, "nothing is written beside it"


def test_what_a_killed_run_left_in_the_log_is_read(archive: Path) -> None:
    program = (
        "import os, sys; from test_ledger import *; Ledger(sys.argv[1]).store(entries(9));"
        " os.kill(os.getpid(), 9)"
    )
    folders = map(
        str, (PROJECT / "scripts", PROJECT / "tests" / "support", PROJECT / "tests" / "llm")
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    subprocess.run([sys.executable, "-c", program, str(archive)], env=environment, check=False)
    assert (archive / "ledger.sqlite-wal").stat().st_size > 0
    state_before = close_off(archive)
    with unprivileged_user(), closing(Ledger(str(archive))) as ledger:
        assert ledger.read_only
        assert ledger.read_totals().calls == len(ledger.replies(IDS)) == 9
    assert contents(archive) == state_before
    archive.chmod(0o755)
    (archive / "ledger.sqlite-shm").unlink()
    close_off(archive)
    with unprivileged_user(), pytest.raises(UserError, match=r"unable to open .*copy its folder"):
        Ledger(str(archive))


def test_replies_that_another_user_stores_meanwhile_are_read(archive: Path) -> None:
    with closing(Ledger(str(archive))) as writer:
        writer.store(entries(4))
        with unprivileged_user(), closing(Ledger(str(archive))) as reader:
            assert len(reader.replies(IDS)) == 4
            os.seteuid(os.getuid())
            writer.store(entries(9))
            assert len(reader.replies(IDS)) == 9


def test_a_preview_and_a_store(archive: Path) -> None:
    with closing(Ledger(str(archive))) as ledger:
        ledger.store(entries(3))
    close_off(archive)
    with unprivileged_user(), closing(PreviewLedger(str(archive))) as preview:
        preview.store(entries(9))
        assert len(preview.replies(IDS)) == 9
    with (
        unprivileged_user(),
        closing(Ledger(str(archive))) as ledger,
        pytest.raises(UserError, match=r"readonly.* run again"),
    ):
        ledger.store(entries(9))
