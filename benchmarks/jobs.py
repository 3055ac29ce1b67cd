"""Calls a second with 1, 2 and 4 jobs that share one model's limits, on SQLite and on PostgreSQL, in ratios of one run.

The model replies from within each job after a fixed time, so that nothing but moot and its ledger is measured.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import hold, people
from debates import FACTS, InstantEndpoint, instant
from moot.llm.ledger import Ledger
from postgres_server import postgres_server

CALLS = 16
"""Of one debate."""


def hold_shard(
    config: Mapping[str, Any], cases: Path, output: Path, shard: int, seconds: float, together: Barrier
) -> None:
    """One job: it begins when all are ready."""
    InstantEndpoint.seconds = seconds
    together.wait()
    hold(config, cases, output, shard)


def calls_a_second(ledger: str, jobs: int, debates: int, concurrency: int, seconds: float) -> float:
    """Calls of all jobs over the seconds from their common start to the end of the last."""
    with tempfile.TemporaryDirectory() as folder:
        cases = people(Path(folder, "cases.parquet"), debates, FACTS)
        config = instant(Path(folder), concurrency)
        config["models"]["test"].update(jobs=jobs, served_as=folder)  # known to no ledger
        config = {**config, "shards": jobs, "ledger": ledger or str(Path(folder, "ledger"))}
        before = _calls(config["ledger"])
        context = multiprocessing.get_context("spawn")
        together = context.Barrier(jobs + 1)
        processes = [
            context.Process(
                target=hold_shard, args=(config, cases, Path(folder, f"{shard}.parquet"), shard, seconds, together)
            )
            for shard in range(jobs)
        ]
        for process in processes:
            process.start()
        together.wait()
        started = time.perf_counter()
        for process in processes:
            process.join()
        taken = time.perf_counter() - started
        assert [process.exitcode for process in processes] == [0] * jobs
        assert _calls(config["ledger"]) - before == debates * CALLS
    return debates * CALLS / taken


def _calls(place: str) -> int:
    ledger = Ledger(place)
    calls = ledger.spent().calls
    ledger.close()
    return calls


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """Databases by name, with the ledger's address; "" for a folder of each run's own."""
    with ExitStack() as stack:
        found = {"SQLite": ""}
        try:
            found["PostgreSQL"] = stack.enter_context(postgres_server())
        except pytest.skip.Exception as missing:
            print(missing)
        yield found


def measure(jobs: list[int], debates: int, repeats: int, concurrency: int, seconds: float) -> dict[str, list[float]]:
    """Median calls a second by database, in the order of `jobs`; all take turns."""
    with databases() as ledgers:
        samples: dict[tuple[str, int], list[float]] = {(name, count): [] for name in ledgers for count in jobs}
        for _ in range(repeats):
            for (name, count), rates in samples.items():
                rates.append(calls_a_second(ledgers[name], count, debates, concurrency, seconds))
        return {name: [statistics.median(samples[name, count]) for count in jobs] for name in ledgers}


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--debates", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.05)
    arguments = parser.parse_args()
    found = measure(arguments.jobs, arguments.debates, arguments.repeats, arguments.concurrency, arguments.latency)
    base = found["SQLite"][0]
    print("| ledger | jobs | calls/s | ratio |\n|---|---|---|---|")
    for name, rates in found.items():
        for count, rate in zip(arguments.jobs, rates, strict=True):
            print(f"| {name} | {count} | {rate:.0f} | {rate / base:.2f} |", flush=True)


if __name__ == "__main__":
    main()
