"""Which calls some process of this machine is making, so that no other process makes them as well."""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

_RETRY_SECONDS = 0.1
_OFFSET_DIGITS = 15
"""Hexadecimal digits of a call id that make its place in the file: as many as a file offset has room for."""


class CallLocks:
    """A lock a call: one byte of a file in the ledger's folder. The system frees it when its process dies.

    Two calls whose ids begin alike share a lock, so that one waits for the other; nothing else depends on it.

    Args:
        folder: of the ledger; None (a database on a server) lets every process call.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = (folder / "calls.lock").open("ab") if folder else None

    @asynccontextmanager
    async def hold(self, call_id: str) -> AsyncIterator[None]:
        """Wait until no other process makes this call, then keep the others waiting."""
        file, place = self._file, int(call_id[:_OFFSET_DIGITS], 16)
        if file is None:
            yield
            return
        while not _taken(file, place):
            await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """Let go of every call."""
        if self._file is not None:
            self._file.close()


def _taken(file: BinaryIO, place: int) -> bool:
    """Take the lock, unless another process has it."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except BlockingIOError:
        return False
    return True
