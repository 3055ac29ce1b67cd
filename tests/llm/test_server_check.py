"""Servers that could take no call are named before a run, by a free request."""

import asyncio
from typing import Any

from aiohttp import web

from chat_servers import serving
from messages import refusal
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.llm.server_check import find_silent_servers

STATUSES = {"wrong": 404, "closed": 401, "busy": 503}


def test_a_server_that_could_take_no_call_is_named_once(monkeypatch: Any) -> None:
    async def answer(request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        status = STATUSES.get(request.path.split("/")[1], 200)
        return web.json_response({"data": []}, status=status)

    async def check() -> list[str]:
        async with serving(answer) as server:
            paths = ("v1", "busy", "wrong", "wrong/", "closed")
            bases = [f"{server.host}/{path}" for path in paths]
            models = [
                ModelConfig.model_validate({"model": "test", "base_url": base, "attempts": 1})
                for base in (*bases, "http://127.0.0.1:1/v1")
            ]
            embedded = ModelConfig.model_validate({"endpoint": "embedded", "model": "a.gguf"})
            problems = await asyncio.to_thread(find_silent_servers, [*models, embedded])
            assert await asyncio.to_thread(find_silent_servers, [embedded]) == []
            return [problem.replace(server.host, "HOST") for problem in problems]

    monkeypatch.setenv("OPENAI_API_KEY", "")
    with refusal():
        raise UserError("\n".join(asyncio.run(check())))
