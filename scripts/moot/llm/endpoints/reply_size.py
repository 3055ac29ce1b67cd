"""Limits on the size of a reply, so that a broken or hostile server cannot fill the memory."""

import zlib
from collections.abc import Awaitable, Callable

from moot.core.errors import CallFailedError, TransientError
from moot.core.types import Json
from moot.core.usage import Usage
from moot.llm.redaction import redacted
from moot.llm.request import Reply, Request

MAX_RESPONSE_BYTES = 2**24
"""Maximum size of a response to one call, which is read whole into memory."""
_MAX_PART_BYTES = 2**20
"""How much is decompressed at once."""
_BYTES_WITHOUT_TEXT = 2**20
"""Allowance for everything in a response but the reply's text: names, counts, probabilities."""
_BYTES_PER_TOKEN = 256
"""More than any token takes, even when escaped."""


ACCEPTED_ENCODINGS = "gzip, deflate"
"""The encodings with which a server may compress responses; `read_body` decompresses them."""
_NO_COMPRESSION = ("identity", "none", "utf-8", "utf8")
"""Words of servers for a body that is not compressed; the last ones occur in a wrong header."""


class _Body:
    """The parts of a response's body, decompressed, up to a maximum size.

    Args:
        max_bytes: the limit.
        encoding: the header `Content-Encoding`.

    Raises:
        CallFailedError: the encoding is unknown.
    """

    def __init__(self, max_bytes: int, encoding: str) -> None:
        self._parts, self._size, self._max_bytes = list[bytes](), 0, max_bytes
        self._encoding = encoding.strip().lower()
        if self._encoding in _NO_COMPRESSION:
            self._encoding = ""
        if self._encoding not in ("", "gzip", "x-gzip", "deflate"):
            raise CallFailedError(
                f"the response is compressed by {redacted(encoding)}; expected"
                f" {ACCEPTED_ENCODINGS} or nothing. Check the server or the gateway."
            )
        self._decompressor: Json = None

    def add(self, chunk: bytes) -> None:
        """Add received data.

        Raises:
            CallFailedError: the body is larger than the maximum.
            TransientError: the body cannot be decompressed.
        """
        if not self._encoding:
            self._keep(chunk)
            return
        try:
            self._decompress(chunk)
        except zlib.error as error:
            raise TransientError(f"the response cannot be decompressed: {error}") from None

    def _decompress(self, chunk: bytes) -> None:
        while chunk:
            if self._decompressor is None:  # a body of gzip may have several members
                self._decompressor = zlib.decompressobj(self._window_bits(chunk))
            self._keep(self._decompressor.decompress(chunk, _MAX_PART_BYTES))
            chunk = self._decompressor.unconsumed_tail or self._decompressor.unused_data
            if self._decompressor.eof:
                self._decompressor = None

    def _window_bits(self, chunk: bytes) -> int:
        """Return what zlib takes for gzip, for zlib's own form, and for raw deflate."""
        if self._encoding != "deflate":
            return zlib.MAX_WBITS | 16
        has_zlib_header = chunk[0] & 0x0F == zlib.DEFLATED
        return zlib.MAX_WBITS if has_zlib_header else -zlib.MAX_WBITS

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_bytes:
            raise CallFailedError(
                f"the response has more than {self._max_bytes} bytes, the maximum. Check the"
                " server."
            )
        self._parts.append(part)

    def content(self) -> bytes:
        """Return the whole body; raise `TransientError` if a compressed body is incomplete."""
        if self._decompressor is not None:
            raise TransientError("the response ends before its compressed body is complete")
        return b"".join(self._parts)


def limit_response_size(
    max_bytes: int, make_stream: Callable[[bytes], Json]
) -> Callable[[Json], Awaitable[None]]:
    """Return a response hook for `httpx` or `httpx2` that reads a body of at most `max_bytes`.

    The limit is that of the decompressed body.

    Args:
        max_bytes: the limit.
        make_stream: the library's `ByteStream`.
    """

    async def read_body(response: Json) -> None:
        body = _Body(max_bytes, response.headers.pop("Content-Encoding", ""))
        async for chunk in response.stream:
            body.add(chunk)
        await response.stream.aclose()
        response.stream = make_stream(body.content())

    return read_body


def max_reply_bytes(request: Request) -> int:
    """Return the maximum size of the reply to a request, from its `max_tokens` if that is sent."""
    max_tokens = request.parameters.get("max_tokens")
    if max_tokens is None:
        return MAX_RESPONSE_BYTES
    return _BYTES_WITHOUT_TEXT + _BYTES_PER_TOKEN * int(max_tokens)


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
    details = counts.get("prompt_tokens_details") if isinstance(counts, dict) else None
    return Usage(
        read_count(counts, "prompt_tokens") or read_count(counts, "input_tokens"),
        read_count(counts, "completion_tokens") or read_count(counts, "output_tokens"),
        read_count(details, "cached_tokens"),
    )


def read_reasoning_tokens(counts: Json) -> int:
    """Return the tokens of reasoning in the `usage` field of the chat completions API."""
    details = counts.get("completion_tokens_details") if isinstance(counts, dict) else None
    return read_count(details, "reasoning_tokens")


def read_count(counts: Json, field: str) -> int:
    """Return a number of tokens; 0 if the server states none, since a reply is worth more."""
    value = counts.get(field) if isinstance(counts, dict) else None
    try:
        return max(int(value or 0), 0)
    except (TypeError, ValueError, OverflowError):
        return 0
