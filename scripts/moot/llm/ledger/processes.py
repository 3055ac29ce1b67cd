"""The processes at one ledger: which of them are alive, and tables by which they agree while they
run.

The tables hold nothing that outlives a run: claims on calls, shares of a model's limits. What a
process wrote counts as long as it holds its lock, which the system frees when the process, or its
connection, ends.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TypeVar

import sqlalchemy as sa

from moot.core.stopping import hold, is_held
from moot.llm.ledger.database import explained, folder_of, open_engine

Result = TypeVar("Result")
Work = Callable[[sa.Connection, int], Result]
"""What is done in one transaction, with the number by which the others know this process."""

TABLES = sa.MetaData()
CLAIMS = sa.Table(
    "claims",  # the calls that a process is making; on one machine locks in a file take their place
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("process", sa.BigInteger, nullable=False, index=True),
)
SHARES = sa.Table(
    "model_shares",  # of the calls to a model that may be under way at once
    TABLES,
    sa.Column("model", sa.String(64), primary_key=True),
    sa.Column("process", sa.BigInteger, primary_key=True),
    sa.Column("most", sa.Integer, nullable=False),  # the limit that the process was given
    sa.Column("wanted", sa.Integer, nullable=False),
    sa.Column("held", sa.Integer, nullable=False),
)
PACES = sa.Table(
    "paces",  # when the next call to a model may be sent, by the clock of `Processes.now`
    TABLES,
    sa.Column("model", sa.String(64), primary_key=True),
    sa.Column("requests_at", sa.Float, nullable=False),
    sa.Column("tokens_at", sa.Float, nullable=False),
    sa.Column("paused_until", sa.Float, nullable=False),
)
_CREATION_LOCK = 6_061_985
_NUMBER_BITS = 62


class FolderProcesses:
    """Processes of one machine: a locked file each in the ledger's folder, and a database for what
    they agree on.
    """

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
                file = hold(self._file(number))
                with engine.begin() as connection:
                    connection.execute(sa.text("BEGIN IMMEDIATE"))
                    TABLES.create_all(connection)
                self._opened = engine, file, number
            return self._opened

    def run(self, work: Work[Result], alone: str = "") -> Result:
        """Do some work in a transaction;
        `alone`: while no other process does work of the same name.
        """
        del alone  # a database has one writer
        with explained(lambda: str(self._database)):
            engine, _, number = self._open()
            with engine.begin() as connection:
                connection.execute(sa.text("BEGIN IMMEDIATE"))
                return work(connection, number)

    def ended(self, _connection: sa.Connection, numbers: Iterable[int]) -> set[int]:
        """The processes among some that have ended; their files go."""
        ended = {number for number in numbers if not is_held(self._file(number))}
        for number in ended:
            self._file(number).unlink(missing_ok=True)
        return ended

    def now(self, _connection: sa.Connection) -> float:
        """The time in seconds since this machine started, which no program sets."""
        return time.monotonic()

    def close(self) -> None:
        """Let the others know that this process has ended."""
        if self._opened is not None:
            engine, file, number = self._opened
            engine.dispose()
            self._file(number).unlink(missing_ok=True)
            file.close()


class PostgresProcesses:
    """Processes of several machines: an advisory lock each, held by one connection as long as that
    lives.
    """

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self._engine, self._place = engine, place
        self._one_at_a_time = threading.Lock()
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

    def run(self, work: Work[Result], alone: str = "") -> Result:
        """Do some work in a transaction; after a lost connection once more, as a new process to the
        others.
        """
        with explained(lambda: self._place), self._one_at_a_time:
            try:
                return self._run(work, alone)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                self._drop()
            return self._run(work, alone)

    def _run(self, work: Work[Result], alone: str) -> Result:
        connection, number = self._open()
        with connection.begin():
            if alone:
                connection.execute(
                    sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(alone, 0)))
                )
            return work(connection, number)

    def ended(self, connection: sa.Connection, numbers: Iterable[int]) -> set[int]:
        """The processes among some that have ended, or lost their connection: their locks can be
        taken.
        """
        taken = {
            number
            for number in numbers
            if connection.scalar(sa.select(sa.func.pg_try_advisory_lock(number)))
        }
        for number in taken:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))
        return taken

    def now(self, connection: sa.Connection) -> float:
        """The server's clock, since those of machines differ."""
        return float(
            connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0
        )

    def _drop(self) -> None:
        if self._opened is not None:
            connection, self._opened = self._opened[0], None
            connection.invalidate()  # not back into the pool: the lock is the connection's
            connection.close()

    def close(self) -> None:
        """Close the connection, and with it free the lock."""
        with self._one_at_a_time:
            self._drop()


Processes = FolderProcesses | PostgresProcesses
"""The processes at a ledger, and this one among them."""


def processes_at(engine: sa.Engine, place: str) -> Processes:
    """The processes at a ledger's database; nothing is opened before it is needed."""
    folder = folder_of(engine)
    return FolderProcesses(folder) if folder else PostgresProcesses(engine, place)
