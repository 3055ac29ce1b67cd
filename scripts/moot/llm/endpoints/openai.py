"""Any OpenAI-compatible server (OpenAI, vLLM, llama-server, LM Studio) through the `openai` package."""

import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    RateLimitedError,
    RunStoppedError,
    TransientError,
    UnreachableError,
)
from moot.core.model_config import ModelConfig
from moot.core.types import Json, JsonObject
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.sizes import check_length, counted_in, most_bytes, read_body, too_long, usage_of
from moot.llm.identity import address
from moot.llm.redaction import api_key, redacted
from moot.llm.request import Reply, Request

_OF_THE_CLIENT = ("accept", "user-agent", "x-stainless")
_OUT_OF_CREDIT = "credit balance is too low"
"""How Anthropic says it, with the status and the type of any faulty request."""
_FATAL_CODES = {"insufficient_quota", "billing_hard_limit_reached", "invalid_api_key", "account_deactivated"}


def label_logprobs(alternatives: Mapping[str, float], choices: Sequence[str]) -> tuple[dict[str, float], float | None]:
    """The log-probability of each choice by the first token: the mass of the tokens that only this choice begins with.

    Args:
        alternatives: first token to log-probability, the most probable ones.
        choices: label words.

    Returns:
        Choice to log-probability, without those that no alternative fits; and the last alternative's log-probability.
    """
    mass: dict[str, float] = {}
    listed = {token: min(logprob, 0.0) for token, logprob in alternatives.items() if math.isfinite(logprob)}
    for token, logprob in listed.items():
        word = token.strip().casefold()
        fitting = [choice for choice in choices if word and choice.casefold().startswith(word)]
        if len(fitting) == 1:
            mass[fitting[0]] = mass.get(fitting[0], 0.0) + math.exp(logprob)
    logprobs = {choice: math.log(mass[choice]) for choice in choices if mass.get(choice)}
    return logprobs, min(listed.values(), default=None)


def _text(value: Json) -> str:
    """A field of a reply that must be text or nothing."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"expected text, found {type(value).__name__}")
    return value or ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, from whichever header says so."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
            return seconds if math.isfinite(seconds) else None
        said = headers.get("retry-after")
        if said is None or said.strip().replace(".", "", 1).isdigit():
            return None if said is None else float(said)
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None  # neither seconds nor a date: wait as if nothing had been said


def no_logprobs(model: str, reason: str) -> LogprobsUnavailableError:
    """The error where a server gives no token probabilities."""
    return LogprobsUnavailableError(
        f"model '{model}': the server gives no log-probabilities ({reason}), so `answer: likelihood` cannot be used "
        "with it. Set `answer: generation`, or use an endpoint that gives them (embedded, vLLM, OpenAI)."
    )


def refusal(status: int, headers: Mapping[str, str], content: bytes, request: Request) -> Exception:
    """An answer with an error status as one of the failures that the layer above knows what to do about."""
    said, codes = _error_of(content)
    message, model = redacted(f"HTTP {status} {said}"), request.model
    if request.choices and "logprob" in said.casefold():  # some servers say so with 400, some with 403 or 501
        return no_logprobs(model, message)
    if status in (401, 402, 403) or codes & _FATAL_CODES or _OUT_OF_CREDIT in said.casefold():
        return RunStoppedError(f"model '{model}': {message}. Check the key and the account, then run again.")
    if status == 404:  # the HTTP status
        return RunStoppedError(f"model '{model}': {message}. Check `model` and `base_url` in the configuration.")
    if status == 429:
        return RateLimitedError(message, retry_after(headers))
    if status in (408, 409) or status >= 500:
        return TransientError(message)
    return CallFailedError(message)


def _error_of(content: bytes) -> tuple[str, set[str]]:
    """What an error's body says, and its codes; servers differ in how they put it."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except ValueError:
        return text, set()
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return str(error), set()
    codes = {str(error[name]) for name in ("code", "type") if error.get(name)}
    return " ".join([str(error.get("code") or ""), str(error.get("message") or text)]).strip(), codes


