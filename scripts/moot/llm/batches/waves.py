"""Waves: a job's calls, gathered until none of its debates can continue, and then sent together."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

from moot.llm.endpoints import Endpoint
from moot.llm.progress import Progress
from moot.llm.request import Reply, Request

_QUIET_SECONDS = 0.05
_QUIET_TURNS = 20
"""A wave is sent after this time and this number of turns of the event loop without a change. A
reply takes some turns to reach its debate and to become the next question.
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        call_id: in the ledger.
        request: the request.
        content: the same as the ledger's JSON.
        replicate: which sample of the reply.
    """

    call_id: str
    request: Request
    content: str
    replicate: int


class Waves:
    """Knows when all calls of a job wait for a wave, so that it can ask nothing else now."""

    def __init__(self) -> None:
        self._busy = self._changes = 0
        self._quiet = asyncio.Event()
        self._gatherers: list[Gatherer] = []
        self._watching: asyncio.Task[None] | None = None

    def count_as_busy(self) -> AbstractContextManager[None]:
        """Count a call that something other than a wave answers: the ledger, a server, a pause.

        A call that another process is making does not count, since that process may wait for a
        wave.
        """
        return self._change_count(1)

    def count_as_waiting(self) -> AbstractContextManager[None]:
        """Count a call, within `count_as_busy`, as waiting for a wave."""
        return self._change_count(-1)

    @contextmanager
    def _change_count(self, change: int) -> Iterator[None]:
        self._count(change)
        try:
            yield
        finally:
            self._count(-change)

    def _count(self, change: int) -> None:
        self._busy += change
        self._changes += 1
        if self._busy == 0:
            self._quiet.set()
        else:
            self._quiet.clear()

    def add(self, gatherer: "Gatherer") -> None:
        """Send the calls of a gatherer whenever a wave is complete."""
        self._gatherers.append(gatherer)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            await self._quiet.wait()
            changes = self._changes
            await asyncio.sleep(_QUIET_SECONDS)
            for _ in range(_QUIET_TURNS):
                await asyncio.sleep(0)
            if self._busy == 0 and self._changes == changes:
                for gatherer in self._gatherers:
                    gatherer.flush()
                self._quiet.clear()

    async def close(self) -> None:
        """Send nothing more."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching


class Gatherer(ABC):
    """Gathers a model's calls for the next wave, and hands each its reply."""

    def __init__(self, waves: Waves, progress: Progress) -> None:
        self._waves, self._progress = waves, progress
        self._gathered: dict[str, Call] = {}
        self._callers: dict[str, asyncio.Future[Reply]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        waves.add(self)

    async def answer(self, call: Call) -> Reply:
        """Return the reply to a call of the next wave; raises the same errors as an endpoint."""
        self._gathered[call.call_id] = call
        return await self._wait_for(call.call_id)

    async def _wait_for(self, call_id: str) -> Reply:
        self._callers[call_id] = asyncio.get_running_loop().create_future()
        try:
            with self._waves.count_as_waiting():
                return await self._callers[call_id]
        finally:
            self._callers.pop(call_id)
            self._gathered.pop(call_id, None)

    def flush(self) -> None:
        """Send the gathered calls, if there are any."""
        calls, self._gathered = list(self._gathered.values()), {}
        if calls:
            self._progress.waves += 1
            self._send_wave(calls)

    @abstractmethod
    def _send_wave(self, calls: Sequence[Call]) -> None:
        """Send a wave."""

    def _start(self, work: Coroutine[object, object, None]) -> None:
        """Start a task that serves calls and ends with the job."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hand_over(self, call_id: str, outcome: Reply | Exception) -> bool:
        """Give a call its outcome; return whether a debate waited for it."""
        caller = self._callers.get(call_id)
        if caller is None or caller.done():
            return False
        if isinstance(outcome, Exception):
            caller.set_exception(outcome)
        else:
            caller.set_result(outcome)
        return True

    async def close(self) -> None:
        """End all tasks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class ImmediateGatherer(Gatherer):
    """Has an endpoint answer a wave immediately, in a preview or a rehearsal."""

    def __init__(self, waves: Waves, progress: Progress, endpoint: Endpoint) -> None:
        super().__init__(waves, progress)
        self._endpoint = endpoint

    def _send_wave(self, calls: Sequence[Call]) -> None:
        self._start(self._answer_all(calls))

    async def _answer_all(self, calls: Sequence[Call]) -> None:
        for call in calls:
            try:
                outcome: Reply | Exception = await self._endpoint.complete(call.request)
            except Exception as error:  # its caller handles it
                outcome = error
            self._hand_over(call.call_id, outcome)
