"""Locks on calls: while one process makes a call, no other process makes it."""

import asyncio
import fcntl
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import sqlalchemy as sa

from moot.llm.ledger.batching import Batched
from moot.llm.ledger.database import explain_errors, folder_of

_RETRY_SECONDS = 0.1
_OFFSET_DIGITS = 15
"""Leading hexadecimal digits of a digest that give its lock; more would overflow."""
_LOCK = sa.text(
    "SELECT lock, pg_try_advisory_lock(lock) FROM unnest(CAST(:locks AS bigint[])) AS lock"
)
_UNLOCK = sa.text("SELECT pg_advisory_unlock(lock) FROM unnest(CAST(:locks AS bigint[])) AS lock")

_WaitContext = Callable[[], AbstractContextManager[None]]


def call_locks(engine: sa.Engine, place: str) -> "FileCallLocks | DatabaseCallLocks":
    """Return the locks of a ledger's calls."""
    folder = folder_of(engine)
    return FileCallLocks(folder) if folder else DatabaseCallLocks(engine, place)


@asynccontextmanager
async def no_lock(_call_id: str, _wait_context: _WaitContext = nullcontext) -> AsyncIterator[None]:
    """Lock nothing: a ledger that is only read needs no lock."""
    yield


class FileCallLocks:
    """Locks for one machine: one byte of a file in the ledger's folder per call.

    Two calls whose ids start with the same digits share a lock, so one waits for the other. This
    costs time and changes no result.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _file(self) -> BinaryIO:
        return (self._folder / "calls.lock").open("ab")

    @asynccontextmanager
    async def hold(
        self, call_id: str, wait_context: _WaitContext = nullcontext
    ) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then hold its lock."""
        offset = int(call_id[:_OFFSET_DIGITS], 16)
        while not self._take(offset):
            with wait_context():
                await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, offset)

    def _take(self, offset: int) -> bool:
        with suppress(BlockingIOError):
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
            return True
        return False

    def close(self) -> None:
        """Release all locks."""
        if "_file" in self.__dict__:
            self._file.close()


class DatabaseCallLocks:
    """Locks for several machines: an advisory lock of PostgreSQL per call.

    One connection holds them, and the server frees them when it ends.
    """

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self._engine, self._place = engine, place
        self._opening = threading.Lock()
        self._connection: sa.Connection | None = None
        # Takes a lock and whether to take it (else free it); returns whether it is held.
        self._claim: Batched[tuple[int, bool], bool] = Batched(self._lock_and_unlock)

    @asynccontextmanager
    async def hold(
        self, call_id: str, wait_context: _WaitContext = nullcontext
    ) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then hold its lock."""
        lock = int(hashlib.sha256(call_id.encode()).hexdigest()[:_OFFSET_DIGITS], 16)
        while not await self._claim((lock, True)):
            with wait_context():
                await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            await self._claim((lock, False))

    def _lock_and_unlock(self, claims: Sequence[tuple[int, bool]]) -> list[bool]:
        """Take and free locks; after a lost connection, which freed all of them, once more."""
        with explain_errors(lambda: self._place), self._opening:
            try:
                return self._run(claims)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                self._disconnect()
            return self._run(claims)

    def _run(self, claims: Sequence[tuple[int, bool]]) -> list[bool]:
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(
                isolation_level="AUTOCOMMIT"
            )
        freed_locks = [lock for lock, is_claim in claims if not is_claim]
        wanted_locks = [lock for lock, is_claim in claims if is_claim]
        held_locks: set[int] = set()
        if wanted_locks:
            rows = self._connection.execute(_LOCK, {"locks": wanted_locks})
            held_locks = {lock for lock, is_held in rows if is_held}
        if freed_locks:
            self._connection.execute(_UNLOCK, {"locks": freed_locks}).all()
        return [lock in held_locks for lock, _ in claims]

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()  # not back into the pool: it holds the locks
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Close the connection, which frees the locks."""
        with self._opening:
            self._disconnect()
