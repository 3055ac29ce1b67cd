"""Responses of many forms: finish reasons, usage, reasoning and streams of other servers."""

import json
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError, MootError, TransientError
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


def _chat(text: Any = "Half a", reason: Any = "stop", **fields: Any) -> dict[str, Any]:
    response = completion("openai", text, **fields)
    response["choices"][0]["finish_reason"] = reason
    return response


@pytest.mark.parametrize(("reason", "words"), [
    ("stop", ["stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence"]),
    ("length", ["length", "MAX_TOKENS", "max_tokens", "model_length", "token_limit"]),
    ("content_filter", ["SAFETY", "RECITATION", "content_filtered", "blocked", "sensitive",
                        "PROHIBITED_CONTENT", "content_filter"]),
    ("OTHER", ["OTHER"]), ("", [None, ""]), ("tool_calls", ["tool_calls"]),
])  # fmt: skip
def test_a_finish_reason_of_another_server_has_its_usual_name(
    reason: str, words: list[str | None]
) -> None:
    for word in words:
        assert _read(_chat(reason=word)).finish_reason == reason
        if reason in ("length", "content_filter"):
            assert _read(_chat("", word)).text == ""


@pytest.mark.parametrize("reason", [
    "error", "ERROR", "cancelled", "timeout", "aborted", "load_error", "MALFORMED_FUNCTION_CALL",
])  # fmt: skip
def test_a_reply_that_a_server_broke_off_is_no_reply(reason: str) -> None:
    with pytest.raises(TransientError, match=f"broke the reply off .*{reason}"):
        _read(_chat(reason=reason))


USAGES: list[tuple[Any, tuple[int, int]]] = [
    (None, (0, 0)), ([], (0, 0)), ([1], (0, 0)), ("12", (0, 0)), ({}, (0, 0)),
    ({"prompt_tokens": "12", "completion_tokens": 3.0}, (12, 3)),
    ({"prompt_tokens": -1, "completion_tokens": None}, (0, 0)),
    ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, (0, 0)),
    ({"input_tokens": 12, "output_tokens": 3}, (12, 3)),
    ({"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": [],
      "completion_tokens_details": "x"}, (12, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "tokens"), USAGES)
def test_no_form_of_usage_loses_a_reply(usage: Any, tokens: tuple[int, int]) -> None:
    reply = _read({**_chat(), "usage": usage})
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("Half a", *tokens)
    message = {**completion("anthropic", "Half a"), "usage": usage}
    assert _read(message, "anthropic").text == "Half a"


@pytest.mark.parametrize("fields", [
    {"reasoning_content": "Hm."}, {"reasoning": "Hm."}, {"thinking": "Hm."},
    {"reasoning_text": "Hm."}, {"reasoning": {"content": "Hm."}}, {"reasoning": [{"text": "Hm."}]},
    {"reasoning_content": None, "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
])  # fmt: skip
def test_reasoning_is_read_in_each_form(fields: dict[str, Any]) -> None:
    reply = _read(_chat("Yes.", **fields))
    assert (reply.text, reply.reasoning) == ("Yes.", "Hm.")


@pytest.mark.parametrize("fields", [
    {"refusal": False}, {"refusal": {}}, {"reasoning": 7}, {"reasoning": {"effort": 3}},
])  # fmt: skip
def test_no_form_of_a_side_field_loses_a_reply(fields: dict[str, Any]) -> None:
    assert _read(_chat("Yes.", **fields)).text == "Yes."
    assert _read(_chat(["Ye", None, "s."], **fields)).text == "Yes."


@pytest.mark.parametrize("text", ["", None, [], [None]])
def test_a_reply_without_text_is_empty(text: Any) -> None:
    with pytest.raises(TransientError, match="the reply is empty"):
        _read(_chat(text))


@pytest.mark.parametrize("choices", [[], None, {}])
def test_a_response_without_choices_says_so(choices: Any) -> None:
    with pytest.raises(TransientError, match="no choices"):
        _read({**_chat(), "choices": choices})


def _chunk(text: str | None, reason: str | None = None, **fields: Any) -> str:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": reason, **fields}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n"


STREAM = _chunk("It ") + _chunk("will.") + _chunk(None, "stop") + "data: [DONE]\n\n"
MESSAGE = {"choices": [{"message": {"content": "It will."}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("content", [
    STREAM, "\ufeff" + STREAM, STREAM.replace("\n\n", "\n"), STREAM.replace("\n", "\r\n"),
    STREAM.replace('"index": 0', '"index": "0"'), STREAM.replace("data: ", "data:"),
    "event: message\n" + STREAM, ": ping\n\nretry: 3\n\n" + STREAM,
    f"data: {json.dumps(MESSAGE)}\n\n", "\ufeff" + json.dumps(MESSAGE), json.dumps(MESSAGE),
    STREAM.replace('"delta"', '"message"'),
])  # fmt: skip
def test_a_stream_is_read_in_each_form(content: str) -> None:
    assert _read(content.encode()).text == "It will."


@pytest.mark.parametrize(("content", "words"), [
    ('event: error\ndata: {"message": "it broke", "code": 500}\n\n', "it broke"),
    (_chunk("It ") + 'data: {"object": "error", "message": "it broke"}\n\n', "it broke"),
    (_chunk("It ") + "data: error: it broke\n\n", "it broke"),
    (_chunk("It ") + 'data: {"error": {"message": "it broke"}}\n\n', "it broke"),
    ("<html><body>Please sign in</body></html>", "Please sign in"),
    ("", "empty"), (_chunk("It "), "ends before the reply is complete"),
])  # fmt: skip
def test_a_broken_stream_is_reported_in_the_servers_words(content: str, words: str) -> None:
    with pytest.raises(MootError, match=words):
        _read(content.encode())


@pytest.mark.parametrize("done", [False, True, None])
async def test_a_reply_of_ollama_that_is_not_done_is_tried_again(done: bool | None) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({**completion("ollama", "It will"), "done": done})

    async with serving(answer) as server:
        if done is not False:
            assert (await ask_once(server, "ollama", attempts=1)).text == "It will"
            return
        with pytest.raises(CallFailedError, match="ends before the reply is complete"):
            await ask_once(server, "ollama", attempts=1)
