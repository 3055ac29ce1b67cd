"""Continue debates: in a lasting process, or by a command if the process cannot."""

import asyncio
import fcntl
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aiohttp import web

from moot.plan.plan_cache import DESK

LOG = Path("data/desk.log")
LOCK = Path("data/.desk-run.lock")
DEBATING_LOCK = Path("data/.desk-debating.lock")
PLAN, DEBATING = "moot-desk-plan", Path(__file__).parents[2] / "debating.py"
_POLL_SECONDS = 0.5
_LOG_TAIL_BYTES, _LOG_TAIL_LINES = 10_000, 12


class Runner:
    """Runs a command when the desk opens, and continues the debates of the command's plan.

    Debates continue in a process of their own. The command runs again when all debates of a job
    have ended, or, without that process, after each answer.

    Args:
        command: Usually a call of Snakemake. Without a command, answers wait for the next run.
        folder: The working directory.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.command = list(command)
        self.log = folder / LOG
        self.status: int | None = None
        self._folder, self._plan = folder, folder / ".snakemake" / f"{PLAN}-{os.getpid()}"
        self._run_requested, self._is_run_active = asyncio.Event(), False
        self._debating: Process | None = None
        self._answers_sent = self._answers_read = self._open_debates = 0

    @property
    def is_running(self) -> bool:
        """Whether a further question may appear without another answer."""
        return self._is_run_active or (
            self._debating is not None
            and (self._answers_sent > self._answers_read or self._open_debates > 0)
        )

    def go_on(self) -> None:
        """Continue with a new answer."""
        if self._debating is None or self._debating.stdin is None:
            self._run_requested.set()
        else:
            self._answers_sent += 1
            self._debating.stdin.write(b"\n")

    def last_lines(self) -> str:
        """Return the last lines of the command's output."""
        with self.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - _LOG_TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_LOG_TAIL_LINES:])

    async def context(self, _app: web.Application) -> AsyncIterator[None]:
        """Continue debates while the application runs."""
        # The process of a desk that was killed ends when its plan is removed.
        for stale_plan in self._plan.parent.glob(f"{PLAN}-*"):
            stale_plan.unlink(missing_ok=True)
        tasks = (
            [asyncio.create_task(coroutine()) for coroutine in (self._run, self._debate)]
            if self.command
            else []
        )
        self._run_requested.set()
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._plan.unlink(missing_ok=True)

    async def _run(self) -> None:
        while True:
            await self._run_requested.wait()
            self._run_requested.clear()
            self._is_run_active = True
            try:
                async with self._process(LOCK, self.command) as process:
                    self.status = await process.wait()
            finally:
                self._is_run_active = False

    async def _debate(self) -> None:
        """Keep a process running that continues the debates of the newest plan.

        After a failure no process starts until there is a newer plan.
        """
        failed_plan_time: float | None = None
        while True:
            while (plan_time := _modification_time(self._plan)) in (None, failed_plan_time):
                await asyncio.sleep(_POLL_SECONDS)
            command = [sys.executable, str(DEBATING), str(self._plan.absolute())]
            async with self._process(DEBATING_LOCK, command, has_pipes=True) as process:
                self._answers_sent = self._answers_read = self._open_debates = 0
                self._debating = process
                self._run_requested.clear()  # The process begins with all present answers.
                try:
                    await self._listen(process)
                    status = await process.wait()
                finally:
                    self._debating = None
            if status:
                self.status, failed_plan_time = status, plan_time
                # The process may have missed an answer; a run reports what is wrong.
                if self._answers_sent:
                    self._run_requested.set()

    async def _listen(self, process: Process) -> None:
        """Read the state that the process reports until it ends."""
        while process.stdout and (line := await process.stdout.readline()):
            self._answers_read, self._open_debates, behind = map(int, line.split())
            if behind:
                self._run_requested.set()

    @asynccontextmanager
    async def _process(
        self, lock_file: Path, command: Sequence[str], has_pipes: bool = False
    ) -> AsyncIterator[Process]:
        """Run a process that holds a lock, until the block ends.

        It first waits for the process of a desk that was killed.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log, (self._folder / lock_file).open("wb") as lock:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                await asyncio.sleep(_POLL_SECONDS)
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self._folder,
                env={**os.environ, DESK: str(self._plan.absolute())},
                stderr=log,
                stdin=PIPE if has_pipes else DEVNULL,
                stdout=PIPE if has_pipes else log,
                pass_fds=(lock.fileno(),),
            )
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()


def _modification_time(path: Path) -> float | None:
    with suppress(OSError):
        return path.stat().st_mtime
    return None
