"""Orderly end of a run at SIGINT, SIGTERM or SIGHUP.

The signal may go to Snakemake, to its process group, or to one job.

Snakemake waits for the current jobs, which may take hours. Therefore its process holds a locked
file during the run. A job ends as at a signal if the file is removed, or unlocked because Snakemake
was killed.
"""

import asyncio
import errno
import fcntl
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from moot.core.errors import RunStoppedError

RUN_FILE = "MOOT_RUN_FILE"
"""The environment variable with the file's name, for jobs."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS = 0.5
_SAME_SECONDS = 1.0
"""The time within which two signals count as one.

The same signal may come from the terminal and from a parent process.
"""
_stops: list[tuple[float, str]] = []
"""When this process was told to end, and by which signal."""
_run_ended = threading.Event()


def is_stopping() -> bool:
    """Return whether this process was told to end."""
    return bool(_stops)


def seconds_stopping() -> float:
    """Return the seconds since this process was told to end; 0 if it was not."""
    return time.monotonic() - _stops[0][0] if _stops else 0.0


def stop_error() -> RunStoppedError:
    """Return the error of a process that was told to end."""
    return RunStoppedError(
        f"stopped by {_stops[0][1]}. Every reply received is in the ledger: run the same command"
        " again to go on."
    )


@contextmanager
def act_on_signals(act: Callable[[int], object]) -> Iterator[None]:
    """Call `act` once at a signal within the block, and again at another one a second later."""

    def handle(number: int, _frame: object) -> None:
        seconds = time.monotonic()
        if not _stops or seconds - _stops[-1][0] > _SAME_SECONDS:
            _stops.append(
                (
                    seconds,
                    "the end of its run" if _run_ended.is_set() else signal.Signals(number).name,
                )
            )
            act(number)

    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # nohup
    previous_handlers = {
        number: signal.signal(number, handle)
        for number in SIGNALS
        if number != signal.SIGHUP or not ignored
    }
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


# In a job


@contextmanager
def interrupt_at_end_of_run() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block at a signal, or when the job's run has ended."""

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    block_ended = threading.Event()
    with act_on_signals(interrupt):
        if file := os.environ.get(RUN_FILE):
            threading.Thread(target=_watch, args=(Path(file), block_ended), daemon=True).start()
        try:
            yield
        finally:
            block_ended.set()


def _watch(file: Path, block_ended: threading.Event) -> None:
    while is_held(file):
        if block_ended.wait(_POLL_SECONDS):
            return
    if not _stops and not block_ended.is_set():
        _run_ended.set()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def cancel_on_signals() -> Iterator[None]:
    """Cancel the current task at a signal within the block.

    Raises:
        RunStoppedError: there was a signal.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    cancel = task.cancel
    with act_on_signals(lambda _: loop.call_soon_threadsafe(cancel)):
        if _stops:
            raise stop_error()
        try:
            yield
        except asyncio.CancelledError:
            if not _stops:
                raise
            raise stop_error() from None


# In Snakemake's process


class CurrentRun:
    """A current run, in the process of Snakemake that schedules its jobs.

    Args:
        folder: the folder of the run's file.
        cancels: whether to cancel jobs that have not started, in the queue of a cluster.
    """

    def __init__(self, folder: Path, cancels: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f".run-{socket.gethostname()}-{os.getpid()}"
        for earlier in folder.glob(f".run-{socket.gethostname()}-*"):
            if not is_held(earlier):  # the run was killed
                earlier.unlink(missing_ok=True)
        self._lock_stream = lock_run_file(self._file)
        os.environ[RUN_FILE] = str(self._file.resolve())
        self._cancels = cancels
        # Snakemake's own handler, which starts no further job and waits for current ones.
        self._start_no_job = signal.getsignal(signal.SIGTERM)
        self._signals = act_on_signals(self._stop)
        self._signals.__enter__()

    def _stop(self, number: int) -> None:
        self._file.unlink(missing_ok=True)
        if self._cancels:
            raise KeyboardInterrupt
        threading.Thread(
            target=self._stop_scheduling, args=(number,)
        ).start()  # this thread may hold locks

    def _stop_scheduling(self, number: int) -> None:
        if callable(self._start_no_job):
            self._start_no_job(number, None)
        with suppress(OSError):  # the terminal may have been closed
            name = signal.Signals(number).name
            sys.stderr.write(
                f"{name}: no further job starts; pending replies are awaited for up to ten "
                "seconds.\n"
            )

    def end(self) -> RunStoppedError | None:
        """Release the file; return the error of a run that was told to end."""
        self._signals.__exit__(None, None, None)
        self._file.unlink(missing_ok=True)
        with suppress(OSError):  # a run that wrote nothing leaves no empty folder
            self._file.parent.rmdir()
        self._lock_stream.close()
        return stop_error() if _stops else None


def lock_run_file(path: Path) -> IO[str]:
    """Create a file that is locked until it is removed or its process ends."""
    file = path.open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(socket.gethostname())
        file.flush()
    except OSError:  # on a file system without locks only its removal counts
        file.truncate(0)
    return file


def is_held(path: Path) -> bool:
    """Return whether a file exists and the process that holds it may be alive.

    Only processes of this machine can be checked.
    """
    try:
        with path.open("rb") as file:
            if file.read() != socket.gethostname().encode():
                return True
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:  # another process holds its lock, or the file system has no locks
        return error.errno not in (errno.ENOENT, errno.ESTALE)
    return False
