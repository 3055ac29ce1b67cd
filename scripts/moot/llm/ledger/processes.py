"""The processes that use one ledger, and the tables through which they coordinate.

The tables hold only the state of a run: claims on calls and shares of a model's limits. A row is
valid while its process holds its lock. The system frees the lock when the process or its
connection ends.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TypeVar

import sqlalchemy as sa

from moot.core.run_signals import is_held, lock_run_file
from moot.llm.ledger.database import explain_errors, folder_of, open_engine

Result = TypeVar("Result")
Work = Callable[[sa.Connection, int], Result]
"""Work in one transaction; the number identifies this process to the others."""

TABLES = sa.MetaData()
CLAIMS = sa.Table(
    "claims",  # the calls that a process is making; on one machine a locked file is used
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("process", sa.BigInteger, nullable=False, index=True),
)
SHARES = sa.Table(
    "model_shares",  # shares of the concurrent calls to a model
    TABLES,
    sa.Column("model", sa.String(64), primary_key=True),
    sa.Column("process", sa.BigInteger, primary_key=True),
    sa.Column("most", sa.Integer, nullable=False),  # the limit that was set for the process
    sa.Column("wanted", sa.Integer, nullable=False),
    sa.Column("held", sa.Integer, nullable=False),
)
PACES = sa.Table(
    "paces",  # when the next call to a model may be sent, by `Processes.read_clock`
    TABLES,
    sa.Column("model", sa.String(64), primary_key=True),
    sa.Column("requests_at", sa.Float, nullable=False),
    sa.Column("tokens_at", sa.Float, nullable=False),
    sa.Column("paused_until", sa.Float, nullable=False),
)
_CREATION_LOCK = 6_061_985
_NUMBER_BITS = 62


class FolderProcesses:
    """The processes of one machine: a locked file each, and an SQLite database that they share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "processes"
        self._database = self._folder / "agreed.sqlite"
        self._opening = threading.Lock()
        self._opened: tuple[sa.Engine, IO[str], int] | None = None

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:016x}.lock"

    def _open(self) -> tuple[sa.Engine, IO[str], int]:
        with self._opening:
            if self._opened is None:
                engine = open_engine(str(self._folder), self._database.name, durable=False)
                number = secrets.randbits(_NUMBER_BITS)
                file = lock_run_file(self._file(number))
                with engine.begin() as connection:
                    connection.execute(sa.text("BEGIN IMMEDIATE"))
                    TABLES.create_all(connection)
                self._opened = engine, file, number
            return self._opened

    def run(self, work: Work[Result], lock_name: str = "") -> Result:
        """Do some work in a transaction; `lock_name` excludes other work of the same name."""
        del lock_name  # SQLite has one writer
        with explain_errors(lambda: str(self._database)):
            engine, _, number = self._open()
            with engine.begin() as connection:
                connection.execute(sa.text("BEGIN IMMEDIATE"))
                return work(connection, number)

    def find_ended(self, _connection: sa.Connection, numbers: Iterable[int]) -> set[int]:
        """Return the numbers of processes that have ended, and delete their files."""
        ended_numbers = {number for number in numbers if not is_held(self._file(number))}
        for number in ended_numbers:
            self._file(number).unlink(missing_ok=True)
        return ended_numbers

    def read_clock(self, _connection: sa.Connection) -> float:
        """Return the seconds since this machine started; no program can set this clock."""
        return time.monotonic()

    def close(self) -> None:
        """Release this process's lock."""
        if self._opened is not None:
            engine, file, number = self._opened
            engine.dispose()
            self._file(number).unlink(missing_ok=True)
            file.close()


class PostgresProcesses:
    """The processes of several machines: each holds an advisory lock through one connection."""

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self._engine, self._place = engine, place
        self._connection_lock = threading.Lock()
        self._opened: tuple[sa.Connection, int] | None = None

    def _open(self) -> tuple[sa.Connection, int]:
        if self._opened is None:
            connection, number = self._engine.connect(), secrets.randbits(_NUMBER_BITS)
            connection.execute(
                sa.text("SET synchronous_commit = off")
            )  # nothing here is needed after a crash
            connection.execute(sa.select(sa.func.pg_advisory_lock(number)))
            connection.commit()
            with connection.begin():
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATION_LOCK)))
                TABLES.create_all(connection)
            self._opened = connection, number
        return self._opened

    def run(self, work: Work[Result], lock_name: str = "") -> Result:
        """Do some work in a transaction.

        After a lost connection it is repeated once, under a new process number.
        """
        with explain_errors(lambda: self._place), self._connection_lock:
            try:
                return self._run(work, lock_name)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                self._drop()
            return self._run(work, lock_name)

    def _run(self, work: Work[Result], lock_name: str) -> Result:
        connection, number = self._open()
        with connection.begin():
            if lock_name:
                connection.execute(
                    sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(lock_name, 0)))
                )
            return work(connection, number)

    def find_ended(self, connection: sa.Connection, numbers: Iterable[int]) -> set[int]:
        """Return the numbers of processes that ended or lost their connection."""
        ended_numbers = {
            number
            for number in numbers
            if connection.scalar(sa.select(sa.func.pg_try_advisory_lock(number)))
        }
        for number in ended_numbers:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))
        return ended_numbers

    def read_clock(self, connection: sa.Connection) -> float:
        """Return the time of the server's clock, since the machines' clocks differ."""
        return float(
            connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0
        )

    def _drop(self) -> None:
        if self._opened is not None:
            connection, self._opened = self._opened[0], None
            connection.invalidate()  # keep it out of the pool: the connection holds the lock
            connection.close()

    def close(self) -> None:
        """Close the connection, which frees the lock."""
        with self._connection_lock:
            self._drop()


Processes = FolderProcesses | PostgresProcesses
"""The processes that use a ledger, including this one."""


def processes_at(engine: sa.Engine, place: str) -> Processes:
    """Return the processes of a ledger's database; connections open on first use."""
    folder = folder_of(engine)
    return FolderProcesses(folder) if folder else PostgresProcesses(engine, place)
