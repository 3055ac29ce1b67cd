"""Measure every stage after the debates for 10^3, 10^4 and 10^5 debates.

The table has seconds, processor seconds and peak memory of each stage. The debates have twenty
utterances (a courtroom with the judge's belief after each turn). A few of them are real; the others
repeat one of these on another case, with other call ids. Transcripts are in shards and calls in a
ledger. Each stage runs as in its rule's job, in a fresh process.
"""

import argparse
import hashlib
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people
from debates import FACTS, instant
from moot.core.artifacts import atomic_path, describe, read_cases
from moot.core.schemas import SCHEMAS
from moot.jobs.job_results import (
    load_study_debates,
    load_study_results,
    write_scores,
)
from moot.jobs.predictions import write_predictions
from moot.llm.ledger.ledger import Entry, Ledger
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.figures import draw
from moot.report.outcome import read_outcome, write_outcome
from moot.report.reader import render_reader
from moot.report.tables import write_table

TEMPLATES = 200
STUDY = "courtroom"
CASES = Path("results/cases/people.parquet")
PREDICTIONS = Path(f"results/predictions/{EXPERIMENT}/{MODEL}.parquet")
CALLS = Path(f"results/calls/{EXPERIMENT}/{MODEL}.parquet")
SCORES = Path(f"results/scores/{EXPERIMENT}.parquet")
OUT = Path("results/out")


def settings(shards: int) -> dict[str, Any]:
    """Return the configuration of all measurements; its paths are below the working directory."""
    config = configuration(
        "", Path("data"), {"endpoint": "instant", "base_url": None, "concurrency": 64}
    )
    config["experiments"][EXPERIMENT]["params"] = {"beliefs": "after_turn"}
    return {**config, "shards": shards}


def make(debates: int, shards: int) -> None:
    """Write cases, transcripts and ledger of a number of debates into the working directory."""
    templates, replies = _templates()
    people(CASES, debates, FACTS)
    cases, _ = read_cases(CASES)
    config = settings(shards)
    metadata = describe(EXPERIMENT, [CASES])
    ledger = Ledger(config["ledger"])
    for shard in range(shards):
        mine = range(shard, len(cases), shards)
        path = Path(f"results/transcripts/{EXPERIMENT}/{MODEL}/{shard}.parquet")
        schema = SCHEMAS["transcripts"].with_metadata(metadata)
        entries = _entries(mine, templates, replies)
        while batch := list(islice(entries, 500)):
            ledger.store(batch)
        with (
            atomic_path(path) as part,
            pq.ParquetWriter(part, schema, compression="zstd") as writer,
        ):
            for start in range(0, len(mine), 250):
                tables = [
                    _debate(number, cases[number].case_id, templates)
                    for number in mine[start : start + 250]
                ]
                writer.write_table(pa.concat_tables(tables).cast(schema))
    ledger.close()


def _templates() -> tuple[list[pa.Table], dict[str, Entry]]:
    """Return real debates, one table each, and their calls."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = instant(folder, 64)
        config["experiments"][EXPERIMENT]["params"] = {"beliefs": "after_turn"}
        hold(config, people(folder / "cases.parquet", TEMPLATES, FACTS), folder / "out.parquet")
        transcripts = pq.read_table(folder / "out.parquet")
        ledger = Ledger(config["ledger"])
        call_ids = [call_id for call_id in transcripts["call_id"].to_pylist() if call_id]
        entries = {entry.call_id: entry for entry in ledger.entries(call_ids)}
        ledger.close()
    names = transcripts["debate_id"].to_pylist()
    starts = [row for row, name in enumerate(names) if row == 0 or names[row - 1] != name]
    ends = [*starts[1:], len(names)]
    spans = zip(starts, ends, strict=True)
    return [transcripts.slice(start, end - start) for start, end in spans], entries


def _call_id(number: int, call_id: str) -> str:
    return hashlib.sha256(f"{number} {call_id}".encode()).hexdigest() if call_id else ""


def _debate(number: int, case_id: str, templates: list[pa.Table]) -> pa.Table:
    """Return a copy of a real debate on another case."""
    table = templates[number % len(templates)]
    call_ids = [_call_id(number, call_id or "") for call_id in table["call_id"].to_pylist()]
    changed = {
        "case_id": [case_id] * len(table),
        "debate_id": [f"{case_id}#0"] * len(table),
        "call_id": call_ids,
    }
    for name, values in changed.items():
        table = table.set_column(
            table.schema.get_field_index(name), name, pa.array(values, pa.string())
        )
    return table


def _entries(
    numbers: Sequence[int], templates: list[pa.Table], replies: Mapping[str, Entry]
) -> Iterator[Entry]:
    for number in numbers:
        old = number % len(templates)
        for call_id in templates[old]["call_id"].to_pylist():
            if call_id:
                entry = replies[call_id]
                request = entry.request.replace(f" File {old}.", f" File {number}.")
                yield replace(entry, call_id=_call_id(number, call_id), request=request)


class Job(SimpleNamespace):
    """The part of a Snakemake job that a stage's function reads.

    Its inputs are all files of the experiment.
    """

    def __init__(self, shards: int) -> None:
        files = [CASES, PREDICTIONS, CALLS, SCORES, *_shards(shards)]

        class Input(SimpleNamespace):
            def __iter__(self) -> Iterator[str]:
                return iter(map(str, files))

        inputs = Input(
            scores=[str(SCORES)],
            baselines=[],
            published=str(PROJECT / "data" / "published" / "published_results.csv"),
        )
        wildcards = SimpleNamespace(experiment=EXPERIMENT, model=MODEL, study=STUDY)
        super().__init__(input=inputs, wildcards=wildcards)


def _shards(shards: int) -> list[Path]:
    return [
        Path(f"results/transcripts/{EXPERIMENT}/{MODEL}/{shard}.parquet") for shard in range(shards)
    ]


def predict(plan: Plan, shards: int) -> None:
    """Write predictions and calls."""
    write_predictions(
        plan.config, plan.experiments[EXPERIMENT], CASES, _shards(shards), PREDICTIONS, CALLS
    )


def score(plan: Plan, shards: int) -> None:
    """Compute every score."""
    write_scores(SCORES, plan, EXPERIMENT, [CASES, PREDICTIONS, *_shards(shards)])


def tables(plan: Plan, shards: int) -> None:
    """Write every table of the study that this run fills, in one process.

    The workflow uses several processes.
    """
    results = load_study_results(plan, Job(shards), STUDY)
    for name in TABLES:
        if TABLES[name].study == STUDY and plan.can_fill(TABLES[name]):
            paths = {ending: OUT / f"{name}.{ending}" for ending in ("csv", "xlsx", "tex", "html")}
            paths["csv"].parent.mkdir(parents=True, exist_ok=True)
            start = time.perf_counter()
            write_table(TABLES[name], results, paths)
            _say(name, start)


def figures(plan: Plan, shards: int) -> None:
    """Draw every figure of the study that this run fills."""
    results = load_study_results(plan, Job(shards), STUDY)
    for name in FIGURES:
        if FIGURES[name].study == STUDY and plan.can_fill(FIGURES[name]):
            paths = {ending: OUT / f"{name}.{ending}" for ending in ("png", "svg")}
            paths["png"].parent.mkdir(parents=True, exist_ok=True)
            start = time.perf_counter()
            draw(FIGURES[name], results, paths)
            _say(name, start)


def _say(name: str, start: float) -> None:
    if os.environ.get("MOOT_BENCHMARK_DETAILS"):
        print(
            f"  {name}: {time.perf_counter() - start:.1f} s, {_megabytes():.0f} MB so far",
            file=sys.stderr,
        )


def reader(plan: Plan, shards: int) -> None:
    """Write the study's page of all debates."""
    parts = OUT / "reader_parts"
    parts.mkdir(parents=True, exist_ok=True)
    pieces = render_reader(STUDY, load_study_debates(plan, Job(shards)), parts)
    with atomic_path(OUT / "reader.html") as part, part.open("w", encoding="utf-8") as page:
        page.writelines(pieces)


