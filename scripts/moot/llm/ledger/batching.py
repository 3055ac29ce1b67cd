"""Many small requests of one event loop made one: a database is asked once for all that wait for it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST_AT_ONCE = 5000
"""Items in one piece of work: a database takes some 32,000 values in a statement, and a wave of calls may be larger."""


def read_error(done: "asyncio.Future[Result]") -> None:
    """Let asyncio print no traceback of an error that came when its caller had gone."""
    if not done.cancelled():
        done.exception()


class Batched(Generic[Item, Result]):
    """Hands items to `work` in a thread, together with all others that came while it was busy.

    `work` takes items and returns as many results in their order; a result that is an exception is raised to its own
    caller, an exception that `work` raises to all of them.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result | Exception]]) -> None:
        self._work = work
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        """The result for one item."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        future.add_done_callback(read_error)
        self._waiting.append((item, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # let everyone who is ready ask first
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            try:
                results = await asyncio.to_thread(self._work, [item for item, _ in batch])
            except Exception as error:  # after any error, no caller may be left waiting
                results = [error] * len(batch)
            for (_, future), result in zip(batch, results, strict=True):
                if future.done():
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
