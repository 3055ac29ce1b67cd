"""Prompt tokens that the embedded model takes from its cache, by protocol, for two orders of each prompt.

Shared first: as the templates are, with the facts and the growing record before the seat's own instruction. Own first:
the same prompts with the instruction moved to the front, as most people would write them.

With `--calls results/calls` nothing is asked: the calls of a finished run tell what the cache served, and the longest
common beginning of each prompt with the one before it, in characters, tells what it could serve in either order.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq

from courtroom_runs import configuration, hold, people
from moot.core.errors import UserError
from moot.llm.ledger.ledger import Ledger
from moot.llm.prompts import Prompts
from moot.llm.request import Message
from moot.protocols import PROTOCOLS

FACTS = (
    "A person of {years} years of school with {prior} prior arrests. The first arrest was at fourteen, for theft. Both "
    "parents lived at home until the age of twelve; since then the person has lived with an aunt. There has been a job "
    "since May in a warehouse, thirty hours a week, and the supervisor speaks of punctual and careful work. Marijuana "
    "was used twice in the past year. Two close friends have been arrested, and one of them twice."
)


@contextmanager
def own_first() -> Iterator[None]:
    """Within this block every prompt has its own instruction before what the seats share."""
    render = Prompts.render

    def reordered(self: Prompts, name: str, **context: Any) -> tuple[Message, ...]:
        return tuple(
            replace(message, content=_instruction_first(message.content)) if message.role == "user" else message
            for message in render(self, name, **context)
        )

    with mock.patch.object(Prompts, "render", reordered):
        yield


def _instruction_first(content: str) -> str:
    """The text after the last enclosed section, moved before all of them."""
    closings = list(re.finditer(r"^</[a-z]+>$", content, re.MULTILINE))
    end = closings[-1].end() if closings else 0
    return f"{content[end:].strip()}\n\n{content[:end].strip()}" if end else content


def tokens(protocol: str, cases: int, max_tokens: int) -> tuple[int, int]:
    """Prompt tokens in all, and those from the cache, of a protocol over some cases."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = {"endpoint": "embedded", "model": "smollm2-135m", "base_url": None, "concurrency": 1, "timeout": 600}
        experiment = {"protocol": protocol, "params": {"max_tokens": max_tokens}}
        config = configuration("", folder, {**model, "max_tokens": max_tokens}, experiment=experiment)
        said = hold(config, people(folder / "cases.parquet", cases, FACTS), folder / "out.parquet")
        ledger = Ledger(config["ledger"])
        replies = ledger.replies([call_id for call_id in said["call_id"] if call_id]).values()
        ledger.close()
    return sum(reply.prompt_tokens for reply in replies), sum(reply.cached_tokens for reply in replies)


def of_finished_run(folder: Path) -> Iterator[str]:
    """A Markdown row for each experiment's calls: evaluated tokens a call with the other order, and as they were."""
    for path in sorted(folder.glob("*/*.parquet")):
        rows = pq.read_table(path, columns=["request", "prompt_tokens", "cached_tokens"]).to_pylist()
        prompts = [[tuple(message) for message in json.loads(row["request"])["messages"]] for row in rows]
        if not rows:
            continue
        served = {True: 0.0, False: 0.0}
        for moved in served:
            texts = ["\n".join(_instruction_first(text) if moved else text for _, text in each) for each in prompts]
            for row, (before, text) in zip(rows[1:], pairwise(texts), strict=True):
                common = next((n for n, (a, b) in enumerate(zip(before, text, strict=False)) if a != b), len(text))
                served[moved] += row["prompt_tokens"] * common / max(len(text), 1)
        total, cached = (sum(row[name] for row in rows) for name in ("prompt_tokens", "cached_tokens"))
        numbers = [(total - tokens) / len(rows) for tokens in (0, served[True], served[False], cached)]
        yield f"| {path.parent.name} | {' | '.join(f'{number:.0f}' for number in numbers)} | {cached / total:.0%} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", help=f"of {', '.join(PROTOCOLS)}")
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=24)
    parser.add_argument("--smoke", action="store_true", help="one protocol, one case")
    parser.add_argument("--calls", type=Path, help="folder of a finished run's exported calls")
    chosen = parser.parse_args()
    if chosen.calls:
        print(
            "| experiment | prompt tokens a call | own first (reckoned) | shared first (reckoned) | measured | cached |"
        )
        print("|---|---|---|---|---|---|", *of_finished_run(chosen.calls), sep="\n")
        return
    cases, protocols = (1, ["zero_shot"]) if chosen.smoke else (chosen.cases, chosen.protocols or list(PROTOCOLS))
    print("| protocol | order | prompt tokens a debate | evaluated | from the cache |\n|---|---|---|---|---|")
    for protocol in protocols:
        try:
            shared = tokens(protocol, cases, chosen.max_tokens)
            with own_first():
                own = tokens(protocol, cases, chosen.max_tokens)
        except UserError as error:
            print(f"| {protocol} | not on these cases: {error} | | | |")
            continue
        for order, (total, cached) in (("own first", own), ("shared first", shared)):
            evaluated, share = (total - cached) / cases, cached / total
            print(f"| {protocol} | {order} | {total / cases:.0f} | {evaluated:.0f} | {share:.0%} |", flush=True)


if __name__ == "__main__":
    main()
