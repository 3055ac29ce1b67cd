"""The database behind a ledger: SQLite in a folder or PostgreSQL, and what to do when it fails."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import quote

import sqlalchemy as sa

from moot.core.errors import UserError
from moot.core.stopping import seconds_stopping, stopped
from moot.core.types import Json, JsonObject

Item = TypeVar("Item")
Result = TypeVar("Result")
LOCK_SECONDS, STOPPING_SECONDS = 60.0, 6.0
"""How long to wait for another program that holds the ledger's lock; and how long after this
process was told to end, so that a reply that was paid for is kept where the lock gets free soon."""
_LOOK_SECONDS = 0.5
"""How long SQLite itself waits: its thread sees no signal meanwhile."""
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
    "full": "Make room on the disk, then run again.",
    "readonly": "Make the folder and the file writable, then run again.",
    "": "Check that it can be reached and written and that its disk has room, then run again.",
}
"""What to do, by a sign in the database's message."""


def open_engine(ledger: str, file: str = "ledger.sqlite", *, durable: bool = True) -> sa.Engine:
    """The database behind `ledger`: SQLite in `file` of a folder, or what a URL names.

    What is written to SQLite is on the disk, or, if not `durable`, may be lost where the machine
    loses power.
    """
    if "://" not in ledger:
        folder = Path(ledger)
        folder.mkdir(parents=True, exist_ok=True)
        ledger = f"sqlite:///{folder / file}"
    try:
        url = sa.make_url(ledger)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            raise UserError(
                f"ledger: '{url.drivername}' is no database that moot writes to; use a folder or"
                " PostgreSQL."
            )
        a_file = url.get_backend_name() == "sqlite"
        options: JsonObject = {"pool_pre_ping": True}
        if a_file:  # threads that wait for a lock keep no connection from a reader
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
    if a_file:
        sa.event.listen(
            engine, "connect", partial(_prepare_sqlite, synchronous="FULL" if durable else "NORMAL")
        )
    return engine


def read_only_file(engine: sa.Engine) -> Path | None:
    """The file of a database that this process can read but not write, in a folder or on a disk as
    it may be.
    """
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
    """A database of which neither the file nor one beside it is written to.

    A log beside it that another program may be writing is read as well; without one nothing but the
    file is needed.
    """
    logged = any(Path(f"{file}{log}").exists() for log in ("-wal", "-shm"))
    address = f"file:{quote(str(file.resolve()))}?mode=ro{'' if logged else '&immutable=1'}"
    connect = partial(sqlite3.connect, address, uri=True, check_same_thread=False, **_PATIENT)
    return sa.create_engine(sa.URL.create("sqlite", database=str(file)), creator=connect)


def copy_of(file: Path) -> tuple[TemporaryDirectory[str], Path]:
    """A temporary folder, and in it a copy of a database with the log that a killed process left."""
    folder = TemporaryDirectory(prefix="moot-ledger-")
    for part in (file, Path(f"{file}-wal")):
        if part.exists():
            shutil.copyfile(part, Path(folder.name) / part.name)
    return folder, Path(folder.name) / file.name


def folder_of(engine: sa.Engine) -> Path | None:
    """The folder of a database on this machine; None for one on a server."""
    return Path(engine.url.database or "").parent if engine.dialect.name == "sqlite" else None


def portions(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    """So many items at once as one statement takes."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _prepare_sqlite(connection: sqlite3.Connection, _record: object, synchronous: str) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA page_size=8192")  # of a new file; 4096 leaves a quarter of a page unused
    # Where two connections ask for it at once, SQLite refuses one without waiting.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute(f"PRAGMA synchronous={synchronous}")
    cursor.close()


def _patiently(work: Callable[..., Result], *arguments: Any) -> Result:
    """Do something at a database as soon as no other program holds the lock that it needs.

    Raises:
        RunStoppedError: this process was told to end, and the lock does not get free.
    """
    since = time.monotonic()
    while True:
        try:
            return work(*arguments)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _LOCKED or time.monotonic() - since > LOCK_SECONDS:
                raise
            if seconds_stopping() > STOPPING_SECONDS:
                raise stopped() from None
            time.sleep(_RETRY_SECONDS)


class _PatientCursor(sqlite3.Cursor):
    def execute(self, *arguments: Any) -> "_PatientCursor":
        return _patiently(super().execute, *arguments)

    def executemany(self, *arguments: Any) -> "_PatientCursor":
        return _patiently(super().executemany, *arguments)


class _PatientConnection(sqlite3.Connection):
    def cursor(self, factory: Any = _PatientCursor) -> Any:
        return super().cursor(factory)

    def commit(self) -> None:
        _patiently(super().commit)


_PATIENT: JsonObject = {"factory": _PatientConnection, "timeout": _LOOK_SECONDS}


class DamagedError(Exception):
    """What is stored cannot have been written by moot."""


@contextmanager
def explained(place: Callable[[], str]) -> Iterator[None]:
    """Turn a database error into one message that says what to do;
    `place` says where the ledger is, by then.
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
