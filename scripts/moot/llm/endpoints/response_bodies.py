"""The bodies of responses, of a limited size, and the token counts in them."""

import zlib
from collections.abc import Awaitable, Callable

from moot.core.errors import CallFailedError, ServerFaultError
from moot.core.types import Json
from moot.core.usage import Usage

MAX_RESPONSE_BYTES = 2**24
"""Maximum size of a response to one call, which is read whole into memory, so that a broken or
hostile server cannot fill it."""
ACCEPTED_ENCODINGS = "gzip, deflate"
"""The encodings with which a server may compress responses; `_decompress` reads them."""
_UNCOMPRESSED = ("", "identity")


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
        encoding = response.headers.pop("Content-Encoding", "").strip().lower()
        content = bytearray()
        async for chunk in response.stream:
            content += chunk
            if len(content) > max_bytes:
                raise _too_large(max_bytes)
        await response.stream.aclose()
        is_compressed = encoding not in _UNCOMPRESSED
        whole = bytes(content)
        response.stream = make_stream(_decompress(whole, max_bytes) if is_compressed else whole)

    return read_body


def _decompress(content: bytes, max_bytes: int) -> bytes:
    """Return a body of gzip, which may have several parts, or of deflate with zlib's header."""
    body = bytearray()
    while content:
        decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            body += decompressor.decompress(content, max_bytes - len(body) + 1)
        except zlib.error as error:
            raise ServerFaultError(f"the response cannot be decompressed: {error}") from None
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        if not decompressor.eof:
            raise ServerFaultError("the response ends before its compressed body is complete")
        content = decompressor.unused_data
    return bytes(body)


def _too_large(max_bytes: int) -> CallFailedError:
    return CallFailedError(
        f"the response has more than {max_bytes} bytes, the maximum. Check the server."
    )


def read_usage(counts: Json) -> Usage:
    """Return the token counts in the `usage` field of the chat completions API.

    Servers that count thinking only in `total_tokens` (Gemini's compatible interface, Grok) bill
    it as output.
    """
    details = counts.get("prompt_tokens_details") if isinstance(counts, dict) else None
    prompt_tokens = read_count(counts, "prompt_tokens")
    output_tokens = read_count(counts, "completion_tokens")
    billed_tokens = max(output_tokens, read_count(counts, "total_tokens") - prompt_tokens)
    return Usage(prompt_tokens, billed_tokens, read_count(details, "cached_tokens"))


def read_reasoning_tokens(counts: Json) -> int:
    """Return the tokens of reasoning in the `usage` field of the chat completions API."""
    details = counts.get("completion_tokens_details") if isinstance(counts, dict) else None
    return read_count(details, "reasoning_tokens")


def read_count(counts: Json, field: str) -> int:
    """Return a number of tokens; 0 if the server states none, since a reply is worth more."""
    value = counts.get(field) if isinstance(counts, dict) else None
    return value if isinstance(value, int) and value > 0 else 0
