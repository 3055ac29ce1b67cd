"""Any OpenAI-compatible server (OpenAI, vLLM, llama-server, LM Studio).

The `openai` package gives address and headers. Its typed objects and its own layers of HTTP, built
and unbuilt for each call, would take twice as long as all else that is done here; calls go through
aiohttp, which it can use as well.
"""

import json
import math
import os
import ssl
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    RateLimitedError,
    RunStoppedError,
    TransientError,
    UnreachableError,
    UserError,
)
from moot.core.model_config import ModelConfig
from moot.core.model_values import parts_of_address
from moot.core.types import Json, JsonObject
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.sizes import (
    check_length,
    counted_in,
    most_bytes,
    read_body,
    too_long,
    usage_of,
)
from moot.llm.identity import address
from moot.llm.redaction import api_key, redacted
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import aiohttp

_OF_THE_CLIENT = ("accept", "user-agent", "x-stainless")
_LARGEST_HEADER = 2**16
"""Of an answer, in bytes; what servers and those before them write into one can pass the client's
own 8,190.
"""
_OUT_OF_CREDIT = "credit balance is too low"
"""How Anthropic says it, with the status and the type of any faulty request."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_FATAL_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "invalid_api_key",
    "account_deactivated",
}


def label_logprobs(
    alternatives: Mapping[str, float], choices: Sequence[str]
) -> tuple[dict[str, float], float | None]:
    """The log-probability of each choice by the first token: the mass of the tokens that only this
    choice begins with.

        Args:
            alternatives: first token to log-probability, the most probable ones.
            choices: label words.

        Returns:
            Choice to log-probability, without those that no alternative fits; and the last
            alternative's log-probability.
    """
    mass: dict[str, float] = {}
    listed = {
        token: min(logprob, 0.0)
        for token, logprob in alternatives.items()
        if math.isfinite(logprob)
    }
    for token, logprob in listed.items():
        word = token.strip().casefold()
        fitting = [choice for choice in choices if word and choice.casefold().startswith(word)]
        if len(fitting) == 1:
            mass[fitting[0]] = mass.get(fitting[0], 0.0) + math.exp(logprob)
    logprobs = {choice: math.log(mass[choice]) for choice in choices if mass.get(choice)}
    return logprobs, min(listed.values(), default=None)


def _as_json(value: Json) -> str:
    """JSON as it is sent; half a character (a lone surrogate) is sent as a question mark."""
    return _JSON.encode(value).encode("utf-8", "replace").decode()


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
        f"model '{model}': the server gives no log-probabilities ({reason}), so `answer:"
        " likelihood` cannot be used with it. Set `answer: generation`, or use an endpoint that"
        " gives them (embedded, vLLM, OpenAI)."
    )


def refusal(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    request: Request,
    missing: str = "Check `model` and `base_url` in the configuration.",
) -> Exception:
    """An answer with an error status as one of the failures that the layer above knows what to do
    about.

        Args:
            missing: what to do where the server knows no such model.
    """
    said, codes = _error_of(content)
    message, model = redacted(f"HTTP {status} {said}"), request.model
    if (
        request.choices and "logprob" in said.casefold()
    ):  # some servers say so with 400, some with 403 or 501
        return no_logprobs(model, message)
    advice = ""
    if status < 400 and "location" in headers:  # a redirection, which no prompt follows
        advice = (
            f"The server sends on to {redacted(headers['location'])}: name that address as"
            " `base_url`."
        )
    elif status in (401, 402, 403) or codes & _FATAL_CODES or _OUT_OF_CREDIT in said.casefold():
        advice = "Check the key and the account, then run again."
    elif status == 407:  # the HTTP status
        advice = "Check the name and the password in the proxy's address (HTTP_PROXY)."
    elif status == 404 or status < 400:
        advice = missing
    if advice:
        return RunStoppedError(f"model '{model}': {message}. {advice}")
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
    return (
        " ".join([str(error.get("code") or ""), str(error.get("message") or text)]).strip(),
        codes,
    )


def _why_not_connected(error: Exception) -> str:
    """What the system said ("Connection refused"), or TLS, or a proxy; the client's own words speak
    of TLS.
    """
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
    said = (
        getattr(cause, "strerror", "")
        or getattr(cause, "message", "")
        or f"{type(cause).__name__}: {cause}"
    )
    if isinstance(cause, ssl.SSLCertVerificationError):
        said += "; an authority of your own is named by SSL_CERT_FILE"
    elif (
        isinstance(cause, OSError)
        and not isinstance(cause, ssl.SSLError)
        and cause.errno
        and cause.errno > 0
    ):
        said = os.strerror(cause.errno)
    return f"the proxy: {said}" if "Proxy" in type(error).__name__ else said


def _proxy_to(address: str) -> str | None:
    """The proxy that the environment names for an address (HTTPS_PROXY, ALL_PROXY, ... but for
    NO_PROXY).
    """
    parts, proxies = urlsplit(address), getproxies()
    exempt = proxy_bypass(parts.netloc) or proxy_bypass(
        str(parts.hostname)
    )  # IPv6 without brackets
    proxy = None if exempt else proxies.get(parts.scheme) or proxies.get("all")
    proxy = f"http://{proxy}" if proxy and "://" not in proxy else proxy
    try:
        found, _ = parts_of_address(proxy or address)
        usable = found.hostname and found.scheme in ("http", "https")
    except ValueError:
        usable = False
    if not usable:
        raise UserError(
            f"the proxy of the environment for {address}: expected http://..., found"
            f" {redacted(proxy)}."
        )
    return proxy


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
        self._no_connection = (
            aiohttp.ClientConnectorError,
            aiohttp.ConnectionTimeoutError,
            aiohttp.ClientHttpProxyError,
        )
        self._closed = aiohttp.ServerDisconnectedError
        self._no_whole_answer = (aiohttp.ClientError, OSError)
        unused = httpx2.Client(
            trust_env=False, transport=httpx2.BaseTransport()
        )  # without proxies and certificates
        with openai.OpenAI(api_key=key, base_url=address(config), http_client=unused) as client:
            self._root = str(client.base_url).rstrip("/")
            sent = {
                name: value
                for name, value in client.default_headers.items()
                if isinstance(value, str)
            }
        self._session: aiohttp.ClientSession | None = None
        headers = {name: value for name, value in sent.items() if name.casefold() != "content-type"}
        if (
            config.base_url or config.endpoint != "openai"
        ):  # an account at OpenAI that the environment names is for it alone
            headers = {
                name: value
                for name, value in headers.items()
                if name.casefold().startswith(_OF_THE_CLIENT)
            }
        self._headers = {**headers, "Authorization": f"Bearer {key}"}

    def body(self, request: Request) -> JsonObject:
        """What is sent for a request."""
        parameters = dict(request.parameters)
        parameters.pop("context", None)
        messages = [
            {"role": message.role, "content": message.content} for message in request.messages
        ]
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
        body = await self.exchange(
            "POST", self.path, request, most_bytes(request), json=self.body(request)
        )
        try:
            response = json.loads(body)
        except ValueError as error:  # a body that is not JSON, or not in UTF-8
            raise TransientError(redacted(f"unreadable reply: {error}")) from None
        return self.read(request, response, time.perf_counter() - started)

    def _connections(self) -> "aiohttp.ClientSession":
        """The connections to the server, opened in the loop that uses them."""
        if self._session is None:
            import aiohttp
            import httpx2

            try:
                context = httpx2.create_ssl_context() if self._root.startswith("https:") else True
            except OSError as error:
                raise UserError(
                    f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names: {error}."
                ) from None
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=context),
                cookie_jar=aiohttp.DummyCookieJar(),
                json_serialize=_as_json,
                timeout=aiohttp.ClientTimeout(
                    sock_connect=self._config.timeout, sock_read=self._config.timeout
                ),
                proxy=_proxy_to(self._root),
                max_field_size=_LARGEST_HEADER,
            )
        return self._session

    async def exchange(
        self, method: str, path: str, request: Request, most: int, **content: Json
    ) -> bytes:
        """The content of the server's answer, of `most` bytes at most;
        `request` is what it is about.
        """
        connections, url = self._connections(), f"{self._root}/{path}"
        content["headers"] = self._headers  # a proxy is sent those of the session as well
        follow = (
            method == "GET"
        )  # a server may keep a batch's file elsewhere; no prompt follows a redirection
        try:
            async with connections.request(
                method, url, allow_redirects=follow, **content
            ) as answer:
                body = await read_body(answer.content.iter_any(), most)  # unpacked piece by piece
            if answer.status >= 300:  # the HTTP status
                raise refusal(answer.status, answer.headers, body.content, request)
        except self._no_whole_answer as error:
            if isinstance(error, self._no_connection):
                raise UnreachableError(redacted(_why_not_connected(error))) from None
            said = getattr(error, "message", "") or error  # without a status that no server gave
            if isinstance(
                error, self._closed
            ):  # whose message may be the headers as far as they came
                said = "the connection was closed before the answer was whole"
            raise TransientError(redacted(f"{type(error).__name__}: {said}")) from None
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
                f"the reply is no {self.what} ({problem}; does base_url speak the protocol of this"
                " endpoint?)"
            ) from None

    def _reply(self, request: Request, response: Json, seconds: float) -> Reply:
        choice, counted = response["choices"][0], response.get("usage") or {}
        usage = usage_of(counted)
        message = choice["message"]
        logprobs, unlisted = (
            self._choice_logprobs(request, choice) if request.choices else ({}, None)
        )
        reply = Reply(
            text=_text(message.get("content")),
            reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=_text(choice.get("finish_reason")),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=int(
                (counted.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
            ),
            seconds=seconds,
            served_model=str(response.get("model") or ""),
            provider=str(response.get("provider") or ""),
            system_fingerprint=str(response.get("system_fingerprint") or ""),
            service_tier=str(response.get("service_tier") or ""),
            response_id=str(response.get("id") or ""),
        )
        if (
            not reply.text
            and not request.choices
            and reply.finish_reason not in ("length", "content_filter")
        ):
            raise TransientError("the reply is empty", usage if counted else None)
        return check_length(request, reply)

    @staticmethod
    def _choice_logprobs(request: Request, choice: Json) -> tuple[dict[str, float], float | None]:
        content = (choice.get("logprobs") or {}).get("content")
        if not content:
            raise no_logprobs(request.model, "its replies carry none")
        listed = [content[0], *(content[0].get("top_logprobs") or ())]
        return label_logprobs(
            {item["token"]: float(item["logprob"]) for item in listed}, request.choices
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
