"""Measure calls per second and processor time per call of 1, 2 and 4 jobs that share limits.

The ledger is SQLite or PostgreSQL. The model replies from within each job after a fixed time, so
that only moot and its ledger are measured.
"""

import argparse
import itertools
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import hold, people
from debates import FACTS, InstantEndpoint, instant
from moot.llm.ledger.ledger import Ledger
from postgres_server import postgres_server

CALLS = 16
"""Of one debate."""


def hold_shard(
    config: Mapping[str, Any],
    cases: Path,
    output: Path,
    shard: int,
    seconds: float,
    barrier: Barrier,
    took: "Queue[float]",
) -> None:
    """Run one job, which begins when all jobs are ready."""
    InstantEndpoint.seconds = seconds
    _calls(config["ledger"])  # loading the driver of a database is not part of a call
    barrier.wait()
    processor = time.process_time()
    hold(config, cases, output, shard)
    took.put(time.process_time() - processor)


def measure_once(
    ledger: str, jobs: int, debates: int, concurrency: int, seconds: float
) -> tuple[float, float]:
    """Return calls per second of all jobs, and processor milliseconds per call.

    The time runs from the jobs' common start to the end of the last one.
    """
    with tempfile.TemporaryDirectory() as folder:
        cases = people(Path(folder, "cases.parquet"), debates, FACTS)
        config = instant(Path(folder), concurrency)
        config["models"]["test"].update(served_as=folder)  # in no ledger
        config = {**config, "shards": jobs, "ledger": ledger or str(Path(folder, "ledger"))}
        calls_before = _calls(config["ledger"])
        context = multiprocessing.get_context("spawn")
        barrier, took = context.Barrier(jobs + 1), context.Queue()
        outputs = [Path(folder, f"{shard}.parquet") for shard in range(jobs)]
        processes = [
            context.Process(
                target=hold_shard, args=(config, cases, output, shard, seconds, barrier, took)
            )
            for shard, output in enumerate(outputs)
        ]
        for process in processes:
            process.start()
        barrier.wait()
        start = time.perf_counter()
        processor = sum(took.get() for _ in processes)
        seconds_taken = time.perf_counter() - start
        for process in processes:
            process.join()
        calls = _calls(config["ledger"]) - calls_before
        assert calls == debates * CALLS
    return calls / seconds_taken, 1000 * processor / calls


def _calls(place: str) -> int:
    ledger = Ledger(place)
    calls = ledger.read_totals().calls
    ledger.close()
    return calls


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """Return the addresses of ledgers by the name of the database.

    The address "" means a separate folder for each run.
    """
    with ExitStack() as stack:
        addresses = {"SQLite": ""}
        try:
            addresses["PostgreSQL"] = stack.enter_context(postgres_server())
        except pytest.skip.Exception as missing:
            print(missing)
        yield addresses


Samples = dict[tuple[str, int], list[tuple[float, float]]]


def measure(
    jobs: list[int], debates: int, repeats: int, concurrency: int, seconds: float
) -> Samples:
    """Return the results of `measure_once` by database and number of jobs; all take turns."""
    with databases() as ledgers:
        samples: Samples = {pair: [] for pair in itertools.product(ledgers, jobs)}
        for _ in range(repeats):
            for (name, count), runs in samples.items():
                runs.append(measure_once(ledgers[name], count, debates, concurrency, seconds))
    return samples


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--debates", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.05)
    arguments = parser.parse_args()
    samples_by_job = measure(
        arguments.jobs,
        arguments.debates,
        arguments.repeats,
        arguments.concurrency,
        arguments.latency,
    )
    print("| ledger | jobs | calls/s | ratio | CPU ms/call |\n|---|---|---|---|---|")
    base = 0.0
    for (name, count), samples in samples_by_job.items():
        rate, processor = (statistics.median(values) for values in zip(*samples, strict=True))
        base = base or rate
        print(
            f"| {name} | {count} | {rate:.0f} | {rate / base:.2f} | {processor:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
