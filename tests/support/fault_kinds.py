"""The kinds of faults of a model server, and its answers to faults without a reply."""

import zlib
from typing import Any

from aiohttp import web

import anthropic_server as anthropic

# Faults that a second attempt may mend, and that leave the reply as it would have been.
TRANSIENT = [
    "rate_limited",
    "rate_limited_retry_after",
    "server_error",
    "bad_gateway",
    "unavailable",
    "dropped_before",
    "dropped_midway",
    "html_page",
    "broken_body",
    "invalid_utf8",
    "out_of_order",
]
SLOW = ["hang", "slow_stream"]
# Whole replies with a content that is no good.
CONTENT = [
    "empty",
    "truncated",
    "malformed_json",
    "wrong_shape",
    "outside_labels",
    "content_filter",
]
# Answers of which the memory could not hold enough: text without end, and a compressed one.
ENDLESS = ["endless", "packed"]
# Refusals that a second attempt cannot mend.
FATAL = ["insufficient_quota", "invalid_key", "model_not_found", "context_length"]
KINDS = [*TRANSIENT, *SLOW, *CONTENT, *ENDLESS, *FATAL]

HTML = (
    "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Welcome to this"
    " network</h1></body></html>"
)


def text_of(payload: bytes) -> int:
    """Return the position at which a payload's text begins, in any server's form."""
    mark = next(mark for mark in (b'"content": "', b'"text": "') if mark in payload)
    return payload.index(mark) + len(mark)


def packed(payload: bytes, size: int) -> bytes:
    """Return a payload whose text is `size` bytes longer, compressed to a thousandth.

    Each mebibyte is the same block.
    """
    start = text_of(payload)
    gzip = zlib.compressobj(wbits=31)
    parts = [gzip.compress(payload[:start]) + gzip.flush(zlib.Z_FULL_FLUSH)]
    block = gzip.compress(b"x" * 2**20) + gzip.flush(zlib.Z_FULL_FLUSH)
    return b"".join(
        [*parts, *[block] * (size >> 20), gzip.compress(payload[start:]) + gzip.flush()]
    )


def refusal(request: web.BaseRequest, kind: str, retry_after: float) -> web.StreamResponse | None:
    """Return a response whose status refuses the request; None for other kinds of faults.

    It repeats a refused key in full, as some gateways do.
    """
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wait = {"Retry-After": f"{retry_after:g}"}
    refusals: dict[str, tuple[int, str, str, dict[str, str]]] = {
        "rate_limited": (429, "Rate limit reached for requests", "rate_limit_exceeded", {}),
        "rate_limited_retry_after": (
            429,
            "Rate limit reached, try again later",
            "rate_limit_exceeded",
            wait,
        ),
        "server_error": (500, "The server had an error", "server_error", {}),
        "bad_gateway": (502, "Bad gateway", "bad_gateway", {}),
        "unavailable": (503, "The engine is overloaded", "overloaded", {}),
        "logprobs_refused": (
            400,
            "This model does not support logprobs",
            "unsupported_parameter",
            {},
        ),
        "logprobs_forbidden": (
            403,
            "You are not allowed to request logprobs from this model",
            "forbidden",
            {},
        ),
        "insufficient_quota": (429, "You exceeded your current quota", "insufficient_quota", {}),
        "invalid_key": (401, f"Incorrect API key provided: {key}", "invalid_api_key", {}),
        "model_not_found": (404, "The model 'test' does not exist", "model_not_found", {}),
        "context_length": (
            400,
            "This model's maximum context length is 8192 tokens",
            "context_length_exceeded",
            {},
        ),
    }
    if kind == "html_page":
        return web.Response(text=HTML, content_type="text/html")
    if kind not in refusals:
        return None
    status, message, code, headers = refusals[kind]
    error: Any = {"message": message, "type": code, "param": None, "code": code}
    if request.path == "/v1/messages":
        return anthropic.refusal(kind, status, message, headers)
    error = message if request.path == "/api/chat" else error
    return web.json_response({"error": error}, status=status, headers=headers)
