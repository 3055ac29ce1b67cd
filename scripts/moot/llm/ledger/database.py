"""The database behind a ledger: SQLite in a folder or PostgreSQL, and what to do when it fails."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import sqlalchemy as sa

from moot.core.errors import UserError
from moot.core.run_signals import seconds_stopping, stop_error
from moot.core.types import Json, JsonObject

Item = TypeVar("Item")
Result = TypeVar("Result")
LOCK_SECONDS, STOPPING_SECONDS = 60.0, 6.0
"""How long to wait for the ledger's lock: in a run, and after this process was told to stop.

The second wait lets a reply that was paid for be stored if the lock becomes free soon."""
_LOOK_SECONDS = 0.5
"""How long SQLite itself waits; signals are not seen during this time."""
AMONG: sa.BindParameter[Json] = sa.bindparam("among", expanding=True)
_RETRY_SECONDS = 0.02
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)
_DAMAGED = (
    "The file is damaged, or is not a ledger. It may hold replies that were paid for: move the"
    " folder away and keep it. `sqlite3 ledger.sqlite .recover` may recover them: see 'A damaged"
    " ledger' in docs/running.md."
)
_REMEDIES = {
    "locked": (
        "Another program has held its write lock for a minute: end that program, then run again."
    ),
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "unsupported file format": _DAMAGED,
    "locking protocol": (
        "The ledger is probably on a network file system, where SQLite cannot lock its file. Name a"
        " local folder or a PostgreSQL database under `ledger`, then run again."
    ),
    "out of shared memory": (
        "PostgreSQL has too few locks for a wave of so many calls: raise its"
        " `max_locks_per_transaction`, or lower `batch.max_calls`, then run again."
    ),
    "full": "Make room on the disk, then run again.",
    "readonly": "Make the folder and the file writable, then run again.",
    "unable to open": (
        "Check that its folder can be read and written, or copy its folder to where it can, then"
        " run again."
    ),
    "": "Check that it can be reached and written and that its disk has room, then run again.",
}
"""Remedies by a word of the database's message."""


def open_engine(ledger: str) -> sa.Engine:
    """Open the database of a ledger: SQLite in a folder, or the database of a URL."""
    if "://" not in ledger:
        folder = Path(ledger)
        folder.mkdir(parents=True, exist_ok=True)
        ledger = f"sqlite:///{folder / 'ledger.sqlite'}"
    try:
        url = sa.make_url(ledger)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            raise UserError(
                f"ledger: '{url.drivername}' is not a supported database; use a folder or"
                " PostgreSQL."
            )
        is_sqlite = url.get_backend_name() == "sqlite"
        options: JsonObject = {"pool_pre_ping": True}
        if is_sqlite:  # threads that wait for a lock must not block readers
            options = {"max_overflow": -1, "connect_args": _PATIENT}
        engine = sa.create_engine(url, **options)
    except sa.exc.ArgumentError:
        raise UserError(
            "ledger: expected a folder, or a URL such as postgresql://user@host/database."
        ) from None
    except ModuleNotFoundError as error:
        raise UserError(
            f"ledger: {error}. PostgreSQL needs an extra: make env EXTRAS=postgres."
        ) from None
    if is_sqlite:
        sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def read_only_file(engine: sa.Engine) -> Path | None:
    """Return the database file if this process can read but not write it, else None."""
    folder, file = folder_of(engine), Path(engine.url.database or "")
    if folder is None or not file.is_file():
        return None
    effective = os.access in os.supports_effective_ids
    return (
        None
        if all(os.access(path, os.W_OK, effective_ids=effective) for path in (folder, file))
        else file
    )


def open_read_only(file: Path) -> sa.Engine:
    """Open an SQLite database without writing to any file.

    A write-ahead log in the same folder is read as well, since another program may be writing it.
    """
    has_log = any(Path(f"{file}{log}").exists() for log in ("-wal", "-shm"))
    address = f"file:{quote(str(file.resolve()))}?mode=ro{'' if has_log else '&immutable=1'}"
    connect = partial(sqlite3.connect, address, uri=True, check_same_thread=False, **_PATIENT)
    return sa.create_engine(sa.URL.create("sqlite", database=str(file)), creator=connect)


def folder_of(engine: sa.Engine) -> Path | None:
    """Return the folder of an SQLite database; None for a database on a server."""
    return Path(engine.url.database or "").parent if engine.dialect.name == "sqlite" else None


def portions(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    """Yield items in portions that fit one statement."""
    remaining_items = iter(items)
    while portion := list(islice(remaining_items, size)):
        yield portion


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    # for a new file; with 4096, a quarter of a page stays unused
    cursor.execute("PRAGMA page_size=8192")
    # If two connections request this at the same time, SQLite refuses one without waiting.
    cursor.execute("PRAGMA journal_mode=WAL")
    # else the last writes may be lost when the machine loses power
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _retry_while_locked(work: Callable[..., Result], *arguments: Any) -> Result:
    """Do some work, and retry while another program holds the database's lock.

    Raises:
        RunStoppedError: this process was told to stop and the lock did not become free.
    """
    since = time.monotonic()
    while True:
        try:
            return work(*arguments)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _LOCKED or time.monotonic() - since > LOCK_SECONDS:
                raise
            if seconds_stopping() > STOPPING_SECONDS:
                raise stop_error() from None
            time.sleep(_RETRY_SECONDS)


class _PatientCursor(sqlite3.Cursor):
    def execute(self, *arguments: Any) -> "_PatientCursor":
        return _retry_while_locked(super().execute, *arguments)

    def executemany(self, *arguments: Any) -> "_PatientCursor":
        return _retry_while_locked(super().executemany, *arguments)


class _PatientConnection(sqlite3.Connection):
    def cursor(self, factory: Any = _PatientCursor) -> Any:
        return super().cursor(factory)

    def commit(self) -> None:
        _retry_while_locked(super().commit)


_PATIENT: JsonObject = {"factory": _PatientConnection, "timeout": _LOOK_SECONDS}


class DamagedError(Exception):
    """Stored bytes that moot cannot have written."""


@contextmanager
def explain_errors(place: Callable[[], str]) -> Iterator[None]:
    """Turn a database error into one message with a remedy.

    `place` returns the ledger's address; it is called when an error occurs.
    """
    try:
        yield
    except (sa.exc.DBAPIError, OSError, DamagedError) as error:
        cause = " ".join(str(getattr(error, "orig", None) or error).split())
        advice = next(
            (advice for sign, advice in _REMEDIES.items() if sign in cause), _REMEDIES[""]
        )
        raise UserError(
            f"ledger {place()}: {cause}. No reply that it holds was changed. {advice}"
        ) from None
