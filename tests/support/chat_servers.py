"""Servers of single tests: a function decides the reply to every call."""

import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat
from moot.llm.request import Message, Reply, Request
from single_calls import ask, open_chat

Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass
class ChatServer:
    """A server on this machine; `bodies` are the bodies of the calls so far."""

    host: str
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def address(self, endpoint: str) -> str:
        """Return the `base_url` for an endpoint.

        One that moot does not ship speaks OpenAI's protocol.
        """
        return self.host if endpoint in ("anthropic", "ollama") else f"{self.host}/v1"

    def chat(self, folder: Path | str, endpoint: str = "openai", **model: Any) -> Chat:
        """Return a chat with the server's model; its ledger lies in a folder."""
        entry = {"endpoint": endpoint, "model": "test", "base_url": self.address(endpoint), **model}
        return open_chat(ModelConfig(**entry), Path(folder))


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[ChatServer]:
    """Serve while the block runs: `answer` gets each request to a chat address and its body."""
    server = ChatServer("")

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/api/tags":
            return web.json_response({"models": [{"model": "test:latest", "digest": "0" * 12}]})
        if request.path == "/api/version":
            return web.json_response({"version": "0.12.0"})
        body = json.loads(await request.read() or b"{}")
        if request.method == "POST":
            server.bodies.append(body)
        return await answer(request, body)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.host = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def completion(endpoint: str, text: str | None, **fields: Any) -> dict[str, Any]:
    """Return the response of a kind of server with a reply's text.

    `fields` replace fields of the message.
    """
    if endpoint == "ollama":
        message = {"role": "assistant", "content": text, **fields}
        counts = {"prompt_eval_count": 12, "eval_count": 34}
        return {"model": "test", "message": message, "done": True, "done_reason": "stop", **counts}
    if endpoint == "anthropic":
        usage = {"input_tokens": 12, "output_tokens": 34}
        content = [{"type": "text", "text": text}]
        return {"id": "m", "model": "test", "content": content, "stop_reason": "end_turn",
                "usage": usage, **fields}  # fmt: skip
    message = {"role": "assistant", "content": text, **fields}
    usage = {"prompt_tokens": 12, "completion_tokens": 34}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"id": "c", "model": "test", "choices": choices, "usage": usage}


def question(endpoint: str = "openai", text: str = "Will it rain?", **fields: Any) -> Request:
    """Return a request; `fields` replace fields of `Request`."""
    parameters = {"max_tokens": 50, "temperature": 0.5, "seed": 1}
    values = {"parameters": parameters, "messages": (Message("user", text),), **fields}
    return Request(endpoint, "test", **values)


async def ask_once(
    server: ChatServer, endpoint: str, request: Request | None = None, **model: Any
) -> Reply:
    """Ask a server through a chat with a ledger of its own."""
    with tempfile.TemporaryDirectory() as folder:
        chat = server.chat(folder, endpoint, **model)
        return await ask(chat, request or question(endpoint))
