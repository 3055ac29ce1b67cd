"""A PostgreSQL server for one test, in a folder that is deleted with it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


def _programs() -> Path | None:
    """Return the folder of PostgreSQL's own programs: on the path, or where Debian keeps them."""
    program = shutil.which("initdb")
    folders = [Path(program).resolve().parent] if program else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a server that listens on a socket in its folder, and return its URL.

    The test is skipped if PostgreSQL or its client is missing.
    """
    programs = _programs()
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    if programs is None:
        pytest.skip(
            "PostgreSQL's programs (initdb, pg_ctl) are not installed (Debian: apt install"
            " postgresql)"
        )
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    with TemporaryDirectory(prefix="moot-pg-", dir="/tmp") as folder:
        data = Path(folder) / "data"
        if user:
            shutil.chown(folder, user)
        _run(user, programs / "initdb", "-D", data, "-U", "moot", "-A", "trust")
        settings = (
            f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=on"
            " -c max_locks_per_transaction=10"
        )
        _run(
            user,
            programs / "pg_ctl",
            "-D",
            data,
            "-w",
            "-l",
            f"{folder}/log",
            "-o",
            settings,
            "start",
        )
        try:
            yield f"postgresql://moot:password@/postgres?host={folder}"
        finally:
            _run(user, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")


@contextmanager
def down(url: str) -> Iterator[None]:
    """Stop a `postgres_server` as in a crash, and start it again at the end."""
    programs, user = _programs(), "postgres" if os.geteuid() == 0 else None
    assert programs
    folder = url.rpartition("host=")[2]
    _run(user, programs / "pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "-w", "stop")
    try:
        yield
    finally:
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder}"
        _run(
            user,
            programs / "pg_ctl",
            "-D",
            f"{folder}/data",
            "-w",
            "-l",
            f"{folder}/log",
            "-o",
            settings,
            "start",
        )


def _run(user: str | None, *command: str | Path) -> None:
    """Run one of PostgreSQL's programs.

    Its server keeps the output open, so that a pipe would never end.
    """
    subprocess.run(command, user=user, check=True, stdout=subprocess.DEVNULL, cwd="/tmp")