def outcome(plan: Plan, shards: int) -> None:  # noqa: ARG001 - as the others
    """Write the outcome of the debates."""
    paths = {ending: OUT / f"outcome.{ending}" for ending in ("csv", "html")}
    write_outcome(STUDY, read_outcome([PREDICTIONS], []), paths, False)


STAGES: dict[str, Callable[[Plan, int], None]] = {
    "predict": predict,
    "score": score,
    "tables": tables,
    "figures": figures,
    "reader": reader,
    "outcome": outcome,
}


def _megabytes() -> float:
    """Return this process's peak memory.

    The memory of getrusage would include that of the parent at the start.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _run(stage: str, shards: int, into: Any) -> None:
    plan = Plan.from_yaml(settings(shards), PROJECT)
    memory_before, wall, cpu = _megabytes(), time.perf_counter(), time.process_time()
    STAGES[stage](plan, shards)
    into.put((time.perf_counter() - wall, time.process_time() - cpu, _megabytes(), memory_before))


def measure(stage: str, shards: int) -> tuple[float, float, float, float]:
    """Return seconds, processor seconds, peak megabytes, and megabytes at the start."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_run, args=(stage, shards, queue))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(f"{stage} failed")
    result: tuple[float, float, float, float] = queue.get()
    return result


def table(folder: Path, sizes: list[int], stages: list[str], a_shard: int) -> Iterator[str]:
    """Yield the rows of a Markdown table, one for each stage and size."""
    for size in sizes:
        place = folder / str(size)
        shards = max(1, size // a_shard)
        place.mkdir(parents=True, exist_ok=True)
        os.chdir(place)
        if not (place / "made").exists():
            make(size, shards)
            (place / "made").touch()
        for stage in stages:
            seconds, processor, peak, memory_before = measure(stage, shards)
            bytes_written = _size(Path("results")) if stage == stages[-1] else 0
            yield (
                f"| {stage} | {size:,} | {seconds:.1f} | {processor:.1f} | {peak:.0f} |"
                f" {memory_before:.0f} |"
            )
            if bytes_written:
                megabytes = bytes_written / 1e6
                yield f"| all that stands in results/, MB | {size:,} | {megabytes:.0f} | | | |"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--stages", nargs="*", default=list(STAGES), choices=list(STAGES))
    parser.add_argument("--a-shard", type=int, default=1_000, help="debates of a shard")
    parser.add_argument(
        "--folder", type=Path, help="keep the files in this folder, and use the existing ones"
    )
    arguments = parser.parse_args()
    print(
        "| stage | debates | seconds | processor seconds | peak MB | MB before"
        " |\n|---|--:|--:|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder.absolute() if arguments.folder else Path(temporary)
        for line in table(folder, arguments.sizes, arguments.stages, arguments.a_shard):
            print(line, flush=True)


if __name__ == "__main__":
    main()
