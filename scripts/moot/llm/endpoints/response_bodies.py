"""The bodies of responses, of a limited size, and the token counts in them."""

from collections.abc import Awaitable, Callable

from moot.core.errors import CallFailedError, CallRefusedError
from moot.core.types import Json
from moot.core.usage import Usage

MAX_RESPONSE_BYTES = 2**24
"""Maximum size of a response to one call, which is read whole into memory, so that a broken or
hostile server cannot fill it."""
UNCOMPRESSED = "identity"
"""The only encoding of responses that is asked for: a small compressed one may fill the memory."""


def limit_response_size(
    max_bytes: int, make_stream: Callable[[bytes], Json]
) -> Callable[[Json], Awaitable[None]]:
    """Return a response hook for `httpx` or `httpx2` that reads a body of at most `max_bytes`.

    Args:
        max_bytes: the limit.
        make_stream: the library's `ByteStream`.
    """

    async def read_body(response: Json) -> None:
        encoding = response.headers.get("Content-Encoding", UNCOMPRESSED)
        if encoding != UNCOMPRESSED:
            raise CallRefusedError(
                f"the response is compressed ({encoding}), although none was asked for. Switch the"
                " compression of the server, or of the proxy before it, off."
            )
        content = bytearray()
        async for chunk in response.stream:
            content += chunk
            if len(content) > max_bytes:
                raise CallFailedError(
                    f"the response has more than {max_bytes} bytes, the maximum. Check the server."
                )
        await response.stream.aclose()
        response.stream = make_stream(bytes(content))

    return read_body


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
