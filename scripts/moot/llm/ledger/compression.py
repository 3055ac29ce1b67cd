"""Compression of the ledger's texts."""

import zlib

from moot.llm.ledger.database import DamagedError


def compress(text: str) -> bytes:
    """Compress a text with zlib; unpaired surrogates are kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def decompress(content: bytes) -> str:
    """Return the text that `compress` compressed.

    Raises:
        DamagedError: the bytes are not a compressed text.
    """
    try:
        return zlib.decompress(content).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedError(f"malformed: {error}") from None
