"""Ollama's native API through the `ollama` package; the context length is always sent, truncation
is an error.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    TransientError,
    UnreachableError,
)
from moot.core.model_config import ModelConfig
from moot.core.types import Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.openai import label_logprobs, refusal
from moot.llm.endpoints.sizes import check_length, read_body
from moot.llm.identity import address
from moot.llm.redaction import api_key, redacted
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import httpx
    import ollama

_FEWEST_TOKENS_A_CHARACTER = 1 / 8
"""No tokenizer in use packs more than about eight characters of prose into a token."""
_MOST_BYTES = 2**24
"""Of any answer; a reply is held to its `max_tokens` as well."""


class _RefusedError(Exception):
    """An answer with an error status: the status, the headers and the content."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        super().__init__(status)
        self.answer = status, headers, content


async def _bound(response: "httpx.Response") -> None:
    """Read an answer's body before the client does, as far as memory allows."""
    import httpx  # a replay must not load clients

    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise CallFailedError(
            "the answer is compressed, which was not asked for: `base_url` is not an Ollama"
            " server's"
        )
    stream: Json = response.stream
    body = await read_body(stream, _MOST_BYTES)
    await stream.aclose()
    if body.size > _MOST_BYTES:
        raise CallFailedError(
            f"the answer has {body.size} bytes or more; expected {_MOST_BYTES} at most"
        )
    if response.status_code >= 300:  # the HTTP status
        raise _RefusedError(response.status_code, response.headers, body.content)
    response.stream = httpx.ByteStream(body.content)


@ENDPOINTS.register("ollama")
class OllamaEndpoint:
    """One attempt at `/api/chat`; the model's digest is read once and recorded with every reply."""

    def __init__(self, config: ModelConfig, _threads: int) -> None:
        import httpx  # a replay must not load clients
        import ollama

        self._config = config
        self._no_whole_answer = (httpx.HTTPError, ValueError)
        key = api_key(config)
        self._client = ollama.AsyncClient(
            host=address(config),
            timeout=config.timeout,
            follow_redirects=False,  # a prompt goes to `base_url` alone
            headers={
                "Accept-Encoding": "identity"
            },  # what is packed could be unpacked to any length
            event_hooks={"response": [_bound]},
        )
        self._client._client.headers.pop(
            "Authorization", None
        )  # of OLLAMA_API_KEY, which any server would get
        if key:
            self._client._client.headers["Authorization"] = f"Bearer {key}"
        self._digest = ""

    async def _served_model(self) -> str:
        if not self._digest:
            listed = await self._client.list()
            digests = {model.model: model.digest for model in listed.models}
            name = (
                self._config.model if ":" in self._config.model else f"{self._config.model}:latest"
            )
            self._digest = digests.get(name) or digests.get(self._config.model) or "digest unknown"
        return f"{self._config.model} {self._digest}"

    def _options(self, request: Request) -> JsonObject:
        names = {"max_tokens": "num_predict", "context": "num_ctx"}
        options = {names.get(name, name): value for name, value in request.parameters.items()}
        if request.choices:
            options.update(num_predict=1, temperature=0)
        return options

    async def complete(self, request: Request) -> Reply:
        """One attempt at Ollama's chat API."""
        messages = [
            {"role": message.role, "content": message.content} for message in request.messages
        ]
        extra: JsonObject = {"logprobs": True, "top_logprobs": 20} if request.choices else {}
        started = time.perf_counter()
        try:
            served_model = await self._served_model()
            response = await self._client.chat(
                model=request.model,
                messages=messages,
                options=self._options(request),
                format=dict(request.schema) if request.schema else None,
                **extra,
            )
        except _RefusedError as error:
            pull = f"Pull the model (`ollama pull {request.model}`) or check `base_url`."
            raise refusal(*error.answer, request, missing=pull) from None
        except ConnectionError as error:
            raise UnreachableError(redacted(error)) from None
        except self._no_whole_answer as error:
            raise TransientError(redacted(f"{type(error).__name__}: {error}")) from None
        reply = self._reply(request, response, time.perf_counter() - started, served_model)
        self._check_truncation(request, reply)
        return check_length(request, reply)

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
        listed = [response.logprobs[0], *(response.logprobs[0].top_logprobs or ())]
        alternatives = {item.token: item.logprob for item in listed if item.logprob is not None}
        return label_logprobs(alternatives, request.choices)

    def _check_truncation(self, request: Request, reply: Reply) -> None:
        """Ollama drops the beginning of a prompt that does not fit, and says nothing."""
        context = self._config.context
        fewest = request.prompt_characters * _FEWEST_TOKENS_A_CHARACTER
        if reply.prompt_tokens and (
            reply.prompt_tokens >= context or reply.prompt_tokens < min(fewest, context)
        ):
            raise CallFailedError(
                f"Ollama evaluated {reply.prompt_tokens} prompt tokens of a prompt of"
                f" {request.prompt_characters} characters: it was cut to the context of {context}"
                " tokens. Raise `context` for this model."
            )

    async def close(self) -> None:
        """Close the connections."""
        await self._client._client.aclose()
