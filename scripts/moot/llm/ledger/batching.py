"""Batching of database requests: all requests that wait in one event loop are sent as one."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_MAX_BATCH = 5000
"""Maximum number of items in a batch. A statement takes about 32,000 values, and a wave of calls
can be larger."""
_PAUSE_THRESHOLD = 6
"""Mean number of items in a batch above which a pause saves time."""


def read_error(future: "asyncio.Future[Result]") -> None:
    """Mark a future's error as read, so that asyncio prints no traceback if its caller is gone."""
    if not future.cancelled():
        future.exception()


class Batched(Generic[Item, Result]):
    """Passes items to `work` in batches; a batch holds all items that arrived since the last one.

    Args:
        work: takes a batch and returns one result per item, in the same order. A result that is an
            exception is raised to the caller of its item. An exception that `work` raises is
            raised to all callers of the batch.
        in_loop: run `work` in the event loop instead of a thread. This is faster for short work.
        pause: seconds to wait for further items when batches are large, since few large batches
            take less time than many small ones.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        in_loop: bool = False,
        pause: float = 0.0,
    ) -> None:
        self._work, self._in_loop, self._pause = work, in_loop, pause
        self._mean_batch = 0.0  # moving average of the batch size
        self._queue: list[tuple[Item, asyncio.Future[Result]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        """Return the result for one item."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        future.add_done_callback(read_error)
        self._queue.append((item, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        while self._queue:
            # Let all tasks that are ready add their items first.
            await asyncio.sleep(self._pause if self._mean_batch > _PAUSE_THRESHOLD else 0)
            batch, self._queue = self._queue[:_MAX_BATCH], self._queue[_MAX_BATCH:]
            self._mean_batch += (len(batch) - self._mean_batch) / 10
            items = [item for item, _ in batch]
            try:
                results = (
                    self._work(items)
                    if self._in_loop
                    else await asyncio.to_thread(self._work, items)
                )
            except Exception as error:  # after any error, no caller may wait forever
                results = [error] * len(batch)
            for (_, future), result in zip(batch, results, strict=True):
                if future.done():
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
