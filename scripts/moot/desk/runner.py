"""What goes on with the debates: a command that is run when the desk opens, and again after new answers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from aiohttp import web

LOG = Path("data/desk.log")


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

    async def context(self, _app: web.Application) -> AsyncIterator[None]:
        """While the application is up."""
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
            with self.log.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *self.command, cwd=self._folder, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
                )
                self.running = True
                try:
                    self.status = await process.wait()
                except asyncio.CancelledError:
                    process.terminate()
                    await process.wait()
                    raise
                finally:
                    self.running = False
