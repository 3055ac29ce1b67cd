"""Replies and streams of public bug reports about tools that read what models write."""

import json
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, question, serving
from moot.core.errors import CallFailedError


def _chunk(**choice: Any) -> str:
    return json.dumps({"id": "c", "model": "test", "choices": [{"index": 0, **choice}]})


STREAMS = {
    "NousResearch/hermes-agent#80822": ["null"],
    "pydantic/pydantic-ai#5165": ['{"id": "c", "choices": null}'],
    "BerriAI/litellm#27968": ['{"id": "c", "choices": []}'],
    "BerriAI/litellm#859": [_chunk(delta={"content": None})],
    "agentuniverse-ai/agentUniverse#772": [_chunk(delta=None), '{"id": "c"}'],
    "sgl-project/sglang#3912": [_chunk(delta={"role": None, "content": "", "tool_calls": None},
                                       logprobs=None, finish_reason="")],
    "mistralai/client-python#621": [_chunk(delta={"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]})],
    "a comment as a sign of life": [""],
}  # fmt: skip


@pytest.mark.parametrize("report", STREAMS)
async def test_streams_of_public_reports(report: str) -> None:
    parts = [_chunk(delta={"content": "It "}), *STREAMS[report], _chunk(delta={"content": "will."}),
             *STREAMS[report], _chunk(delta={}, finish_reason="stop"), "[DONE]"]  # fmt: skip

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        events = [f"data: {part}\n\n" if part else ": ping\n\n" for part in parts]
        return web.Response(text="".join(events), content_type="text/event-stream")

    async with serving(answer) as server:
        assert (await ask_once(server, "openai", stream=True)).text == "It will."


@pytest.mark.parametrize("choices", [[], None, [{"message": None, "finish_reason": "stop"}]])
async def test_a_response_without_a_message_is_tried_again(choices: Any) -> None:
    """jingyaogong/minimind#769: no choice, or one without a message, with status 200."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({"id": "c", "model": "test", "choices": choices})

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match=r"2 attempts .*(no choices|no chat completion)"):
            await ask_once(server, "openai", attempts=2)
    assert len(server.bodies) == 2


@pytest.mark.parametrize("message", [None, {"role": "assistant", "content": None}])
async def test_a_filtered_reply_without_a_message_is_kept(message: Any) -> None:
    """jingyaogong/minimind#769: a provider's filter leaves `message: null`."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        choice = {"index": 0, "message": message, "finish_reason": "content_filter"}
        return web.json_response({"id": "c", "model": "test", "choices": [choice]})

    async with serving(answer) as server:
        reply = await ask_once(server, "openai")
    assert (reply.text, reply.finish_reason) == ("", "content_filter")
    assert len(server.bodies) == 1


async def test_a_stream_without_a_finish_reason_is_not_paid_for_without_end() -> None:
    """earendil-works/pi#4345: some gateways send `finish_reason: null` up to the end."""
    parts = [_chunk(delta={"content": "It will."}, finish_reason=None), "[DONE]"]

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        text = "".join(f"data: {part}\n\n" for part in parts)
        return web.Response(text=text, content_type="text/event-stream")

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match="no finish_reason; set `stream: false`"):
            await ask_once(server, "openai", stream=True, attempts=2)
    assert len(server.bodies) == 2


async def test_probabilities_without_a_list_of_the_likeliest_are_read() -> None:
    """BerriAI/litellm#21932: `top_logprobs: null` where a list is expected."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        token = {"token": "YES", "logprob": -0.1, "top_logprobs": None}
        choice = {"message": {"content": "YES"}, "finish_reason": "length"}
        return web.json_response({"choices": [{**choice, "logprobs": {"content": [token]}}]})

    async with serving(answer) as server:
        reply = await ask_once(server, "openai", question(choices=("YES", "NO")))
    assert (reply.logprobs, reply.unlisted_logprob) == (pytest.approx({"YES": -0.1}), -0.1)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_that_the_engine_aborted_is_not_kept(stream: bool) -> None:
    """vllm-project/vllm#57082: half a reply with status 200, `abort` and the mark of the end."""
    parts = [_chunk(delta={"content": "It"}), _chunk(delta={}, finish_reason="abort"), "[DONE]"]

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        if stream:
            return web.Response(text="".join(f"data: {part}\n\n" for part in parts))
        choice = {"message": {"content": "It"}, "finish_reason": "abort"}
        return web.json_response({"choices": [choice]})

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match=r"broke the reply off \(finish_reason abort"):
            await ask_once(server, "openai", stream=stream, attempts=2)
    assert len(server.bodies) == 2


async def test_a_call_of_a_tool_that_was_not_offered_is_named() -> None:
    """diegosouzapw/OmniRoute#12696: a gateway adds its own tools, and returns their calls."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        choice = {"message": {"content": None, "tool_calls": []}, "finish_reason": "tool_calls"}
        return web.json_response({"choices": [choice]})

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match=r"is empty \(finish_reason tool_calls"):
            await ask_once(server, "openai", attempts=1)
