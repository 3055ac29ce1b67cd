"""What goes on with the debates: a process that stays, and a command that is run where that process
cannot go on.
"""

import asyncio
import fcntl
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aiohttp import web

from moot.plan.kept import DESK

LOG, LOCK, DEBATING_LOCK = (
    Path("data/desk.log"),
    Path("data/.desk-run.lock"),
    Path("data/.desk-debating.lock"),
)
PLAN, DEBATING = "moot-desk-plan", Path(__file__).parents[2] / "debating.py"
_LOOK_AGAIN = 0.5  # seconds
_MOST_BYTES, _LAST_LINES = 10_000, 12


class Runner:
    """Runs a command when the desk opens, and goes on with debates in a process that the command's
    plan starts.

        The command is run again where all debates of a job have come to an end, and where no such
        process is after each answer.

        Args:
            command: usually a call of Snakemake; without one, answers wait for the next run by
                hand.
            folder: the working directory.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.command = list(command)
        self.log = folder / LOG
        self.status: int | None = None
        self._folder, self._plan = folder, folder / ".snakemake" / f"{PLAN}-{os.getpid()}"
        self._wanted, self._runs = asyncio.Event(), False
        self._debating: Process | None = None
        self._told = self._heard = self._under_way = 0

    @property
    def running(self) -> bool:
        """Whether a next question may be on its way."""
        return self._runs or (
            self._debating is not None and (self._told > self._heard or self._under_way > 0)
        )

    def go_on(self) -> None:
        """Take in a new answer."""
        if self._debating is None or self._debating.stdin is None:
            self._wanted.set()
        else:
            self._told += 1
            self._debating.stdin.write(b"\n")

    def last_lines(self) -> str:
        """The end of the command's output."""
        with self.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - _MOST_BYTES))
            lines = log.read().decode("utf-8", "replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_LAST_LINES:])

    async def context(self, _app: web.Application) -> AsyncIterator[None]:
        """Go on with the debates while the application is up."""
        for left in self._plan.parent.glob(
            f"{PLAN}-*"
        ):  # by a desk that was killed; what goes on by it ends
            left.unlink(missing_ok=True)
        tasks = (
            [asyncio.create_task(going()) for going in (self._run, self._debate)]
            if self.command
            else []
        )
        self._wanted.set()
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._plan.unlink(missing_ok=True)

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._runs = True
            try:
                async with self._process(LOCK, self.command) as process:
                    self.status = await process.wait()
            finally:
                self._runs = False

    async def _debate(self) -> None:
        """Keep a process that goes on with the debates of the newest plan; one that failed waits
        for the next.
        """
        failed: float | None = None
        while True:
            while (written := _time_of(self._plan)) in (None, failed):
                await asyncio.sleep(_LOOK_AGAIN)
            command = [sys.executable, str(DEBATING), str(self._plan.absolute())]
            async with self._process(DEBATING_LOCK, command, talks=True) as process:
                self._told = self._heard = self._under_way = 0
                self._debating = process
                self._wanted.clear()  # it begins with all answers that there are
                try:
                    await self._listen(process)
                    status = await process.wait()
                finally:
                    self._debating = None
            if status:
                self.status, failed = status, written
                if self._told:  # the answer may not have been heard; a run says what is wrong
                    self._wanted.set()

    async def _listen(self, process: Process) -> None:
        """Read what the process says of itself until it ends."""
        while process.stdout and (line := await process.stdout.readline()):
            self._heard, self._under_way, behind = map(int, line.split())
            if behind:
                self._wanted.set()

    @asynccontextmanager
    async def _process(
        self, lock_file: Path, command: Sequence[str], talks: bool = False
    ) -> AsyncIterator[Process]:
        """A process that holds a lock, and ends with the block; that of a desk that was killed is
        waited for.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log, (self._folder / lock_file).open("wb") as lock:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                await asyncio.sleep(_LOOK_AGAIN)
            process = await asyncio.create_subprocess_exec(
                *command, cwd=self._folder, env={**os.environ, DESK: str(self._plan.absolute())}, stderr=log,
                stdin=PIPE if talks else DEVNULL, stdout=PIPE if talks else log, pass_fds=(lock.fileno(),),
            )  # fmt: skip
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()


def _time_of(path: Path) -> float | None:
    with suppress(OSError):
        return path.stat().st_mtime
    return None
