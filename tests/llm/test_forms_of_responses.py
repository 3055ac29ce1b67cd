"""Responses of many forms: usage, streams and compression of other servers."""

import gzip
import json
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError, MootError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints.anthropic import AnthropicEndpoint
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.request import Reply


def _read(response: object, kind: str = "openai") -> Reply:
    endpoints = {"openai": OpenAIEndpoint, "anthropic": AnthropicEndpoint}
    config = ModelConfig(endpoint=kind, model="m", base_url="http://localhost:1/v1", stream=True)
    endpoint = endpoints[kind](config, 1)
    content = response if isinstance(response, bytes) else json.dumps(response).encode()
    return endpoint.read_reply(question(kind), endpoint._read_content(content), 0.0)


USAGES: list[tuple[Any, tuple[int, int]]] = [
    (None, (0, 0)), ([], (0, 0)), ([1], (0, 0)), ("12", (0, 0)), ({}, (0, 0)),
    ({"prompt_tokens": -1, "completion_tokens": None}, (0, 0)),
    ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, (0, 0)),
    ({"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": [],
      "completion_tokens_details": "x"}, (12, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "tokens"), USAGES)
def test_no_form_of_usage_loses_a_reply(usage: Any, tokens: tuple[int, int]) -> None:
    reply = _read({**completion("openai", "Half a"), "usage": usage})
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("Half a", *tokens)
    message = {**completion("anthropic", "Half a"), "usage": usage}
    assert _read(message, "anthropic").text == "Half a"


def _chunk(text: str | None, reason: str | None = None, **fields: Any) -> str:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": reason, **fields}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n"


STREAM = _chunk("It ") + _chunk("will.") + _chunk(None, "stop") + "data: [DONE]\n\n"
MESSAGE = {"choices": [{"message": {"content": "It will."}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("content", [
    STREAM, STREAM.replace("\n\n", "\n"), STREAM.replace("\n", "\r\n"),
    STREAM.replace("data: ", "data:"), "event: message\n" + STREAM,
    ": ping\n\nretry: 3\n\n" + STREAM, json.dumps(MESSAGE),
])  # fmt: skip
def test_a_stream_is_read_in_each_form(content: str) -> None:
    assert _read(content.encode()).text == "It will."


@pytest.mark.parametrize(("content", "words"), [
    (_chunk("It ") + 'data: {"object": "error", "message": "it broke"}\n\n', "it broke"),
    (_chunk("It ") + "data: error: it broke\n\n", "it broke"),
    (_chunk("It ") + 'data: {"error": {"message": "it broke", "code": 502}}\n\n', "502: it broke"),
    ("<html><body>Please sign in</body></html>", "Please sign in"),
    ("", "empty"), (_chunk("It "), "ends before the reply is complete"),
])  # fmt: skip
def test_a_broken_stream_is_reported_in_the_servers_words(content: str, words: str) -> None:
    with pytest.raises(MootError, match=words):
        _read(content.encode())


@pytest.mark.parametrize("done", [False, True, None])
async def test_a_reply_of_ollama_that_is_not_done_is_waited_for(done: bool | None) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({**completion("ollama", "It will"), "done": done})

    async with serving(answer) as server:
        if done is not False:
            assert (await ask_once(server, "ollama", attempts=1)).text == "It will"
            return
        with pytest.raises(RunStoppedError, match="ends before the reply is complete"):
            await ask_once(server, "ollama", waits={"max_outage": 0.1})


@pytest.mark.parametrize("endpoint", ["openai", "ollama", "anthropic"])
async def test_a_response_that_is_compressed_unasked_is_refused(endpoint: str) -> None:
    asked = []

    async def answer(request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        asked.append(request.headers["Accept-Encoding"])
        content = gzip.compress(json.dumps(completion(endpoint, "It will.")).encode())
        return web.Response(body=content, headers={"Content-Encoding": "gzip"})

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match=r"compressed \(gzip\), although none was asked"):
            await ask_once(server, endpoint)
    assert asked == ["identity"]
