"""Measure the growing ledger: bytes per entry, and entries stored and read per second.

Prompts have 4 kB, and debates 13 entries.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path

from invented_replies import sentence
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.request import Message, Reply, Request, call_id

CALLS = 13
BATCH = 64
GETS = 2000
SYSTEM_PROMPT = "You are a judge in a study of how language models decide. " * 6


def make_facts(draw: random.Random) -> str:
    """Return twenty random sentences."""
    return " ".join(sentence(draw) for _ in range(20))


def debates(concurrent: int = 16) -> Iterator[Entry]:
    """Yield entries of concurrent debates without end.

    Each prompt contains the case and all earlier statements.
    """
    number = 0
    while True:
        draws = [random.Random(f"debate {number + place}") for place in range(concurrent)]
        facts = [make_facts(draw) for draw in draws]
        statements: list[list[str]] = [[] for _ in draws]
        for turn in range(CALLS):
            for draw, case, earlier in zip(draws, facts, statements, strict=True):
                content = "\n\n".join(
                    [
                        f"<facts>\n{case}\n</facts>",
                        *earlier,
                        f"Now speak for seat {turn % 3}, in 80 words.",
                    ]
                )
                messages = (Message("system", SYSTEM_PROMPT), Message("user", content))
                request = Request(
                    "openai", "m", messages, {"max_tokens": 200, "seed": turn}
                ).to_json("http://host/v1")
                text = " ".join(sentence(draw) for _ in range(4))
                reply = Reply(
                    text,
                    finish_reason="stop",
                    prompt_tokens=len(content) // 4,
                    completion_tokens=80,
                    seconds=1.234,
                    created_at="2026-11-22T10:00:00+00:00",
                    response_id=f"chatcmpl-{draw.getrandbits(64):x}",
                )
                yield Entry(call_id(request, 0), "m", request, 0, reply)
                earlier.append(f'<statement by="seat {turn % 3}">\n{text}\n</statement>')
        number += concurrent


class Clock:
    """Seconds of the wall clock and of this process, between two stops."""

    def __init__(self) -> None:
        self.seconds = self.processor = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the time of the block."""
        wall, processor = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - wall
        self.processor += time.process_time() - processor

    def rates(self, count: int) -> tuple[float, float]:
        """Return a number per second and per second of processor time."""
        return count / self.seconds, count / self.processor


def measure(ledger: str, sizes: list[int]) -> Iterator[tuple[float, ...]]:
    """Yield the measurements of a ledger at some numbers of entries.

    Yields:
        entries, characters of a request, entries stored since the previous size (in batches of 64),
        entries read one by one, and entries read with their requests in bulk: each per second, and
        per second of processor time.
    """
    open_ledger, source, call_ids = Ledger(ledger), debates(), list[str]()
    for smaller_size, size in pairwise([0, *sizes]):
        storing, reading, exporting, characters = Clock(), Clock(), Clock(), 0
        for start in range(smaller_size, size, BATCH):
            batch = list(islice(source, min(BATCH, size - start)))
            with storing.running():
                open_ledger.store(batch)
            characters += sum(len(entry.request) for entry in batch)
            call_ids.extend(entry.call_id for entry in batch[:2])
        sample = random.Random(size).choices(call_ids, k=GETS)
        with reading.running():
            for call in sample:
                open_ledger.replies([call])
        with exporting.running():
            exported = sum(1 for _ in open_ledger.entries(sample))
        new, speeds = (
            size - smaller_size,
            (
                *reading.rates(GETS),
                *exporting.rates(exported),
            ),
        )
        yield size, characters / new, *storing.rates(new), *speeds
    open_ledger.close()


def main() -> None:
    """Print one line of a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--ledger", help="SQLAlchemy URL; by default SQLite in a temporary folder")
    arguments = parser.parse_args()
    print(
        "| entries | asked, bytes | kept, bytes | stored a second | by processor | read | by"
        " processor |",
        end="",
    )
    print(" exported | by processor |\n|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size, request_size, *speeds in measure(arguments.ledger or folder, arguments.sizes):
            stored_size = sum(file.stat().st_size for file in Path(folder).iterdir()) / size
            numbers = [f"{number:.0f}" for number in (request_size, stored_size, *speeds)]
            print(f"| {size:,} | {' | '.join(numbers)} |", flush=True)


if __name__ == "__main__":
    main()
