"""Test the reports of `doctor` on the ledger: network file systems, locks, other databases."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from moot.commands import doctor_ledger
from moot.commands.doctor import STATE_MISSING, STATE_OK, STATE_UNKNOWN, _check_ledger
from moot.commands.doctor_ledger import find_network_file_system
from moot.llm.ledger import database

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
tmpfs /home/ann/scratch tmpfs rw 0 0
//server/share /mnt/my\\040share cifs rw 0 0
ann@host:/data /mnt/far fuse.sshfs rw 0 0
10.0.0.1@tcp:/fs /lustre/project lustre rw 0 0
/dev/vdb /homes ext4 rw 0 0
project /gpfs gpfs rw 0 0
tank/work /tank zfs rw 0 0
damaged line
"""


@pytest.mark.parametrize(
    ("folder", "system"),
    [
        ("/home/ann/run/data/ledger", "nfs4"),
        ("/home/ann/scratch/run", ""),
        ("/homes/ann", ""),
        ("/mnt/my share/run", "cifs"),
        ("/mnt/far", "sshfs"),
        ("/lustre/project/a/b", "lustre"),
        ("/lustre", ""),
        ("/gpfs/run", "gpfs"),
        ("/tank/run", ""),
    ],
)
def test_the_file_system_of_a_folder_is_that_of_the_nearest_mount(folder: str, system: str) -> None:
    assert find_network_file_system(Path(folder), MOUNTS) == system
    assert find_network_file_system(Path(folder), "") == ""


def test_a_local_folder_is_accepted_and_not_changed(tmp_path: Path) -> None:
    for ledger in (tmp_path / "new" / "ledger", tmp_path):
        finding = _check_ledger(str(ledger))
        assert finding.state == STATE_OK and str(ledger) in finding.details
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "cause", ["locking protocol", "disk I/O error", "unable to open database file"]
)
@pytest.mark.parametrize("system", ["", "nfs4"])
def test_a_folder_that_cannot_be_locked_is_missing_with_cause_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: str, system: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise sqlite3.OperationalError(cause)

    monkeypatch.setattr(database, "_prepare_sqlite", refuse)
    monkeypatch.setattr(doctor_ledger, "find_network_file_system", lambda _: system)
    folder = tmp_path / ("long" * 60)
    folder.mkdir()
    finding = _check_ledger(str(folder))
    assert finding.state == STATE_MISSING and cause in finding.details
    is_named = "network file system" in finding.details and "PostgreSQL" in finding.details
    assert is_named == (cause == "locking protocol" or bool(system))


def test_a_network_file_system_is_doubtful_even_if_it_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_ledger, "find_network_file_system", lambda _: "nfs4")
    finding = _check_ledger(str(tmp_path))
    assert finding.state == STATE_UNKNOWN
    assert "(nfs4)" in finding.details and "`ledger`" in finding.details


@pytest.mark.parametrize(
    ("ledger", "message"),
    [
        ("mysql://ann:secret@localhost/moot", "not a supported database"),
        ("postgresql://ann:secret@localhost:9/moot", "ledger"),
    ],
)
def test_another_database_is_asked_without_its_password_in_the_message(
    ledger: str, message: str
) -> None:
    finding = _check_ledger(ledger)
    assert finding.state == STATE_MISSING and message in finding.details
    assert "secret" not in finding.details
