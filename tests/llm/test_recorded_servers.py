"""Responses that LiteLLM's proxy (1.108) and llama.cpp's server sent, byte for byte."""

from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, question, serving
from moot.core.errors import CallFailedError, RateLimitedError, RunStoppedError, TransientError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import ENDPOINTS

NO_FALLBACK = "\n\nLiteLLM: model group 'm' failed with the error above. No fallback was attempted."


@dataclass(frozen=True)
class Recorded:
    """A recorded response, and what moot makes of it: an error with a part of its message."""

    name: str
    status: int
    message: str
    kind: str
    error: type[Exception]
    words: str
    param: str | None = None


ERRORS = [
    Recorded("429", 429, "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit"
             f" reached for requests{NO_FALLBACK}", "throttling_error", RateLimitedError, "Rate"),
    Recorded("quota", 429, "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded"
             " your current quota, please check your plan and billing details."
             f"{NO_FALLBACK}", "throttling_error", RateLimitedError, "current quota"),
    Recorded("500", 500, "litellm.InternalServerError: InternalServerError: OpenAIException - The"
             f" server had an error{NO_FALLBACK}", "internal_server_error", TransientError,
             "had an error"),
    Recorded("upstream is dead", 500, "litellm.InternalServerError: InternalServerError:"
             f" OpenAIException - Connection error.{NO_FALLBACK}", "internal_server_error",
             TransientError, "Connection error"),
    Recorded("web page upstream", 500, "litellm.InternalServerError: InternalServerError:"
             " OpenAIException - Empty or invalid response from LLM endpoint. Received:"
             " '<html>oops</html>'. Check the reverse proxy or model server"
             f" configuration.{NO_FALLBACK}", "internal_server_error", TransientError, "oops"),
    Recorded("key of the upstream", 401, "litellm.AuthenticationError: AuthenticationError:"
             f" OpenAIException - Incorrect API key provided: sk-up.{NO_FALLBACK}",
             "authentication_error", RunStoppedError, "Check the key"),
    Recorded("key of the proxy", 400, "No connected db.", "no_db_connection", RunStoppedError,
             "Check the key"),
    Recorded("model of the upstream", 404, "litellm.NotFoundError: NotFoundError: OpenAIException -"
             " The model `e404` does not exist or you do not have access to it."
             f"{NO_FALLBACK}", "invalid_request_error", RunStoppedError, "Check `model`"),
    Recorded("model of the proxy", 400, "/chat/completions: Invalid model name passed in model=x."
             " Call `/v1/models` to view available models for your key.", "invalid_request_error",
             RunStoppedError, "Check `model`"),
    Recorded("long prompt", 400, "litellm.ContextWindowExceededError: litellm.BadRequestError:"
             " ContextWindowExceededError: OpenAIException - This model's maximum context length is"
             " 4096 tokens. However, your messages resulted in 9000 tokens. Please reduce the"
             " length of the messages.\nmodel=m. context_window_fallbacks=None. fallbacks=None.",
             "invalid_request_error", CallFailedError, "shorten the cases"),
    Recorded("refused field", 400, "litellm.BadRequestError: OpenAIException - Unsupported"
             f" parameter: 'seed' is not supported with this model.{NO_FALLBACK}",
             "invalid_request_error", RunStoppedError, "`seed: null`", "seed"),
    Recorded("field of another provider", 400, "litellm.UnsupportedParamsError: anthropic does not"
             " support parameters: ['seed'], for model=claude-3. To drop these, set"
             f" `litellm.drop_params=True`{NO_FALLBACK}", "invalid_request_error", RunStoppedError,
             "`seed: null`"),
    Recorded("filtered prompt", 400, "litellm.BadRequestError: OpenAIException - The response was"
             " filtered due to the prompt triggering content management policy."
             f"{NO_FALLBACK}", "invalid_request_error", CallFailedError, "filtered", "prompt"),
    Recorded("llama.cpp, long prompt", 400, "request (3031 tokens) exceeds the available context"
             " size (1024 tokens), try increasing it", "exceed_context_size_error",
             CallFailedError, "shorten the cases"),
    Recorded("llama.cpp, key", 401, "Invalid API Key", "authentication_error", RunStoppedError,
             "Check the key"),
    Recorded("llama.cpp, schema", 400, "Unable to generate parser for this template. Automatic"
             " parser generation failed: JSON schema error at #: unrecognized type nonsense",
             "invalid_request_error", RunStoppedError, "`structured: prompted`"),
]  # fmt: skip


@pytest.mark.parametrize("recorded", ERRORS, ids=lambda recorded: recorded.name)
@pytest.mark.parametrize("stream", [False, True])
async def test_each_error_is_classified_correctly(recorded: Recorded, stream: bool) -> None:
    error = {"message": recorded.message, "type": recorded.kind, "param": recorded.param}

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        body = {"error": {**error, "code": str(recorded.status)}}
        return web.json_response(body, status=recorded.status)

    request = question("openai", schema={"type": "object"})
    async with serving(answer) as server:
        address = server.address("openai")
        config = ModelConfig(endpoint="openai", model="m", base_url=address, stream=stream)
        endpoint = ENDPOINTS["openai"](config, 1)
        try:
            with pytest.raises(recorded.error, match=recorded.words) as failure:
                await endpoint.complete(request)
        finally:
            await endpoint.close()
    assert type(failure.value) is recorded.error


CHUNK = '{{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{{"index":0,{}}}]}}'
PARTS = [CHUNK.format(part) for part in (
    '"delta":{"role":"assistant","content":""}', '"delta":{"content":"It "}',
    '"delta":{"content":"will."}', '"delta":{},"finish_reason":"stop"')]  # fmt: skip
BROKEN = (
    '{"error": {"message": "litellm.APIConnectionError: APIConnectionError: OpenAIException - '
    'Provider died", "type": null, "param": null, "code": "500"}}'
)
USAGE = (
    '{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{}}],'
    '"usage":{"completion_tokens":5,"prompt_tokens":20,"total_tokens":25}}'
)
STREAMS = {
    "whole": ([*PARTS, USAGE, "[DONE]"], "It will."),
    "error in the middle": ([*PARTS[:3], BROKEN], None),
    "ends in the middle": (PARTS[:3], None),
    "refusal, which the proxy drops": ([PARTS[0], PARTS[3], "[DONE]"], None),
}


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_of_the_proxy_is_whole_or_tried_again(name: str) -> None:
    parts, text = STREAMS[name]

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        content = "".join(f"data: {part}\n\n" for part in parts)
        return web.Response(text=content, content_type="text/event-stream")

    async with serving(answer) as server:
        if text is not None:
            reply = await ask_once(server, "openai", stream=True)
            assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == (text, 20, 5)
            return
        with pytest.raises(CallFailedError, match="gave up after 2 attempts"):
            await ask_once(server, "openai", stream=True, attempts=2)
    assert len(server.bodies) == 2
    assert all(body["stream_options"] == {"include_usage": True} for body in server.bodies)
