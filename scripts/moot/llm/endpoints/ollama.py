"""Ollama's native API, by the package `ollama`.

The context length is always sent. The server is asked to refuse a prompt that does not fit, instead
of cutting it.
"""

import time
from typing import TYPE_CHECKING

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import (
    MootError,
    ServerFaultError,
    TransientError,
    UnreachableError,
)
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import register_endpoint
from moot.llm.endpoints.connections import http_options
from moot.llm.endpoints.faults import fault_in_success, fault_of_status, read_json_or_none
from moot.llm.endpoints.logprobs import choice_logprobs
from moot.llm.endpoints.messages import check_reply_content
from moot.llm.identity import server_address
from moot.llm.redaction import api_key, redacted
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import httpx
    import ollama

_TOP_LEVEL_FIELDS = ("think", "keep_alive")
"""Parameters that the API reads beside `options`."""
_KEEP_PROMPT: Fields = {"truncate": False, "shift": False}
"""Fields that make a server refuse a prompt longer than its context, and end a reply that fills the
context. By default it cuts the prompt before the reply or during it and says nothing of it. Servers
older than 0.12.6 ignore both fields."""

TRAITS = EndpointTraits(
    address_variable="OLLAMA_HOST",
    default_address="http://localhost:11434",
    example_address="http://localhost:11434",
    default_port=11434,
    has_streams=True,
    request_keys=("context",),
    setup_commands=("ollama serve", "ollama pull {model}"),
    starter_keys={"base_url": "http://localhost:11434"},
)


async def _raise_faults(response: "httpx.Response") -> None:
    """Raise the fault of a response, also with status 200.

    The package's own error has no headers, which may say how long to wait.
    """
    content = await response.aread()
    if not response.is_success:
        raise fault_of_status(response.status_code, response.headers, content)
    if b'"error"' not in content:  # most streams are long and need not be decoded twice
        return
    whole = read_json_or_none(content)
    is_whole = whole is not None  # else it is a stream, a part a line
    for part in [whole] if is_whole else map(read_json_or_none, content.splitlines()):
        # servers that speak Ollama's API send an error beside a message too
        if isinstance(part, dict) and part.get("error"):
            raise fault_in_success(part)


@register_endpoint("ollama", TRAITS)
class OllamaEndpoint:
    """Ollama's chat API; the model's digest is read once and recorded with every reply."""

    def __init__(self, config: ModelConfig, _threads: int) -> None:
        import httpx  # a replay must not load clients

        self._config = config
        self._connection_errors = (httpx.HTTPError, ValueError)
        self._client = _open_client(config)
        self._digest = ""

    async def list_models(self) -> list[JsonObject]:
        """Return the server's models, as the chat completions API lists them."""
        try:
            return [{"id": model.model} for model in (await self._client.list()).models]
        except (ConnectionError, *self._connection_errors) as error:
            raise self._fault(error) from None

    async def _served_model(self) -> str:
        if not self._digest:
            listing = await self._client.list()
            digests = {model.model: model.digest for model in listing.models}
            name = self._config.model
            tagged_name = name if ":" in name else f"{name}:latest"
            self._digest = digests.get(tagged_name) or digests.get(name) or "digest unknown"
        return f"{self._config.model} {self._digest}"

    def _options(self, request: Request) -> JsonObject:
        names = {"max_tokens": "num_predict", "context": "num_ctx"}
        options = {
            names.get(name, name): value
            for name, value in request.parameters.items()
            if name not in _TOP_LEVEL_FIELDS
        }
        if request.choices:
            options.update(num_predict=1, temperature=0)
        return options

    def _fields(self, request: Request) -> JsonObject:
        """Return the body of a call."""
        fields: JsonObject = {
            "model": request.model,
            "messages": [message.to_fields() for message in request.messages],
            "options": self._options(request),
            **_KEEP_PROMPT,
        }
        if request.schema:
            fields["format"] = dict(request.schema)
        for name in _TOP_LEVEL_FIELDS:
            if name in request.parameters:
                fields[name] = request.parameters[name]
        if request.choices:
            fields |= {"logprobs": True, "top_logprobs": self._config.top_logprobs}
        return fields

    async def complete(self, request: Request) -> Reply:
        """Make one attempt."""
        fields = self._fields(request)
        started_at = time.perf_counter()
        try:
            served_model = await self._served_model()
            response = await self._chat(fields, can_stream=not request.choices)
        except (ConnectionError, *self._connection_errors) as error:
            raise self._fault(error) from None
        return self._reply(request, response, time.perf_counter() - started_at, served_model)

    async def _chat(self, fields: JsonObject, can_stream: bool) -> "ollama.ChatResponse":
        """Return the response to a call, assembled if its entry asks for streams.

        The package's `chat` has no argument for `_KEEP_PROMPT`; its `_request` sends any field.
        """
        import ollama

        is_streamed = self._config.stream and can_stream
        response: Json = await self._client._request(
            ollama.ChatResponse,
            "POST",
            "/api/chat",
            json={**fields, "stream": is_streamed},
            stream=is_streamed,
        )
        parts: list[ollama.ChatResponse] = (
            [part async for part in response] if is_streamed else [response]
        )
        if not parts or parts[-1].done is False:
            raise ServerFaultError("the response ends before the reply is complete")
        whole = parts[-1]
        whole.message.content = "".join(part.message.content or "" for part in parts)
        whole.message.thinking = "".join(part.message.thinking or "" for part in parts)
        return whole

    @staticmethod
    def _fault(error: Exception) -> MootError:
        if isinstance(error, ConnectionError):
            return UnreachableError(redacted(error))
        message = redacted(f"{type(error).__name__}: {error}")
        is_unreadable = isinstance(error, ValueError)
        return TransientError(message) if is_unreadable else ServerFaultError(message)

    def _reply(
        self, request: Request, response: "ollama.ChatResponse", seconds: float, served_model: str
    ) -> Reply:
        usage = Usage(response.prompt_eval_count or 0, response.eval_count or 0)
        tokens = response.model_dump()["logprobs"] if request.choices else None
        logprobs, unlisted = choice_logprobs(request, tokens, usage)
        reply = Reply(
            text=response.message.content or "",
            reasoning=response.message.thinking or "",
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=response.done_reason or "",
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=seconds,
            served_model=served_model,
        )
        if not request.choices:
            check_reply_content(request.model, reply, usage if usage.tokens else None)
        return reply

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


async def _remove_key(request: "httpx.Request") -> None:
    """Remove the key in OLLAMA_API_KEY, which the package would send to any server."""
    request.headers.pop("Authorization", None)


def _open_client(config: ModelConfig) -> "ollama.AsyncClient":
    import httpx  # a replay must not load clients

    options = http_options(config, httpx)
    import ollama  # opens a client, and so reads the certificates too

    options["event_hooks"]["response"].append(_raise_faults)
    if key := api_key(config):
        options["headers"]["Authorization"] = f"Bearer {key}"
    else:
        options["event_hooks"]["request"] = [_remove_key]
    return ollama.AsyncClient(host=server_address(config), **options)
