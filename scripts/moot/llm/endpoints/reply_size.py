"""Limits on the size of a reply, so that a broken or hostile server cannot fill the memory."""

from collections.abc import Awaitable, Callable

from moot.core.errors import CallFailedError
from moot.core.types import Json
from moot.core.usage import Usage
from moot.llm.request import Reply, Request

MAX_RESPONSE_BYTES = 2**24
"""Maximum size of a response to one call, which is read whole into memory."""
_BYTES_WITHOUT_TEXT = 2**20
"""Allowance for everything in a response but the reply's text: names, counts, probabilities."""
_BYTES_PER_TOKEN = 256
"""More than any token takes, even when escaped."""


def limit_response_size(
    max_bytes: int, make_stream: Callable[[bytes], Json]
) -> Callable[[Json], Awaitable[None]]:
    """Return a response hook for `httpx` or `httpx2` that reads a body of at most `max_bytes`.

    Args:
        max_bytes: the limit.
        make_stream: the library's `ByteStream`.
    """

    async def read_body(response: Json) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise CallFailedError(
                "the response is compressed, although moot asks for an uncompressed one. Check"
                " `base_url`."
            )
        chunks, size = list[bytes](), 0
        async for chunk in response.stream:
            size += len(chunk)
            if size > max_bytes:
                raise CallFailedError(
                    f"the response has more than {max_bytes} bytes, the maximum. Check the server."
                )
            chunks.append(chunk)
        await response.stream.aclose()
        response.stream = make_stream(b"".join(chunks))

    return read_body


def max_reply_bytes(request: Request) -> int:
    """Return the maximum size of the reply to a request, from its `max_tokens`."""
    return _BYTES_WITHOUT_TEXT + _BYTES_PER_TOKEN * int(request.parameters.get("max_tokens", 0))


def check_reply_size(request: Request, reply: Reply) -> Reply:
    """Return the reply if its size is within the maximum.

    Raises:
        CallFailedError: the reply is too long. Its tokens count as used.
    """
    size, limit = len(reply.text) + len(reply.reasoning), max_reply_bytes(request)
    if size > limit:
        usage = Usage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        max_tokens = request.parameters.get("max_tokens")
        raise CallFailedError(
            f"the reply has {size} characters; expected at most {limit} for `max_tokens:"
            f" {max_tokens}`. Raise `max_tokens` if the model should write so much; otherwise the"
            " server is broken.",
            usage=usage,
        )
    return reply


def read_usage(counts: Json) -> Usage:
    """Return the token counts in the `usage` field of the chat completions API."""
    cached = (counts.get("prompt_tokens_details") or {}).get("cached_tokens")
    tokens = (counts.get("prompt_tokens"), counts.get("completion_tokens"), cached)
    return Usage(*(int(count or 0) for count in tokens))
