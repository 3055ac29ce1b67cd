"""How a server's error becomes one of moot's errors.

There are five: `RateLimitedError` (wait), `TransientError` and its subclass `UnreachableError` (try
again), `CallFailedError` (this request cannot be answered), `LogprobsUnavailableError` and
`RunStoppedError` (no request can be answered).
"""

import json
import os
import ssl
from collections.abc import Collection, Iterator, Mapping
from http import HTTPStatus

from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    MootError,
    RateLimitedError,
    RunStoppedError,
    TransientError,
    UnreachableError,
)
from moot.core.types import Json
from moot.llm.endpoints.error_bodies import ErrorBody, read_error_body
from moot.llm.endpoints.refused_fields import field_remedy, find_refused_field
from moot.llm.endpoints.requested_waits import read_retry_after
from moot.llm.redaction import redacted

CHECK_MODEL = "Check `model` and `base_url` in the configuration."
_SHORTEN = (
    "The prompt does not fit the context of the server: raise it (for `endpoint: ollama` by"
    " `context`), or shorten the cases."
)
_BUSY_STATUSES = (429, 503, 529)
"""Statuses of a server that has no capacity now; 529 is Anthropic's."""
_TRANSIENT_STATUSES = (408, 409, 425, 498, 499)
"""Statuses of a time-out, a conflict, a request too early, no capacity (Groq) and a closed
connection (nginx)."""
_MISSING_STATUSES = (404, 405, 410)


class FailedGenerationError(CallFailedError):
    """The server does not accept the reply that the model generated; `text` is that reply."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


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
    sent_fields: Collection[str] = (),
) -> MootError:
    """Return the error for a response with an error status.

    Args:
        status: the HTTP status, or that in the body of a response with status 200.
        headers: of the response.
        content: the body of the response.
        model: the model's name, for the message.
        asks_logprobs: whether the request asked for log-probabilities.
        remedy: the remedy if the server does not know the model.
        sent_fields: the fields of the request's body.
    """
    body = read_error_body(content)
    message = redacted(f"HTTP {status} {body.text_for(status)}")
    if body.failed_generation and status in (400, 422):
        return FailedGenerationError(message, body.failed_generation)
    refused_field = (
        "" if body.names_account(status) else find_refused_field(status, body, sent_fields)
    )
    is_cap = refused_field == "top_logprobs" and any(map(str.isdigit, body.message))
    if asks_logprobs and not is_cap and "logprob" in body.message.casefold():
        return logprobs_unavailable(model, message)  # with status 400, 403 or 501
    advice = _advice(status, headers, body, remedy)
    if refused_field:
        advice = (
            f"The server refuses the field `{refused_field}`. {field_remedy(refused_field, body)}"
        )
    if advice:
        return RunStoppedError(f"model '{model}': {message}. {advice}")
    if status != 429 and body.names_context(status):
        return CallFailedError(f"{message}. {_SHORTEN}")
    wait = read_retry_after(headers)
    return _failure_of_call(status, message, body.wait if wait is None else wait)


def _failure_of_call(status: int, message: str, wait: float | None) -> MootError:
    """Return the error for a status that concerns one call; `wait` is what the server asks for."""
    if status in _BUSY_STATUSES:
        return RateLimitedError(message, wait)
    if status in _TRANSIENT_STATUSES or status >= 500:
        return TransientError(message)
    return CallFailedError(message)


def failure_in_success(
    response: Json,
    model: str,
    *,
    asks_logprobs: bool = False,
    sent_fields: Collection[str] = (),
) -> MootError:
    """Return the error in a response with status 200.

    The error counts as the status that it states. Without one, a server that does not know the path
    ends the run, and any other error is worth another attempt.
    """
    content = json.dumps(response).encode()
    body = read_error_body(content)
    if status := body.status():
        return failure_of_status(
            status, {}, content, model, asks_logprobs=asks_logprobs, sent_fields=sent_fields
        )
    message = redacted(f"an error with status 200: {body.text_for(200)}")
    if body.names_account(HTTPStatus.OK):
        return RunStoppedError(
            f"model '{model}': {message}. Check the key and the account, then run again."
        )
    if body.names_unknown_model(HTTPStatus.OK):
        return RunStoppedError(f"model '{model}': {message}. {CHECK_MODEL}")
    if body.names_unknown_path():
        return RunStoppedError(
            f"model '{model}': {message}. Check `base_url`: does it end in /v1, as on most servers?"
        )
    return TransientError(message)


def _advice(status: int, headers: Mapping[str, str], body: ErrorBody, remedy: str) -> str:
    """Return the remedy for an error that ends the run, "" for any other error."""
    if 300 <= status < 400 and "location" in headers:  # moot follows no redirect with a prompt
        location = redacted(headers["location"])
        return f"The server redirects to {location}: write that address as `base_url`."
    if status in (401, 402, 403) or body.names_account(status):
        return "Check the key and the account, then run again."
    if status == 407:
        return "Check the name and the password in the proxy's address (HTTP_PROXY)."
    is_unknown_model = status != 429 and body.names_unknown_model(status)
    is_missing = status in _MISSING_STATUSES or status < 400
    return remedy if is_missing or is_unknown_model else ""


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
