"""Print what moot does about each fault of a server, by the number of calls that the server sees.

python benchmarks/run.py faults.py

Each fault is answered twice, then a reply: a call that is waited for takes three requests. A
request for log-probabilities, and the counts of tokens that are billed, have lines of their own.
"""

import asyncio
import tempfile
from typing import Any

from aiohttp import web

from chat_servers import completion, question, serving
from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.llm import waiting
from moot.llm.chat import Chat, Settings
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.llm.request import Reply

ENDPOINTS = ("openai", "anthropic", "ollama")
WORDS = {"error": {"message": "the server's words"}}
FAULTS: dict[str, tuple[int, Any, dict[str, str]]] = {
    **{str(status): (status, WORDS, {}) for status in (400, 401, 402, 403, 404, 413, 422)},
    **{str(status): (status, WORDS, {}) for status in (408, 409, 425, 429, 500, 502, 503, 520)},
    **{
        f"{status}, Retry-After": (status, WORDS, {"Retry-After": "0.05"})
        for status in (429, 500, 502, 520)
    },
    "400 content_filter": (400, {"error": {"code": "content_filter", "message": "no"}}, {}),
    "429 insufficient_quota": (429, {"error": {"code": "insufficient_quota"}}, {}),
    "200 error 402": (200, {"error": {"code": 402, "message": "top up"}}, {}),
    "200 error 503": (200, {"error": {"code": 503, "message": "busy"}}, {}),
    "200 error without code": (200, {"error": "wrong path"}, {}),
    "307 elsewhere": (307, {}, {"Location": "http://192.0.2.1/"}),
}


async def observe(endpoint: str, fault: tuple[int, Any, dict[str, str]]) -> str:
    """Return what a call comes to, with the requests that it took and the waits asked for."""
    status, body, headers = fault
    count = 0

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        nonlocal count
        count += 1
        if count > 2:
            return web.json_response(completion(endpoint, "It will."))
        return web.json_response(body, status=status, headers=headers)

    async with serving(answer) as server:
        entry = {"endpoint": endpoint, "model": "test", "base_url": server.address(endpoint)}
        try:
            reply = await ask(ModelConfig(**entry))
            action = "refusal of the case" if reply.finish_reason == "content_filter" else "wait"
        except RunStoppedError:
            action = "end the calls"
        except CallFailedError:
            action = "fail the call"
    return f"{action} ({count})"


async def ask(config: ModelConfig, choices: tuple[str, ...] = ()) -> Reply:
    """Return the reply to one question."""
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat("test", config, Ledger(folder), Settings(), Progress("test", 1))
        try:
            return (await chat.ask(question(config.endpoint, choices=choices), 0))[1]
        finally:
            await chat.close()


async def count_billed(usage: dict[str, int]) -> int:
    """Return the tokens of output that moot counts."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({**completion("openai", "It will."), "usage": usage})

    async with serving(answer) as server:
        config = ModelConfig(model="test", base_url=server.address("openai"))
        return (await ask(config)).completion_tokens


async def read_logprobs(needed: float | None, unneeded: float | None) -> str:
    """Return the log-probabilities that are read where a token of the list has one or null."""
    tokens = [{"token": "YES", "logprob": needed}, {"token": "~", "logprob": unneeded}]
    body = completion("openai", "YES")
    content = [{**tokens[0], "top_logprobs": tokens}]
    body["choices"][0]["logprobs"] = {"content": content}

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(body)

    async with serving(answer) as server:
        config = ModelConfig(model="test", base_url=server.address("openai"))
        try:
            return str(dict((await ask(config, ("YES", "NO"))).logprobs))
        except (CallFailedError, LogprobsUnavailableError) as error:
            return str(error)


async def print_tables() -> None:
    """Print all tables."""
    print(f"| fault | {' | '.join(ENDPOINTS)} |\n|---|{'---|' * len(ENDPOINTS)}")
    for name, fault in FAULTS.items():
        actions = [await observe(endpoint, fault) for endpoint in ENDPOINTS]
        print(f"| {name} | {' | '.join(actions)} |")
    usage = {"prompt_tokens": 36, "completion_tokens": 10, "total_tokens": 736}
    print(f"\nbilled output of {usage}: {await count_billed(usage)}")
    for needed, unneeded in ((-0.1, -3.0), (-0.1, None), (None, -3.0)):
        result = await read_logprobs(needed, unneeded)
        print(f"log-probability {needed}, of another token {unneeded}: {result}")


def main() -> None:
    """Run the benchmark."""
    pauses = [waiting.backoff_seconds(failures) for failures in (1, 2, 4, 6, 8, 12)]
    usual_seconds = waiting.FIRST_BACKOFF_SECONDS
    waiting.FIRST_BACKOFF_SECONDS = 0.01
    try:
        asyncio.run(print_tables())
    finally:
        waiting.FIRST_BACKOFF_SECONDS = usual_seconds
    print("pause after 1, 2, 4, 6, 8, 12 failures:", *(f"{seconds:.1f} s" for seconds in pauses))


if __name__ == "__main__":
    main()
