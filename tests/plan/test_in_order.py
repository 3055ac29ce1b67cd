"""Many jobs at once, their results in order: what a resumed run, a stopped run and a long run rest on."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.jobs.debates import in_order


class Watched:
    """Jobs that note who runs, and end after a number of turns of the event loop."""

    def __init__(self) -> None:
        self.running = self.most_running = 0
        self.begun: list[int] = []

    async def job(self, number: int, turns: int) -> int:
        self.begun.append(number)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        for _ in range(turns):
            await asyncio.sleep(0)
        self.running -= 1
        return number


async def run(turns: list[int], at_once: int, resuming: bool = True) -> tuple[list[int], Watched]:
    watched = Watched()
    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(watched.job, number, count) for number, count in enumerate(turns)
    ]
    return [result async for result in in_order(jobs, at_once, lambda: resuming)], watched


@given(st.lists(st.integers(0, 12), max_size=60), st.integers(1, 9), st.booleans())
@settings(max_examples=150)
def test_every_result_once_in_order_and_never_too_many_at_once(turns: list[int], at_once: int, resuming: bool) -> None:
    results, watched = asyncio.run(run(turns, at_once, resuming))
    assert results == list(range(len(turns)))
    assert sorted(watched.begun) == results
    assert watched.most_running <= at_once


async def test_one_at_a_time_goes_from_the_front() -> None:
    assert (await run([1] * 20, 1))[1].begun == list(range(20))


async def test_a_fresh_run_goes_from_the_front() -> None:
    assert (await run([2] * 100, 8, resuming=False))[1].begun == list(range(100))


async def test_a_resumed_run_begins_the_end_at_once_and_few_results_wait() -> None:
    _, watched = await run([2] * 1000, 8)
    assert 999 in watched.begun[:8]
    assert set(watched.begun[:400]) <= {*range(400), *range(1000 - 8 * 4, 1000)}


async def test_an_error_of_the_last_ends_all_at_once() -> None:
    watched = Watched()

    async def fail() -> int:
        raise ValueError("the last")

    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [partial(watched.job, n, 10_000) for n in range(50)]
    with pytest.raises(ValueError, match="the last"):
        async for _ in in_order([*jobs, fail], 4, lambda: True):
            pass
    assert len(watched.begun) < 10
