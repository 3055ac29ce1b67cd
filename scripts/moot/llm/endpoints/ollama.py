"""Ollama's native API, by the package `ollama`.

The context length is always sent, and a prompt that the server cut is an error.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    MootError,
    TransientError,
    UnreachableError,
)
from moot.core.model_config import ModelConfig
from moot.core.types import JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import register_endpoint
from moot.llm.endpoints.connections import client_options
from moot.llm.endpoints.failures import failure_of_status
from moot.llm.endpoints.logprobs import TOP_LOGPROBS, label_logprobs
from moot.llm.endpoints.reply_size import check_reply_size
from moot.llm.identity import server_address
from moot.llm.redaction import api_key, redacted
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import httpx
    import ollama

_MIN_TOKENS_PER_CHARACTER = 1 / 8
"""No tokenizer in use packs more than about eight characters of prose into a token."""

TRAITS = EndpointTraits(
    address_variable="OLLAMA_HOST",
    default_address="http://localhost:11434",
    example_address="http://localhost:11434",
    default_port=11434,
    can_be_started=True,
    request_keys=("context",),
    starter_keys={"base_url": "http://localhost:11434"},
)


class _StatusError(Exception):
    """A response with an error status.

    The package's own error has no headers, which may say how long to wait.
    """

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        super().__init__(status)
        self.status, self.headers, self.content = status, headers, content


async def _raise_for_status(response: "httpx.Response") -> None:
    if not response.is_success:
        content = await response.aread()
        raise _StatusError(response.status_code, response.headers, content)


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
        except (_StatusError, ConnectionError, *self._connection_errors) as error:
            raise self._failure(error, self._config.model) from None

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
        options = {names.get(name, name): value for name, value in request.parameters.items()}
        if request.choices:
            options.update(num_predict=1, temperature=0)
        return options

    async def complete(self, request: Request) -> Reply:
        """Make one attempt."""
        messages = [message.to_fields() for message in request.messages]
        extra: JsonObject = {}
        if request.choices:
            extra = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        started_at = time.perf_counter()
        try:
            served_model = await self._served_model()
            response = await self._client.chat(
                model=request.model,
                messages=messages,
                options=self._options(request),
                format=dict(request.schema) if request.schema else None,
                **extra,
            )
        except (_StatusError, ConnectionError, *self._connection_errors) as error:
            raise self._failure(error, request.model) from None
        reply = self._reply(request, response, time.perf_counter() - started_at, served_model)
        self._check_truncation(request, reply)
        return check_reply_size(request, reply)

    @staticmethod
    def _failure(error: Exception, model: str) -> MootError:
        if isinstance(error, _StatusError):
            remedy = f"Pull the model (`ollama pull {model}`) or check `base_url`."
            return failure_of_status(
                error.status, error.headers, error.content, model, remedy=remedy
            )
        if isinstance(error, ConnectionError):
            return UnreachableError(redacted(error))
        return TransientError(redacted(f"{type(error).__name__}: {error}"))

    def _reply(
        self, request: Request, response: "ollama.ChatResponse", seconds: float, served_model: str
    ) -> Reply:
        text = response.message.content or ""
        logprobs, unlisted = (
            self._choice_logprobs(request, response) if request.choices else ({}, None)
        )
        if not text and not request.choices and response.done_reason != "length":
            usage = Usage(response.prompt_eval_count or 0, response.eval_count or 0)
            raise TransientError("the reply is empty", usage if usage.tokens else None)
        return Reply(
            text=text,
            reasoning=response.message.thinking or "",
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=response.done_reason or "",
            prompt_tokens=response.prompt_eval_count or 0,
            completion_tokens=response.eval_count or 0,
            seconds=seconds,
            served_model=served_model,
        )

    @staticmethod
    def _choice_logprobs(
        request: Request, response: "ollama.ChatResponse"
    ) -> tuple[dict[str, float], float | None]:
        if not response.logprobs:
            raise LogprobsUnavailableError(
                f"model '{request.model}': this Ollama server gives no log-probabilities, so"
                " `answer: likelihood` cannot be used with it. Update Ollama, or set `answer:"
                " generation`."
            )
        tokens = [response.logprobs[0], *(response.logprobs[0].top_logprobs or ())]
        token_logprobs = {
            token.token: token.logprob for token in tokens if token.logprob is not None
        }
        return label_logprobs(token_logprobs, request.choices)

    def _check_truncation(self, request: Request, reply: Reply) -> None:
        """Raise `CallFailedError` if Ollama silently dropped the beginning of the prompt."""
        context = self._config.context
        min_tokens = request.prompt_characters * _MIN_TOKENS_PER_CHARACTER
        is_cut = reply.prompt_tokens >= context or reply.prompt_tokens < min(min_tokens, context)
        if reply.prompt_tokens and is_cut:
            raise CallFailedError(
                f"Ollama evaluated {reply.prompt_tokens} prompt tokens of a prompt of"
                f" {request.prompt_characters} characters: it was cut to the context of {context}"
                " tokens. Raise `context` for this model."
            )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()  # type: ignore[no-untyped-call]


async def _remove_key(request: "httpx.Request") -> None:
    """Remove the key in OLLAMA_API_KEY, which the package would send to any server."""
    request.headers.pop("Authorization", None)


def _open_client(config: ModelConfig) -> "ollama.AsyncClient":
    import httpx  # a replay must not load clients
    import ollama

    options = client_options(config, httpx.ByteStream)
    options["event_hooks"]["response"].append(_raise_for_status)
    if key := api_key(config):
        options["headers"]["Authorization"] = f"Bearer {key}"
    else:
        options["event_hooks"]["request"] = [_remove_key]
    return ollama.AsyncClient(host=server_address(config), **options)
