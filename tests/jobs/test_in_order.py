"""Many jobs run at once and give their results in order."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.jobs.debates import run_in_order


class JobRecorder:
    """Records which jobs start and run; a job ends after a number of turns of the event loop."""

    def __init__(self) -> None:
        self.running = self.most_running = 0
        self.started_jobs: list[int] = []

    async def job(self, number: int, turns: int) -> int:
        self.started_jobs.append(number)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        for _ in range(turns):
            await asyncio.sleep(0)
        self.running -= 1
        return number


async def run_jobs(turns: list[int], max_running: int) -> tuple[list[int], JobRecorder]:
    recorder = JobRecorder()
    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(recorder.job, number, count) for number, count in enumerate(turns)
    ]
    return [result async for result in run_in_order(jobs, max_running)], recorder


@given(st.lists(st.integers(0, 12), max_size=60), st.integers(1, 9))
@settings(max_examples=150)
def test_results_come_in_order_and_few_jobs_run_at_a_time(
    turns: list[int], max_running: int
) -> None:
    results, recorder = asyncio.run(run_jobs(turns, max_running))
    assert results == list(range(len(turns)))
    assert sorted(recorder.started_jobs) == results
    assert recorder.most_running <= max_running


async def test_one_job_at_a_time_starts_in_order() -> None:
    assert (await run_jobs([1] * 20, 1))[1].started_jobs == list(range(20))


async def test_many_jobs_start_in_order_and_few_results_wait() -> None:
    assert (await run_jobs([2] * 100, 8))[1].started_jobs == list(range(100))
    slow_first = [1000, *[0] * 999]
    recorder = JobRecorder()
    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(recorder.job, n, turns) for n, turns in enumerate(slow_first)
    ]
    async for _ in run_in_order(jobs, 8):
        assert recorder.started_jobs == list(range(8 * 4))
        break


async def test_an_error_ends_all_jobs_at_once() -> None:
    recorder = JobRecorder()

    async def fail() -> int:
        raise ValueError("the second")

    jobs: list[Callable[[], Coroutine[Any, Any, int]]] = [
        partial(recorder.job, n, 10_000) for n in range(50)
    ]
    with pytest.raises(ValueError, match="the second"):
        async for _ in run_in_order([jobs[0], fail, *jobs[1:]], 4):
            pass
    assert len(recorder.started_jobs) < 10
