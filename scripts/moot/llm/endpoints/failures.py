"""How a server's error becomes one of moot's errors.

There are five: `RateLimitedError` (wait), `TransientError` and its subclass `UnreachableError` (try
again), `CallFailedError` (this request cannot be answered), `LogprobsUnavailableError` and
`RunStoppedError` (no request can be answered).
"""

import json
import math
import os
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    MootError,
    RateLimitedError,
    RunStoppedError,
    TransientError,
    UnreachableError,
)
from moot.llm.redaction import redacted

CHECK_MODEL = "Check `model` and `base_url` in the configuration."
_NO_CREDIT = "credit balance is too low"
"""Anthropic's message for an empty account, sent with the status and type of a faulty request."""
_FATAL_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "invalid_api_key",
    "account_deactivated",
}


class ErrorBody(NamedTuple):
    """The message in the body of an error response, and the error's codes."""

    message: str
    codes: set[str]


def logprobs_unavailable(model: str, reason: str) -> LogprobsUnavailableError:
    """Return the error for a server that gives no token probabilities."""
    return LogprobsUnavailableError(
        f"model '{model}': the server gives no log-probabilities ({reason}), so `answer:"
        " likelihood` cannot be used with it. Set `answer: generation`, or use an endpoint that"
        " gives them (embedded, vLLM, OpenAI)."
    )


def failure_of_status(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    model: str,
    *,
    asks_logprobs: bool = False,
    remedy: str = CHECK_MODEL,
) -> MootError:
    """Return the error for a response with an error status.

    Args:
        status: the HTTP status.
        headers: of the response.
        content: the body of the response.
        model: the model's name, for the message.
        asks_logprobs: whether the request asked for log-probabilities.
        remedy: what the user can do if the server does not know the model.
    """
    body = read_error_body(content)
    message = redacted(f"HTTP {status} {body.message}")
    if asks_logprobs and "logprob" in body.message.casefold():  # with status 400, 403 or 501
        return logprobs_unavailable(model, message)
    if advice := _advice(status, headers, body, remedy):
        return RunStoppedError(f"model '{model}': {message}. {advice}")
    if status == 429:
        return RateLimitedError(message, read_retry_after(headers))
    if status in (408, 409) or status >= 500:
        return TransientError(message)
    return CallFailedError(message)


def _advice(status: int, headers: Mapping[str, str], body: ErrorBody, remedy: str) -> str:
    """Return what the user can do about an error that ends the run, "" for any other error."""
    if status < 400 and "location" in headers:  # moot follows no redirect with a prompt
        location = redacted(headers["location"])
        return f"The server redirects to {location}: write that address as `base_url`."
    is_fatal = status in (401, 402, 403) or body.codes & _FATAL_CODES
    if is_fatal or _NO_CREDIT in body.message.casefold():
        return "Check the key and the account, then run again."
    if status == 407:
        return "Check the name and the password in the proxy's address (HTTP_PROXY)."
    return remedy if status == 404 or status < 400 else ""


def read_error_body(content: bytes) -> ErrorBody:
    """Return the message and the codes in the body of an error response."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except ValueError:
        return ErrorBody(text, set())
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return ErrorBody(str(error), set())
    codes = {str(error[field]) for field in ("code", "type") if error.get(field)}
    message = f"{error.get('code') or ''} {error.get('message') or text}"
    return ErrorBody(message.strip(), codes)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, or None if no header states them."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
            return seconds if math.isfinite(seconds) else None
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None  # neither seconds nor a date


def failure_of_connection(error: Exception) -> MootError:
    """Return the error for a request without a whole response.

    Args:
        error: raised by a client package that uses aiohttp; the error of aiohttp is its cause.
    """
    import aiohttp  # a replay must not load clients

    unreachable = (
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
        aiohttp.ClientHttpProxyError,
    )
    known_types = (aiohttp.ClientError, MootError)
    cause = next((cause for cause in _causes(error) if isinstance(cause, known_types)), error)
    if isinstance(cause, MootError):  # of a hook
        return cause
    if isinstance(cause, unreachable):
        return UnreachableError(redacted(_connection_problem(cause)))
    if isinstance(cause, aiohttp.ServerDisconnectedError):  # its message may repeat headers
        message = "the connection was closed before the response was complete"
    else:
        message = getattr(cause, "message", "") or str(cause)
    return TransientError(redacted(f"{type(cause).__name__}: {message}"))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _connection_problem(error: BaseException) -> str:
    """Return the system's message ("Connection refused"), or that of TLS or of a proxy."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
    message = getattr(cause, "strerror", "") or getattr(cause, "message", "")
    message = message or f"{type(cause).__name__}: {cause}"
    if isinstance(cause, ssl.SSLCertVerificationError):
        message += "; SSL_CERT_FILE can name the certificate of another authority"
    elif isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
        message = os.strerror(cause.errno) if cause.errno and cause.errno > 0 else message
    return f"the proxy: {message}" if "Proxy" in type(error).__name__ else message
