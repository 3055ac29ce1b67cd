"""Many small requests of one event loop made one: a database is asked once for all that wait for
it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST_AT_ONCE = 5000
"""Items in one piece of work: a database takes some 32,000 values in a statement, and a wave of
calls may be larger.
"""
_MANY = 6
"""Items in one piece of work, on average, from which on a pause saves time."""


def read_error(done: "asyncio.Future[Result]") -> None:
    """Let asyncio print no traceback of an error that came when its caller had gone."""
    if not done.cancelled():
        done.exception()


class Batched(Generic[Item, Result]):
    """Hands items to `work`, together with all others that came while it was busy.

    `work` takes items and returns as many results in their order; a result that is an exception is
    raised to its own caller, an exception that `work` raises to all of them.

    Args:
        work: what is done, in a thread.
        at_once: do it in the loop itself: it takes less time than handing it to a thread.
        pause: where many items come, seconds that further ones are waited for: few large pieces of
            work take less time than many small ones.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        at_once: bool = False,
        pause: float = 0.0,
    ) -> None:
        self._work, self._at_once, self._pause = work, at_once, pause
        self._usual = 0.0  # items in one piece of work, lately
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
            await asyncio.sleep(
                self._pause if self._usual > _MANY else 0
            )  # let everyone who is ready ask first
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            self._usual += (len(batch) - self._usual) / 10
            items = [item for item, _ in batch]
            try:
                results = (
                    self._work(items)
                    if self._at_once
                    else await asyncio.to_thread(self._work, items)
                )
            except Exception as error:  # after any error, no caller may be left waiting
                results = [error] * len(batch)
            for (_, future), result in zip(batch, results, strict=True):
                if future.done():
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
