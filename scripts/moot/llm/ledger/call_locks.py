"""Locks on calls: while one process makes a call, no other process makes it."""

import asyncio
import fcntl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import sqlalchemy as sa

from moot.llm.ledger.batching import Batched
from moot.llm.ledger.database import AMONG, folder_of
from moot.llm.ledger.processes import CLAIMS, Processes
from moot.llm.ledger.tables import insert_new

_RETRY_SECONDS = 0.1
_OFFSET_DIGITS = 15
"""Leading hexadecimal digits of a call id that give its offset in the file; more would overflow."""

_SELECT_OWNERS = sa.select(CLAIMS.c.call_id, CLAIMS.c.process).where(CLAIMS.c.call_id.in_(AMONG))
_DELETE_CLAIMS = sa.delete(CLAIMS).where(
    CLAIMS.c.call_id.in_(AMONG), CLAIMS.c.process == sa.bindparam("number")
)

_WaitContext = Callable[[], AbstractContextManager[None]]


def call_locks(engine: sa.Engine, processes: Processes) -> "FileCallLocks | DatabaseCallLocks":
    """Return the locks of a ledger's calls."""
    folder = folder_of(engine)
    return FileCallLocks(folder) if folder else DatabaseCallLocks(engine, processes)


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
    """Locks for several machines: one row per call, valid while its process holds an advisory lock.

    One advisory lock per call would be simpler. But a server has room for about 6,000 locks, and a
    wave of batched calls can be larger.
    """

    def __init__(self, engine: sa.Engine, processes: Processes) -> None:
        self._processes = processes
        self._new_claim = insert_new(engine, CLAIMS, CLAIMS.c.call_id)
        # Takes a call id and whether to claim it (else free it); returns whether it is held.
        self._claim: Batched[tuple[str, bool], bool] = Batched(self._claim_and_free)

    @asynccontextmanager
    async def hold(
        self, call_id: str, wait_context: _WaitContext = nullcontext
    ) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then hold its lock."""
        while not await self._claim((call_id, True)):
            with wait_context():
                await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            await self._claim((call_id, False))

    def _claim_and_free(self, claims: Sequence[tuple[str, bool]]) -> list[bool]:
        # All processes claim in the same order and free last, so transactions cannot deadlock.
        claimed_ids = sorted({call_id for call_id, is_claim in claims if is_claim})
        freed_ids = {call_id for call_id, _ in claims}.difference(claimed_ids)

        def claim(connection: sa.Connection, number: int) -> tuple[set[str], set[int]]:
            rows = [{"call_id": call_id, "process": number} for call_id in claimed_ids]
            new_ids = set(connection.scalars(self._new_claim, rows)) if rows else set()
            owners: dict[str, int] = {}
            if refused_ids := [*{*claimed_ids} - new_ids]:
                owner_rows = connection.execute(_SELECT_OWNERS, {"among": refused_ids})
                owners = {row.call_id: row.process for row in owner_rows}
            if freed_ids:
                connection.execute(_DELETE_CLAIMS, {"among": [*freed_ids], "number": number})
            own_ids = {call_id for call_id, process in owners.items() if process == number}
            return new_ids | own_ids, self._processes.find_ended(
                connection, {*owners.values()} - {number}
            )

        held_ids, ended_processes = self._processes.run(claim)
        if ended_processes:
            delete_ended = sa.delete(CLAIMS).where(CLAIMS.c.process.in_(ended_processes))
            self._processes.run(
                lambda connection, _: connection.execute(delete_ended),
                lock_name="claims of the dead",
            )
        return [call_id in held_ids for call_id, _ in claims]

    def close(self) -> None:
        """Do nothing: the claims of a process end with the process."""
