"""A reply that is streamed in parts equals the reply that the server would have sent whole."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError, RunStoppedError
from moot.llm.endpoints.streams import assemble_completion

pytestmark = pytest.mark.usefixtures("short_pauses")

ENDPOINTS = ("openai", "anthropic", "ollama")
TEXTS = (
    "Über die Mauer 🌧️ 将会下雨。",
    "data: [DONE]\n\ndata: {}\n",
    "a" * 5000,
)


def split_text(text: str, size: int = 3) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def stream_of_completion(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the chunks of a chat completion, the usage in a chunk without choices."""
    shared = {name: response[name] for name in ("id", "model")}
    (choice,) = response["choices"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name, value in choice["message"].items():
        if name == "role" or value is None:
            continue
        if isinstance(value, str):
            deltas += [{name: part} for part in split_text(value)]
        else:
            deltas += [{name: [part]} for part in value]
    chunks = [
        {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks.append({**shared, "choices": [end]})
    chunks.append({**shared, "choices": [], "usage": response["usage"]})
    return chunks


def stream_of_message(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a message of Anthropic's."""
    start = {**response, "content": [], "stop_reason": None}
    start["usage"] = {**response["usage"], "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(response["content"]):
        field = block["type"] if block["type"] in ("text", "thinking") else None
        first = {**block, field: ""} if field else block
        events.append({"type": "content_block_start", "index": index, "content_block": first})
        for part in split_text(block[field]) if field else ():
            delta = {"type": f"{field}_delta", field: part}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": response["stop_reason"], "stop_sequence": None}
    output = {"output_tokens": response["usage"]["output_tokens"]}
    events.append({"type": "message_delta", "delta": end, "usage": output})
    events.append({"type": "message_stop"})
    return events


def stream_of_chat(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a response of Ollama's."""
    message = response["message"]
    parts = []
    for name in ("thinking", "content"):
        for part in split_text(message.get(name) or ""):
            part_message = {"role": "assistant", "content": "", name: part}
            parts.append({"model": "test", "message": part_message, "done": False})
    end = {**response, "message": {"role": "assistant", "content": ""}}
    return [*parts, end]


def as_lines(endpoint: str, parts: Iterable[dict[str, Any]], line_end: str = "\n") -> bytes:
    """Return a stream as it is sent: events, or a line for each part."""
    if endpoint == "ollama":
        return "".join(json.dumps(part) + line_end for part in parts).encode()
    lines = [f": keep-alive{line_end}{line_end}"]
    for part in parts:
        name = f"event: {part['type']}{line_end}" if endpoint == "anthropic" else ""
        data = json.dumps(part, ensure_ascii=False)
        lines.append(f"{name}data: {data}{line_end}{line_end}")
    if endpoint == "openai":
        lines.append(f"data: [DONE]{line_end}{line_end}")
    return "".join(lines).encode()


STREAMS = {
    "openai": stream_of_completion,
    "anthropic": stream_of_message,
    "ollama": stream_of_chat,
}
THOUGHT = {
    "openai": {"reasoning_content": "Hm, the sky."},
    "anthropic": {
        "content": [
            {"type": "thinking", "thinking": "Hm, the sky.", "signature": "s"},
            {"type": "text", "text": "It will."},
        ]
    },
    "ollama": {"thinking": "Hm, the sky."},
}


async def ask(endpoint: str, content: bytes, body: list[Any] | None = None, **model: Any) -> Any:
    async def answer(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for start in range(0, len(content), 700):
            await response.write(content[start : start + 700])
        await response.write_eof()
        return response

    async with serving(answer) as server:
        reply = await ask_once(server, endpoint, **{"stream": True, **model})
        if body is not None:
            body += server.bodies
        return replace(reply, seconds=0.0, started_at="", ended_at="", created_at="")


async def ask_whole(endpoint: str, response: dict[str, Any]) -> Any:
    return await ask(endpoint, json.dumps(response).encode(), stream=False)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(
    ("text", "line_end"), [*((text, "\n") for text in TEXTS), ("It will.", "\r\n")], ids=repr
)
async def test_a_streamed_reply_equals_the_whole_one(
    endpoint: str, text: str, line_end: str
) -> None:
    response = completion(endpoint, text)
    bodies: list[Any] = []
    streamed = await ask(
        endpoint, as_lines(endpoint, STREAMS[endpoint](response), line_end), bodies
    )
    assert streamed == await ask_whole(endpoint, response)
    assert streamed.text == text and streamed.completion_tokens == 34
    assert bodies[0]["stream"] is True


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_reasoning_and_finish_reasons_are_those_of_the_whole_reply(endpoint: str) -> None:
    response = completion(endpoint, "It will.", **THOUGHT[endpoint])
    if endpoint == "openai":
        response["choices"][0]["finish_reason"] = "length"
    streamed = await ask(endpoint, as_lines(endpoint, STREAMS[endpoint](response)))
    assert streamed == await ask_whole(endpoint, response)
    assert streamed.reasoning == "Hm, the sky."


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I will not."},
        {"content": None, "reasoning": "Hm."},
    ],
)
async def test_other_forms_of_a_message_can_be_streamed(message: dict[str, Any]) -> None:
    response = completion("openai", None, **message)
    streamed = await ask("openai", as_lines("openai", stream_of_completion(response)))
    assert streamed == await ask_whole("openai", response)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_a_stream_that_ends_early_is_not_a_reply(endpoint: str) -> None:
    parts = STREAMS[endpoint](completion(endpoint, "It will rain in the whole of the country."))
    beginning = parts[: len(parts) // 2]
    content = as_lines(endpoint, beginning).replace(b"data: [DONE]\n\n", b"")
    with pytest.raises(RunStoppedError, match="ends before the reply is complete"):
        await ask(endpoint, content, waits={"max_outage": 0.05})


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_an_error_within_a_stream_reaches_the_user(endpoint: str) -> None:
    parts = STREAMS[endpoint](completion(endpoint, "It will rain."))
    error: dict[str, Any] = {"error": {"type": "api_error", "message": "no room here"}}
    if endpoint == "ollama":
        error = {"error": "no room here"}
    if endpoint == "anthropic":
        error |= {"type": "error"}
    with pytest.raises((CallFailedError, RunStoppedError), match="no room here"):
        content = as_lines(endpoint, [*parts[:2], error])
        await ask(endpoint, content, waits={"max_outage": 0.05})


async def test_an_error_beside_the_last_message_of_ollama_reaches_the_user() -> None:
    """`ollama-proxy-plus` 0.1.0 ends a stream so if its own server fails."""
    parts = stream_of_chat(completion("ollama", "It will rain."))
    end = {**parts[-1], "done_reason": "error", "error": "no room here"}
    with pytest.raises(CallFailedError, match="no room here"):
        await ask("ollama", as_lines("ollama", [*parts[:2], end]))


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_a_server_may_send_a_whole_answer_instead_of_a_stream(endpoint: str) -> None:
    response = completion(endpoint, "It will.")
    streamed = await ask(endpoint, json.dumps(response).encode())
    assert streamed.text == "It will."


async def test_probabilities_are_not_streamed() -> None:
    bodies: list[Any] = []

    async def answer(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        bodies.append(body)
        response = completion("openai", "yes")
        token = {"token": "yes", "logprob": -0.1, "top_logprobs": []}
        response["choices"][0]["logprobs"] = {"content": [token]}
        return web.json_response(response)

    async with serving(answer) as server:
        request = question("openai", choices=("yes", "no"))
        await ask_once(server, "openai", request, stream=True)
    assert "stream" not in bodies[0] and "stream_options" not in bodies[0]


@given(st.text(max_size=60), st.integers(1, 7))
def test_any_text_survives_a_stream(text: str, size: int) -> None:
    chunks = [
        {"choices": [{"delta": {"content": part}, "finish_reason": None}]}
        for part in split_text(text, size)
    ]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    message = assemble_completion(as_lines("openai", chunks))["choices"][0]["message"]
    assert message.get("content", "") == text
