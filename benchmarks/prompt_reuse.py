"""Prompt tokens that the embedded model takes from its cache, by protocol, for two orders of each prompt.

Shared first: as the templates are, with the facts and the growing record before the seat's own instruction. Own first:
the same prompts with the instruction moved to the front, as most people would write them.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from courtroom_runs import configuration, hold, people
from moot.errors import UserError
from moot.llm.ledger import Ledger
from moot.llm.request import Message
from moot.prompts import Prompts
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


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", help=f"of {', '.join(PROTOCOLS)}")
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=24)
    parser.add_argument("--smoke", action="store_true", help="one protocol, one case")
    chosen = parser.parse_args()
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
