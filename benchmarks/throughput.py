"""Measure calls per second and processor time per call of moot's chat and of plain AsyncOpenAI.

moot's chat includes the ledger and parsing. Bare sockets, which neither parse nor store replies,
show the limit of any client with this server on this machine.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Literal
from urllib.parse import urlsplit

import openai
from pydantic import BaseModel, Field

from fault_server import FaultServer
from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat, Settings
from moot.llm.ledger.ledger import Ledger
from moot.llm.parsing.replies import parse_reply
from moot.llm.parsing.schema import json_schema
from moot.llm.progress import Progress
from moot.llm.request import Message, Request

FACTS = (
    "The person has two prior arrests, ten years of school, a job since May and lives with the"
    " family. " * 12
)


class Verdict(BaseModel):
    """The reply that all clients request."""

    reasoning: str
    prediction: Literal["YES", "NO"]
    confidence: int = Field(ge=0, le=100)


SCHEMA = json_schema(Verdict)
FORMAT = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
PARAMETERS = {"max_tokens": 120, "temperature": 0.7, "seed": 1}


def prompt(number: int) -> list[dict[str, str]]:
    """Return messages of some 300 tokens, different for every number."""
    return [
        {"role": "system", "content": FACTS},
        {"role": "user", "content": f"Case {number}. Your verdict?"},
    ]


async def workers(count: int, calls: int, call: Callable[[int], Awaitable[None]]) -> None:
    """Make numbered calls, `count` at the same time."""
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            await call(number)

    await asyncio.gather(*(work() for _ in range(count)))


async def plain(url: str, concurrency: int, calls: int, http_client: object = None) -> None:
    """Call with the client alone, and validate replies with the schema."""
    async with openai.AsyncOpenAI(
        base_url=url, api_key="none", max_retries=0, http_client=http_client
    ) as client:

        async def call(number: int) -> None:
            reply = await client.chat.completions.create(
                model="test", messages=prompt(number), response_format=FORMAT, **PARAMETERS
            )
            Verdict.model_validate_json(reply.choices[0].message.content)

        await workers(concurrency, calls, call)


async def plain_aiohttp(url: str, concurrency: int, calls: int) -> None:
    """Call with the client and its aiohttp transport."""
    await plain(url, concurrency, calls, openai.DefaultAioHttpClient())


async def moot(url: str, concurrency: int, calls: int) -> None:
    """Make the same requests through moot, which looks up, sends, stores and parses."""
    config = ModelConfig(endpoint="openai", model="test", base_url=url, concurrency=concurrency)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(folder)
        chat = Chat("test", config, ledger, Settings(), Progress("benchmark", calls))

        async def call(number: int) -> None:
            messages = tuple(Message(**message) for message in prompt(number))
            _, reply = await chat.ask(Request("openai", "test", messages, PARAMETERS, SCHEMA), 0)
            assert parse_reply(reply.text, Verdict).status == "strict"

        await workers(concurrency, calls, call)
        await chat.close()
        assert ledger.read_totals().calls == calls
        ledger.close()


async def sockets(url: str, concurrency: int, calls: int) -> None:
    """Send the same bytes over bare connections, and receive answers without parsing."""
    address = urlsplit(url)
    head = (
        f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type:"
        " application/json\r\n"
    )
    free = [
        await asyncio.open_connection(address.hostname, address.port) for _ in range(concurrency)
    ]

    async def call(number: int) -> None:
        reader, writer = free.pop()
        body = {
            "model": "test",
            "messages": prompt(number),
            "response_format": FORMAT,
            **PARAMETERS,
        }
        payload = json.dumps(body).encode()
        writer.write(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(answer.partition(b"content-length:")[2].split()[0]))
        free.append((reader, writer))

    await workers(concurrency, calls, call)
    for _, writer in free:
        writer.close()


CONTENDERS = {
    "AsyncOpenAI": plain,
    "AsyncOpenAI, aiohttp": plain_aiohttp,
    "moot": moot,
    "bare sockets": sockets,
}


def measure(url: str, concurrency: int, calls: int, repeats: int) -> dict[str, tuple[float, float]]:
    """Return median calls per second and processor milliseconds per call by client.

    The clients take turns.
    """
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(repeats):
        for name, run in CONTENDERS.items():
            wall, cpu = time.perf_counter(), time.process_time()
            asyncio.run(run(url, concurrency, calls))
            seconds = time.perf_counter() - wall
            samples[name].append((calls / seconds, 1000 * (time.process_time() - cpu) / calls))
    medians = {}
    for name, runs in samples.items():
        rates, cpu_times = zip(*runs, strict=True)
        medians[name] = (statistics.median(rates), statistics.median(cpu_times))
    return medians


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[8, 64, 256])
    parser.add_argument("--rounds", type=int, default=30, help="calls for each unit of concurrency")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.05)
    arguments = parser.parse_args()
    print("| concurrency | client | calls/s | ratio | CPU ms/call |\n|---|---|---|---|---|")
    with FaultServer(latency=arguments.latency) as server:
        asyncio.run(moot(server.url, 2, 4))  # imports and first connections are not measured
        for concurrency in arguments.concurrency:
            results = measure(
                server.url, concurrency, concurrency * arguments.rounds, arguments.repeats
            )
            base = results["AsyncOpenAI"][0]
            for name, (rate, cpu) in results.items():
                print(
                    f"| {concurrency} | {name} | {rate:.0f} | {rate / base:.2f} | {cpu:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
