"""Measure whole shards: makespan compared with its bound, replay, and memory of a long shard.

Each measurement runs in a fresh process.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people
from fault_server import FaultServer
from invented_replies import instance_of, sentence
from moot.core.artifacts import read_cases
from moot.core.model_config import ModelConfig
from moot.jobs.debates import Job, write_transcripts
from moot.llm.endpoints import ENDPOINTS
from moot.llm.request import Reply, Request
from moot.plan.plan import Plan

FACTS = (
    "A person with {prior} prior arrests and {years} years of school, a job since May, living with"
    " the family. " * 8
)


@ENDPOINTS.register("instant")
class InstantEndpoint:
    """An endpoint in the process that replies after a fixed time, so that only moot is measured."""

    seconds = 0.0

    def __init__(self, _config: ModelConfig, _threads: int) -> None:
        pass

    async def complete(self, request: Request) -> Reply:
        """Return a reply that depends only on the request."""
        await asyncio.sleep(InstantEndpoint.seconds)
        draw = random.Random(request.to_json())
        text = (
            json.dumps(instance_of(dict(request.schema), draw))
            if request.schema
            else sentence(draw)
        )
        return Reply(text, finish_reason="stop", prompt_tokens=300, completion_tokens=30)

    async def close(self) -> None:
        """Do nothing."""


def instant(folder: Path, concurrency: int) -> dict[str, Any]:
    """Return a configuration whose model replies from within the process."""
    return configuration(
        "", folder, {"endpoint": "instant", "base_url": None, "concurrency": concurrency}
    )


def peak_megabytes() -> float:
    """Return the peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def makespan(folder: Path, debates: int, concurrency: int, latency: float) -> str:
    """Measure courtroom debates against a server with a fixed latency, and their lower bound.

    The bound is max(longest chain, total latency / concurrency).
    """
    cases = people(folder / "cases.parquet", debates, FACTS)
    with FaultServer(latency=latency) as server:
        hold(
            configuration(server.url, folder / "warm"),
            people(folder / "one.parquet", 1),
            folder / "warm.parquet",
        )
        server.reset()
        config = configuration(server.url, folder, {"concurrency": concurrency})
        wall, cpu = time.perf_counter(), time.process_time()
        hold(config, cases, folder / "out.parquet")
        seconds, calls = time.perf_counter() - wall, server.stats()["requests"]
    bound = max(calls / debates, calls / concurrency) * latency
    processor_time = 1000 * (time.process_time() - cpu) / calls
    return (
        f"makespan of {debates} courtroom debates, {concurrency} at once, {latency:g} s a call:"
        f" {seconds:.1f} s, bound {bound:.1f} s, ratio {seconds / bound:.2f}; {processor_time:.2f}"
        " ms CPU a"
        " call"
    )


def replay(folder: Path, debates: int) -> str:
    """Measure debates whose replies all come from the ledger."""
    cases = people(folder / "cases.parquet", debates, FACTS)
    config = instant(folder, 64)
    hold(config, cases, folder / "out.parquet")
    wall, cpu = time.perf_counter(), time.process_time()
    hold({**config, "replay": True}, cases, folder / "again.parquet")
    seconds, processor_time = time.perf_counter() - wall, time.process_time() - cpu
    assert (folder / "out.parquet").read_bytes() == (folder / "again.parquet").read_bytes()
    replies = 16 * debates
    return (
        f"replay of {replies} replies: {replies / seconds:.0f} a second"
        f" ({replies / processor_time:.0f} by"
        " CPU time)"
    )


def memory(folder: Path, debates: int) -> str:
    """Measure the peak memory while one shard holds many debates."""
    cases, output = people(folder / "cases.parquet", debates, FACTS), folder / "out.parquet"
    config = instant(folder, 64)
    config["experiments"][EXPERIMENT]["params"] = {"strategy": "none", "beliefs": "none"}
    plan = Plan.from_yaml(config, PROJECT)
    models = plan.models_in_job(EXPERIMENT, MODEL)
    job = Job(plan.config, plan.experiments[EXPERIMENT], models, *read_cases(cases), shard=0)
    memory_before, wall = peak_megabytes(), time.perf_counter()
    write_transcripts(job, [cases], output)
    seconds, rows = time.perf_counter() - wall, pq.ParquetFile(output).metadata.num_rows
    return (
        f"memory of {debates} debates of seven calls in one shard ({rows} utterances): peak"
        f" {peak_megabytes():.0f} MB, {memory_before:.0f} MB of them before the first debate;"
        f" {seconds:.0f} s"
    )


def _in_a_folder(measure: Callable[..., str], arguments: tuple[Any, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(f"- {measure(Path(folder), *arguments)}", flush=True)


def measure_in_process(measure: Callable[..., str], *arguments: object) -> None:
    """Run one measurement in a fresh process, and print its line."""
    process = multiprocessing.get_context("spawn").Process(
        target=_in_a_folder, args=(measure, arguments)
    )
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(f"{measure.__name__} failed")


MEASUREMENTS: dict[str, tuple[Callable[..., str], tuple[Any, ...], tuple[Any, ...]]] = {
    "makespan": (makespan, (200, 64, 0.05), (4, 2, 0.01)),
    "makespan-second": (makespan, (200, 64, 1.0), (2, 2, 0.01)),
    "replay": (replay, (600,), (4,)),
    "memory": (memory, (10_000,), (8,)),
}


def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(MEASUREMENTS)}; all by default")
    parser.add_argument(
        "--smoke", action="store_true", help="small sizes, to see that everything runs"
    )
    arguments = parser.parse_args()
    for name in arguments.names or MEASUREMENTS:
        measure, full, sizes = MEASUREMENTS[name]
        measure_in_process(measure, *(sizes if arguments.smoke else full))


if __name__ == "__main__":
    main()
