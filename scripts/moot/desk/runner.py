"""What goes on with the debates: a command that is run when the desk opens, and again after new answers."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

from aiohttp import web

LOG, LOCK = Path("data/desk.log"), Path("data/.desk-run.lock")
_LOOK_AGAIN = 0.5  # seconds
_MOST_BYTES, _LAST_LINES = 10_000, 12


class Runner:
    """Runs a command, one at a time, whenever something has been answered since it last began.

    Args:
        command: usually a call of Snakemake; without one, answers wait for the next run by hand.
        folder: the working directory.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.command = list(command)
        self.log = folder / LOG
        self.status: int | None = None
        self.running = False
        self._folder = folder
        self._wanted = asyncio.Event()

    def go_on(self) -> None:
        """Run the command, or run it again when it ends."""
        self._wanted.set()

    def last_lines(self) -> str:
        """The end of the command's output."""
        with self.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - _MOST_BYTES))
            lines = log.read().decode("utf-8", "replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_LAST_LINES:])

    async def context(self, _app: web.Application) -> AsyncIterator[None]:
        """Run the command, again after each answer, while the application is up."""
        task = asyncio.create_task(self._run()) if self.command else None
        self._wanted.set()
        yield
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self.running = True
            with self.log.open("ab") as log, (self._folder / LOCK).open("wb") as lock:
                await self._alone(lock.fileno())
                process = await asyncio.create_subprocess_exec(
                    *self.command, cwd=self._folder, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                    pass_fds=(lock.fileno(),),
                )  # fmt: skip
                try:
                    self.status = await process.wait()
                except asyncio.CancelledError:
                    process.terminate()
                    await process.wait()
                    raise
                finally:
                    self.running = False

    @staticmethod
    async def _alone(lock: int) -> None:
        """Wait for the run of a desk that was killed: the run goes on, and holds the lock as long as it does."""
        while True:
            with suppress(BlockingIOError):
                return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            await asyncio.sleep(_LOOK_AGAIN)
