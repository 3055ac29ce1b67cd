"""Many jobs at once, their results in order: what a stopped run and a long run rest on."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.jobs.debates import run_in_order


class Watched:
    """Jobs that note who runs, and end after a number of turns of the event loop."""

    def __init__(self) -> None:
        self.running = self.most_running = 0
        self.start_response: list[int] = []

    async def job(self, number: int, turns: int) -> int:
        self.start_response.append(number)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        for _ in range(turns):
            await asyncio.sleep(0)
        self.running -= 1
        return number


async def run(turns: list[int], at_once: int) -> tuple[list[int], Watched]:
    watched = Watched()
    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(watched.job, number, count) for number, count in enumerate(turns)
    ]
    return [result async for result in run_in_order(jobs, at_once)], watched


@given(st.lists(st.integers(0, 12), max_size=60), st.integers(1, 9))
@settings(max_examples=150)
def test_every_result_once_in_order_and_never_too_many_at_once(
    turns: list[int], at_once: int
) -> None:
    results, watched = asyncio.run(run(turns, at_once))
    assert results == list(range(len(turns)))
    assert sorted(watched.start_response) == results
    assert watched.most_running <= at_once


async def test_one_at_a_time_goes_from_the_front() -> None:
    assert (await run([1] * 20, 1))[1].start_response == list(range(20))


async def test_many_at_a_time_go_from_the_front_and_few_results_wait() -> None:
    assert (await run([2] * 100, 8))[1].start_response == list(range(100))
    slow_first = [1000, *[0] * 999]
    watched = Watched()
    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(watched.job, n, turns) for n, turns in enumerate(slow_first)
    ]
    async for _ in run_in_order(jobs, 8):
        assert watched.start_response == list(range(8 * 4))
        break


async def test_an_error_ends_all_at_once_and_not_when_its_turn_comes() -> None:
    watched = Watched()

    async def fail() -> int:
        raise ValueError("the second")

    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(watched.job, n, 10_000) for n in range(50)
    ]
    with pytest.raises(ValueError, match="the second"):
        async for _ in run_in_order([jobs[0], fail, *jobs[1:]], 4):
            pass
    assert len(watched.start_response) < 10
