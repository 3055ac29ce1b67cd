"""Which calls some process is making, so that no other process makes them as well."""

import asyncio
import fcntl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import sqlalchemy as sa

from moot.llm.ledger.batching import Batched
from moot.llm.ledger.database import folder_of
from moot.llm.ledger.processes import CLAIMS, Processes

_RETRY_SECONDS = 0.1
_OFFSET_DIGITS = 15
"""Hexadecimal digits of a call id that make its place in the file: as many as a file offset has room for."""

_Waiting = Callable[[], AbstractContextManager[None]]


def call_locks(engine: sa.Engine, processes: Processes) -> "FileCallLocks | DatabaseCallLocks":
    """The locks of a ledger's calls."""
    folder = folder_of(engine)
    return FileCallLocks(folder) if folder else DatabaseCallLocks(processes)


@asynccontextmanager
async def no_lock(_call_id: str, _waiting: _Waiting = nullcontext) -> AsyncIterator[None]:
    """In place of the lock of a call that no process makes."""
    yield


class FileCallLocks:
    """On one machine: one byte of a file in the ledger's folder for each call.

    Two calls whose ids begin alike share a lock, so that one waits for the other; nothing else depends on it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _file(self) -> BinaryIO:
        return (self._folder / "calls.lock").open("ab")

    @asynccontextmanager
    async def hold(self, call_id: str, waiting: _Waiting = nullcontext) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then keep the others waiting."""
        place = int(call_id[:_OFFSET_DIGITS], 16)
        while not self._take(place):
            with waiting():
                await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def _take(self, place: int) -> bool:
        with suppress(BlockingIOError):
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            return True
        return False

    def close(self) -> None:
        """Let go of every call."""
        if "_file" in self.__dict__:
            self._file.close()


class DatabaseCallLocks:
    """Across machines: a row for each call, which counts as long as its process holds its one advisory lock.

    An advisory lock for each call would be shorter, but a server has room for some 6,000 in all, and a wave of batched
    calls is larger.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._take: Batched[str, bool] = Batched(self._take_all)
        self._free: Batched[str, None] = Batched(self._free_all)

    @asynccontextmanager
    async def hold(self, call_id: str, waiting: _Waiting = nullcontext) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then keep the others waiting."""
        while not await self._take(call_id):
            with waiting():
                await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            await self._free(call_id)

    def _take_all(self, call_ids: Sequence[str]) -> list[bool]:
        from sqlalchemy.dialects import postgresql  # loads slowly, and a folder needs none of it

        wanted = sorted(set(call_ids))  # in one order everywhere, so that no two transactions wait for each other

        def take(connection: sa.Connection, number: int) -> tuple[set[str], set[int]]:
            rows = [{"call_id": call_id, "process": number} for call_id in wanted]
            insert = postgresql.insert(CLAIMS).on_conflict_do_nothing().returning(CLAIMS.c.call_id)
            taken = set(connection.scalars(insert, rows))
            others = set(wanted) - taken
            refused = sa.select(CLAIMS.c.call_id, CLAIMS.c.process).where(CLAIMS.c.call_id.in_(others))
            owners = {row.call_id: row.process for row in connection.execute(refused)} if others else {}
            own = {call_id for call_id, process in owners.items() if process == number}
            return taken | own, self._processes.ended(connection, {*owners.values()} - {number})

        taken, ended = self._processes.run(take)
        if ended:
            dead = sa.delete(CLAIMS).where(CLAIMS.c.process.in_(ended))
            self._processes.run(lambda connection, _: connection.execute(dead), alone="claims of the dead")
        return [call_id in taken for call_id in call_ids]

    def _free_all(self, call_ids: Sequence[str]) -> list[None]:
        def free(connection: sa.Connection, number: int) -> None:
            own = (CLAIMS.c.process == number) & CLAIMS.c.call_id.in_(set(call_ids))
            connection.execute(sa.delete(CLAIMS).where(own))

        self._processes.run(free)
        return [None] * len(call_ids)

    def close(self) -> None:
        """Nothing to do: the claims of a process end with it."""
