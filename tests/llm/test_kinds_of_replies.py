"""Test which responses are replies, and which are failures of the server.

Replies are an answer, a refusal, or reasoning alone.
"""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError
from moot.llm.ledger.ledger import Ledger

pytestmark = pytest.mark.usefixtures("short_pauses")


def _openai(text: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    content = completion("openai", text, **message)
    content["choices"][0]["finish_reason"] = finish_reason
    return content


def _anthropic(*blocks: dict[str, Any], stop_reason: str = "end_turn") -> dict[str, Any]:
    return completion("anthropic", "", content=list(blocks), stop_reason=stop_reason)


_PARTS = [{"type": "text", "text": "It "}, {"type": "text", "text": "will."}]
REPLIES: list[tuple[str, dict[str, Any], tuple[str, str, str]]] = [
    ("openai", _openai("It will."), ("It will.", "", "stop")),
    ("openai", _openai(_PARTS), ("It will.", "", "stop")),
    ("openai", _openai(["It ", "will."]), ("It will.", "", "stop")),
    ("openai", _openai(None, refusal="I will not."), ("I will not.", "", "refusal")),
    ("openai", _openai("", refusal="I will not."), ("I will not.", "", "refusal")),
    ("openai", _openai("It will.", refusal=None), ("It will.", "", "stop")),
    ("openai", _openai(None, reasoning_content="Hm."), ("", "Hm.", "stop")),
    ("openai", _openai("Yes.", reasoning="Hm."), ("Yes.", "Hm.", "stop")),
    ("openai", _openai("", "length", reasoning="Hm."), ("", "Hm.", "length")),
    ("openai", _openai(None, "content_filter"), ("", "", "content_filter")),
    ("anthropic", _anthropic({"type": "text", "text": "It will."}), ("It will.", "", "stop")),
    ("anthropic", _anthropic({"type": "thinking", "thinking": "Hm."}), ("", "Hm.", "stop")),
    ("anthropic", _anthropic(stop_reason="refusal"), ("", "", "content_filter")),
    ("ollama", completion("ollama", "", thinking="Hm."), ("", "Hm.", "stop")),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "content", "expected"), REPLIES)
async def test_a_reply_is_kept_at_the_first_attempt(
    endpoint: str, content: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(content)

    async with serving(answer) as server:
        reply = await ask_once(server, endpoint)
    assert (reply.text, reply.reasoning, reply.finish_reason) == expected
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 34)
    assert len(server.bodies) == 1


def _broken_off(reason: str, **choice: Any) -> dict[str, Any]:
    content = _openai("The defence argues that", reason)
    content["choices"][0] |= choice
    return content


FAILURES: list[tuple[str, dict[str, Any], str]] = [
    ("openai", _broken_off("error"), "finish_reason error"),
    ("openai", _broken_off("error", error={"code": 502, "message": "it went away"}),
     "it went away"),
    ("openai", _broken_off("", error={"message": "it went away"}), "it went away"),
    ("openai", _openai(""), "the reply is empty"),
    ("openai", _openai(None), "the reply is empty"),
    ("openai", _openai(7), "no chat completion"),
    ("openai", {"choices": [{}], "usage": {"prompt_tokens": 12, "completion_tokens": 34}},
     "no chat completion"),
    ("anthropic", _anthropic(), "the reply is empty"),
    ("anthropic", _anthropic({"text": "x"}), "no message of Anthropic's"),
    ("ollama", completion("ollama", ""), "the reply is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "content", "message"), FAILURES)
async def test_a_failure_is_tried_again_and_its_tokens_count(
    endpoint: str, content: dict[str, Any], message: str, tmp_path: Path
) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(content)

    async with serving(answer) as server:
        chat = server.chat(tmp_path, endpoint, attempts=2)
        with pytest.raises(CallFailedError, match=message):
            await chat.ask(question(endpoint), 0)
        await chat.close()
    assert len(server.bodies) == 2
    totals = Ledger(str(tmp_path)).read_totals()
    assert (totals.calls, totals.tokens) == (0, 2 * (12 + 34))


async def test_a_reply_with_only_reasoning_mentions_the_servers_parser(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(_openai(None, reasoning_content="Hm."))

    async with serving(answer) as server:
        await ask_once(server, "openai", question(text="a"), model="a-model-of-its-own")
        await ask_once(server, "openai", question(text="b"), model="a-model-of-its-own")
    assert caplog.text.count("reasoning parser") == 1
