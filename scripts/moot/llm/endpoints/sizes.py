"""How long a server's answer may be: what a broken or hostile one sends must not fill the memory."""

import json
from collections.abc import AsyncIterable
from typing import NamedTuple

from moot.core.errors import CallFailedError
from moot.core.types import Json
from moot.core.usage import Usage
from moot.llm.request import Reply, Request

_FORM_BYTES = 2**20
"""For all that is around a reply's text: names, counts, the probabilities of one token."""
_BYTES_A_TOKEN = 256
"""More than any token takes, escaped."""
_READ_ON = 32
"""How many times the limit is read, and not kept: the server's count of tokens is at the end."""
_TAIL_BYTES = 4096


class Body(NamedTuple):
    """What was read of an answer: its beginning up to the limit, its end, and how many bytes came."""

    content: bytes
    tail: bytes
    size: int


def most_bytes(request: Request) -> int:
    """The most bytes that the answer to a request may have, when unpacked."""
    return _FORM_BYTES + _BYTES_A_TOKEN * int(request.parameters.get("max_tokens", 0))


async def read_body(chunks: AsyncIterable[bytes], most: int) -> Body:
    """An answer's body, of which at most `most` bytes are kept, and `_READ_ON` times as many are
    read.
    """
    parts, tail, size = list[bytes](), b"", 0
    async for chunk in chunks:
        parts += [chunk[: most - size]] if size < most else []
        size += len(chunk)
        if size > most:
            tail = (tail + chunk)[-_TAIL_BYTES:]
            if size > most * _READ_ON:
                break
    return Body(b"".join(parts), tail, size)


def usage_of(counted: Json) -> Usage:
    """What the chat completions API says of tokens."""
    cached = (counted.get("prompt_tokens_details") or {}).get("cached_tokens")
    tokens = (counted.get("prompt_tokens"), counted.get("completion_tokens"), cached)
    return Usage(*(int(number or 0) for number in tokens))


def too_long(request: Request, size: int, usage: Usage | None) -> CallFailedError:
    """The error for an answer of `size` bytes or more;
    `usage` is what the server counted, where that is known.
    """
    most_tokens = request.parameters.get("max_tokens")
    return CallFailedError(
        f"the answer has {size} bytes or more, when unpacked; expected {most_bytes(request)} at"
        f" most for `max_tokens: {most_tokens}`. Raise `max_tokens` if the model is meant to say so"
        " much; else the server is broken.",
        usage=usage,
    )


def counted_in(tail: bytes) -> Usage | None:
    """The server's count of tokens, where the end of an answer holds it."""
    text = tail.decode("utf-8", "replace")
    try:
        counted, _ = json.JSONDecoder().raw_decode(
            text[text.rindex('"usage"') + len('"usage"') :].lstrip(" :\n")
        )
        return usage_of(counted)
    except (ValueError, TypeError, AttributeError):
        return None


def check_length(request: Request, reply: Reply) -> Reply:
    """Require a reply within the allowed size."""
    size = len(reply.text) + len(reply.reasoning)
    if size > most_bytes(request):
        raise too_long(
            request, size, Usage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        )
    return reply
