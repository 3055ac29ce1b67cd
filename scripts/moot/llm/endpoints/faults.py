"""How a fault of a server becomes one of moot's errors: by its status and two codes alone."""

import json
import os
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from moot.core.errors import (
    AccountError,
    CallRefusedError,
    ContentFilteredError,
    LogprobsUnavailableError,
    MootError,
    NotFoundError,
    ServerFaultError,
    TransientError,
    UnreachableError,
)
from moot.core.types import Json
from moot.llm.redaction import redacted

_WAITED_FOR = (408, 409, 425, 429)
"""Statuses below 500 of a server that may answer later."""
_ACCOUNT = (401, 402)
_MESSAGE_FIELDS = ("error", "message", "detail")


def logprobs_unavailable(model: str, reason: str) -> LogprobsUnavailableError:
    """Return the error for a server that gives no token probabilities."""
    return LogprobsUnavailableError(
        f"model '{model}': the server gives no log-probabilities ({reason}), so `answer:"
        " likelihood` cannot be used with it. Set `answer: generation` or a lower `top_logprobs`,"
        " or use an endpoint that gives them (embedded, vLLM, OpenAI)."
    )


def fault_of_status(status: int, headers: Mapping[str, str], content: bytes) -> MootError:
    """Return the error for a response with an error status.

    Args:
        status: the HTTP status, or the code of an error in a response with status 200.
        headers: of the response.
        content: the body of the response.
    """
    body = read_json_or_none(content)
    code = _error_object(body).get("code")
    words = _words(body) or content.decode("utf-8", "replace") or _phrase(status)
    message = redacted(f"HTTP {status}: {words}").rstrip(".")  # further words follow
    if code == "content_filter":
        return ContentFilteredError(message)
    if code == "insufficient_quota" or status in _ACCOUNT:
        return AccountError(f"{message}. Check the key and the account, then run again.")
    if status == 404:
        return NotFoundError(message)
    if status in _WAITED_FOR or status >= 500:
        return ServerFaultError(message, read_retry_after(headers))
    if "location" in headers:  # moot follows no redirect with a prompt
        message += f" (redirected to {redacted(headers['location'])})"
    return CallRefusedError(message)


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "no words"


def has_error(body: Json) -> bool:
    """Return whether a decoded response with status 200 has an error and no reply."""
    if isinstance(body, list):  # Google sends a list of one error
        return len(body) == 1 and has_error(body[0])
    if not isinstance(body, dict) or not body.get("error"):
        return False
    return not (body.get("choices") or body.get("content") or isinstance(body.get("message"), dict))


def fault_in_success(body: Json) -> MootError:
    """Return the error in a response with status 200, which counts as its code, else as 400."""
    content = json.dumps(body).encode()
    code = str(_error_object(read_json_or_none(content)).get("code") or "")
    status = int(code) if code.isdecimal() and 400 <= int(code) < 600 else 400
    return fault_of_status(status, {}, content)


def describe_body(content: bytes) -> str:
    """Return the beginning of a response, for a message; "(empty)" without any."""
    return redacted(content.decode("utf-8", "replace")) or "(empty)"


def read_json(content: bytes) -> Json:
    """Return a decoded response; raise `TransientError` if it is not JSON in UTF-8."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        problem = f"unreadable reply ({error}): {describe_body(content)}"
        raise TransientError(redacted(problem)) from None


def read_json_or_none(content: bytes) -> Json:
    """Return a decoded response, or the first of a list (Google sends one); None if unreadable."""
    try:
        body = read_json(content)
    except TransientError:
        return None
    return body[0] if isinstance(body, list) and body else body


def _error_object(body: Json) -> Mapping[str, Json]:
    """Return the object that has the code of an error: `error`, or the body itself."""
    error = body.get("error") if isinstance(body, dict) else None
    return next((part for part in (error, body) if isinstance(part, dict)), {})


def _words(body: Json) -> str:
    """Return the server's own words in an error's body, "" if no field holds them."""
    if isinstance(body, str):
        return body
    fields = [body.get(name) for name in _MESSAGE_FIELDS] if isinstance(body, dict) else []
    return next(filter(None, map(_words, fields)), "")


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; None if no header names a wait.

    Zero, a negative number and a date in the past name no wait.
    """
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    for text, unit in ((milliseconds, 0.001), (value, 1.0)):
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        return seconds if 0 < seconds < float("inf") else None
    try:
        seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds > 0 else None


def fault_of_connection(error: Exception) -> MootError:
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
    return ServerFaultError(redacted(f"{type(cause).__name__}: {message}"))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _connection_problem(error: BaseException) -> str:
    """Return the system's message ("Connection refused"), or that of TLS or of a proxy."""
    if "Proxy" in type(error).__name__:
        variables = "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"
        return f"the proxy of {variables}: {error}. NO_PROXY names servers without a proxy"
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"{cause}; SSL_CERT_FILE can name the certificate of another authority"
    if isinstance(cause, OSError) and cause.errno and cause.errno > 0:
        return os.strerror(cause.errno)
    return f"{type(cause).__name__}: {cause}"
