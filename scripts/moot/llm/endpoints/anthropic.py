"""Anthropic's own API (`POST /v1/messages`): with schemas and thinking, which its OpenAI-compatible
one leaves out.
"""

from dataclasses import asdict, replace

from moot.core.errors import TransientError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.openai import OpenAIEndpoint, no_logprobs
from moot.llm.endpoints.sizes import check_length
from moot.llm.request import Reply, Request

VERSION = "2023-06-01"
ENDED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""Why it ended, to how the chat completions API says so."""
_UNKNOWN = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
"""Keywords of JSON Schema that it refuses; replies are checked against the whole schema anyway."""


def identified(key: str) -> dict[str, str]:
    """The headers that say who asks, and in which version of the API."""
    return {"x-api-key": key, "anthropic-version": VERSION}


def _without_limits(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_without_limits(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without_limits(part) for name, part in schema.items() if name not in _UNKNOWN}


@ENDPOINTS.register("anthropic")
class AnthropicEndpoint(OpenAIEndpoint):
    """The messages API, over the connections and with the errors of the other endpoint."""

    path = "v1/messages"
    what = "message of Anthropic's"

    def __init__(self, config: ModelConfig, threads: int) -> None:
        super().__init__(config, threads)
        self._root = self._root.removesuffix("/v1")
        key = self._headers.pop("Authorization").removeprefix("Bearer ")
        self._headers |= identified(key)

    def body(self, request: Request) -> JsonObject:
        """What is sent for a request; there is no seed."""
        parameters = {
            name: value
            for name, value in request.parameters.items()
            if name not in ("context", "seed")
        }
        said = [(message.role, message.content) for message in request.messages]
        body: JsonObject = {
            "model": request.model,
            "messages": [
                {"role": role, "content": content} for role, content in said if role != "system"
            ],
            **parameters,
        }
        if system := "\n\n".join(content for role, content in said if role == "system"):
            body["system"] = system
        if request.schema is not None:
            schema = {"type": "json_schema", "schema": _without_limits(dict(request.schema))}
            body["output_config"] = {**body.get("output_config", {}), "format": schema}
        return body

    def check(self, request: Request) -> None:
        """Raise `LogprobsUnavailableError` for a request of probabilities, which it gives none of."""
        if request.choices:
            raise no_logprobs(request.model, "Anthropic's API gives none")

    def _reply(self, request: Request, response: Json, seconds: float) -> Reply:
        usage = _usage_of(response["usage"])
        reply = Reply(
            text="".join(block["text"] for block in response["content"] if block["type"] == "text"),
            reasoning="".join(
                block["thinking"] for block in response["content"] if block["type"] == "thinking"
            ),
            finish_reason=ENDED.get(response["stop_reason"], str(response["stop_reason"])),
            seconds=seconds,
            served_model=str(response.get("model") or ""),
            service_tier=str(response["usage"].get("service_tier") or ""),
            response_id=str(response.get("id") or ""),
        )
        if not reply.text and reply.finish_reason not in ("length", "content_filter"):
            raise TransientError("the reply is empty", usage)
        return check_length(request, replace(reply, **asdict(usage)))


def _usage_of(counted: Fields) -> Usage:
    """Its count of tokens: what is read from its cache, or written to it, is no part of
    `input_tokens`.
    """
    fresh, read, written, generated = (
        int(counted.get(name) or 0)
        for name in (
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        )
    )
    return Usage(fresh + read + written, generated, read)