def _why_not_connected(error: BaseException) -> str:
    """What the system said ("Connection refused"); the client's own words speak of a time-out and of TLS."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.errno:
            return os.strerror(inner.errno) if inner.errno > 0 else str(inner.strerror)
        inner = inner.__cause__ or inner.__context__
    return f"{type(error).__name__}: {error}"


@ENDPOINTS.register("openai")
class OpenAIEndpoint:
    """The chat completions API. Retries are the caller's: the client makes one attempt."""

    path = "chat/completions"
    what = "chat completion"

    def __init__(self, config: ModelConfig, _threads: int) -> None:
        import aiohttp  # a replay must not load clients
        import httpx2
        import openai

        self._config = config
        key = api_key(config) or "none"
        self._no_connection = (httpx2.ConnectError, httpx2.ConnectTimeout)
        self._no_whole_answer = (httpx2.HTTPError, aiohttp.ClientError, OSError)
        self._http = openai.DefaultAioHttpClient(timeout=config.timeout)
        self._client = openai.AsyncOpenAI(api_key=key, base_url=address(config), http_client=self._http)
        self._root = str(self._client.base_url).rstrip("/")
        sent = {name: value for name, value in self._client.default_headers.items() if isinstance(value, str)}
        headers = {name: value for name, value in sent.items() if name.casefold() != "content-type"}
        if (
            config.base_url or config.endpoint != "openai"
        ):  # an account at OpenAI that the environment names is for it alone
            headers = {name: value for name, value in headers.items() if name.casefold().startswith(_OF_THE_CLIENT)}
        self._headers = {**headers, "Authorization": f"Bearer {key}"}

    def body(self, request: Request) -> JsonObject:
        """What is sent for a request."""
        parameters = dict(request.parameters)
        parameters.pop("context", None)
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        body: JsonObject = {"model": request.model, "messages": messages}
        if self._config.reasoning:
            body["max_completion_tokens"] = parameters.pop("max_tokens")
        body.update(parameters)
        if request.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._config.prompt_cache_key:
            body["prompt_cache_key"] = self._config.prompt_cache_key
        if request.choices:
            body.update(logprobs=True, top_logprobs=20, max_tokens=1, temperature=0)
        return body

    def check(self, request: Request) -> None:
        """Raise `LogprobsUnavailableError` for a request that no server can answer."""
        if request.choices and self._config.reasoning:
            raise no_logprobs(request.model, "a reasoning model thinks before it answers")

    async def complete(self, request: Request) -> Reply:
        """One attempt at the API."""
        self.check(request)
        started = time.perf_counter()
        body = await self.exchange("POST", self.path, request, most_bytes(request), json=self.body(request))
        try:
            response = json.loads(body)
        except ValueError as error:  # a body that is not JSON, or not in UTF-8
            raise TransientError(redacted(f"unreadable reply: {error}")) from None
        return self.read(request, response, time.perf_counter() - started)

    async def exchange(self, method: str, path: str, request: Request, most: int, **content: Json) -> bytes:
        """The content of the server's answer, of `most` bytes at most; `request` is what it is about.

        The client gives address, headers and transport; its typed objects, built and unbuilt for each call, would take
        twice as long as all else that is done here.
        """
        try:
            url = f"{self._root}/{path}"
            async with self._http.stream(method, url, headers=self._headers, **content) as answer:
                body = await read_body(answer.aiter_bytes(), most)  # unpacked a mebibyte at a time
            if answer.status_code >= 400:  # the HTTP status
                raise refusal(answer.status_code, answer.headers, body.content, request)
        except self._no_whole_answer as error:
            if isinstance(error, self._no_connection):
                raise UnreachableError(redacted(_why_not_connected(error))) from None
            raise TransientError(redacted(f"{type(error).__name__}: {error}")) from None
        if body.size > most:
            raise too_long(request, body.size, counted_in(body.tail))
        return body.content

    def read(self, request: Request, response: Json, seconds: float) -> Reply:
        """The reply in a body of the API.

        Raises:
            TransientError: the body holds none, or an empty one.
        """
        try:
            return self._reply(request, response, seconds)
        except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
            problem = redacted(f"{type(error).__name__}: {error}")
            raise TransientError(
                f"the reply is no {self.what} ({problem}; does base_url speak the protocol of this endpoint?)"
            ) from None

    def _reply(self, request: Request, response: Json, seconds: float) -> Reply:
        choice, counted = response["choices"][0], response.get("usage") or {}
        usage = usage_of(counted)
        message = choice["message"]
        logprobs, unlisted = self._choice_logprobs(request, choice) if request.choices else ({}, None)
        reply = Reply(
            text=_text(message.get("content")),
            reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=_text(choice.get("finish_reason")),
            **asdict(usage),
            reasoning_tokens=int((counted.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0),
            seconds=seconds,
            served_model=str(response.get("model") or ""),
            provider=str(response.get("provider") or ""),
            system_fingerprint=str(response.get("system_fingerprint") or ""),
            service_tier=str(response.get("service_tier") or ""),
            response_id=str(response.get("id") or ""),
        )
        if not reply.text and not request.choices and reply.finish_reason not in ("length", "content_filter"):
            raise TransientError("the reply is empty", usage if counted else None)
        return check_length(request, reply)

    @staticmethod
    def _choice_logprobs(request: Request, choice: Json) -> tuple[dict[str, float], float | None]:
        content = (choice.get("logprobs") or {}).get("content")
        if not content:
            raise no_logprobs(request.model, "its replies carry none")
        listed = [content[0], *(content[0].get("top_logprobs") or ())]
        return label_logprobs({item["token"]: float(item["logprob"]) for item in listed}, request.choices)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
