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
from moot.llm.ledger.database import AMONG, folder_of
from moot.llm.ledger.processes import CLAIMS, Processes
from moot.llm.ledger.tables import insert_new

_RETRY_SECONDS = 0.1
_OFFSET_DIGITS = 15
"""Hexadecimal digits of a call id that make its place in the file: as many as a file offset has
room for.
"""

_OWNERS = sa.select(CLAIMS.c.call_id, CLAIMS.c.process).where(CLAIMS.c.call_id.in_(AMONG))
_FREED = sa.delete(CLAIMS).where(
    CLAIMS.c.call_id.in_(AMONG), CLAIMS.c.process == sa.bindparam("number")
)

_Waiting = Callable[[], AbstractContextManager[None]]


def call_locks(engine: sa.Engine, processes: Processes) -> "FileCallLocks | DatabaseCallLocks":
    """The locks of a ledger's calls."""
    folder = folder_of(engine)
    return FileCallLocks(folder) if folder else DatabaseCallLocks(engine, processes)


@asynccontextmanager
async def no_lock(_call_id: str, _waiting: _Waiting = nullcontext) -> AsyncIterator[None]:
    """In place of the lock of a call that no process makes."""
    yield


class FileCallLocks:
    """On one machine: one byte of a file in the ledger's folder for each call.

    Two calls whose ids begin alike share a lock, so that one waits for the other; nothing else
    depends on it.
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
    """Across machines: a row for each call, which counts as long as its process holds its one
    advisory lock.

        An advisory lock for each call would be shorter, but a server has room for some 6,000 in
        all, and a wave of batched calls is larger.
    """

    def __init__(self, engine: sa.Engine, processes: Processes) -> None:
        self._processes = processes
        self._new_claim = insert_new(engine, CLAIMS, CLAIMS.c.call_id)
        # Whether a call is to be held, and whether it is then.
        self._claim: Batched[tuple[str, bool], bool] = Batched(self._claim_and_free)

    @asynccontextmanager
    async def hold(self, call_id: str, waiting: _Waiting = nullcontext) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then keep the others waiting."""
        while not await self._claim((call_id, True)):
            with waiting():
                await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            await self._claim((call_id, False))

    def _claim_and_free(self, claims: Sequence[tuple[str, bool]]) -> list[bool]:
        # Claimed in one order everywhere, and freed last, so that no two transactions wait for each
        # other.
        wanted = sorted({call_id for call_id, held in claims if held})
        freed = {call_id for call_id, _ in claims}.difference(wanted)

        def claim(connection: sa.Connection, number: int) -> tuple[set[str], set[int]]:
            rows = [{"call_id": call_id, "process": number} for call_id in wanted]
            taken = set(connection.scalars(self._new_claim, rows)) if rows else set()
            refused = (
                connection.execute(_OWNERS, {"among": others})
                if (others := [*{*wanted} - taken])
                else ()
            )
            owners = {row.call_id: row.process for row in refused}
            if freed:
                connection.execute(_FREED, {"among": [*freed], "number": number})
            own = {call_id for call_id, process in owners.items() if process == number}
            return taken | own, self._processes.ended(connection, {*owners.values()} - {number})

        taken, ended = self._processes.run(claim)
        if ended:
            dead = sa.delete(CLAIMS).where(CLAIMS.c.process.in_(ended))
            self._processes.run(
                lambda connection, _: connection.execute(dead), alone="claims of the dead"
            )
        return [call_id in taken for call_id, _ in claims]

    def close(self) -> None:
        """Nothing to do: the claims of a process end with it."""
