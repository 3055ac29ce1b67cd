"""Chunks of the reader's page: debates, case texts and calls as JSON of about the same size."""

import base64
import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from moot.core.types import Fields, Json, JsonObject

StoreChunk: TypeAlias = Callable[[str, str], None]
CALL_FIELDS = (
    "model",
    "served_model",
    "provider",
    "finish_reason",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "seconds",
    "attempts",
    "cost_usd",
    "replicate",
    "created_at",
    "logprobs",
)
"""Columns of `calls/` that are shown with the prompt and the reply."""
_ENTRIES_PER_PIECE = 1000
_WORD = re.compile(r"\w+")


class Chunks:
    """Values in chunks of about the given number of characters.

    Args:
        kind: the kind of values; the first chunk is named `kind-0`.
        most: maximum characters of a chunk.
        keep: receives the name and the compressed values of each complete chunk.

    Attributes:
        starts: the number of the first value of each chunk.
    """

    def __init__(self, kind: str, max_characters: int, store: StoreChunk) -> None:
        self.starts: list[int] = []
        self._kind, self._most, self._keep = kind, max_characters, store
        self._pending: list[Json] = []
        self._size = self._count = 0

    def add(self, value: Json, size: int) -> bool:
        """Add a value of about so many characters, and return whether that ended a chunk."""
        if not self._pending:
            self.starts.append(self._count)
        self._pending.append(value)
        self._count += 1
        self._size += size
        return self._size >= self._most and self.end()

    def end(self) -> bool:
        """End the chunk; return False if it is empty."""
        if not self._pending:
            return False
        self._keep(f"{self._kind}-{len(self.starts) - 1}", compress(self._pending))
        self._pending, self._size = [], 0
        return True


def compress(value: Json) -> str:
    """Return a value as JSON, gzip and base64; equal values give equal texts."""
    packer = zlib.compressobj(6, wbits=31)
    packed = [packer.compress(piece.encode("utf-8", "replace")) for piece in _pieces(value)]
    return base64.b64encode(b"".join([*packed, packer.flush()])).decode()


def _pieces(value: Json, depth: int = 2) -> Iterator[str]:
    """Yield a value as JSON in pieces, to save memory for large indexes.

    A mapping of lists is written some entries at a time.
    """
    if isinstance(value, Mapping) and depth and len(value) <= _ENTRIES_PER_PIECE:
        for number, (name, entry) in enumerate(value.items()):
            yield f"{',' if number else '{'}{_json(name)}:"
            yield from _pieces(entry, depth - 1)
        yield "}" if value else "{}"
    elif isinstance(value, (list, tuple, Mapping)) and len(value) > _ENTRIES_PER_PIECE:
        prefix, suffix = "{}" if isinstance(value, Mapping) else "[]"
        entries = iter(value.items() if isinstance(value, Mapping) else value)
        while chunk := list(islice(entries, _ENTRIES_PER_PIECE)):
            yield prefix + _json(dict(chunk) if isinstance(value, Mapping) else chunk)[1:-1]
            prefix = ","
        yield suffix
    else:
        yield _json(value)


def _json(value: Json) -> str:
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def plain(value: Json) -> Json:
    """Prepare a value for JSON: missing numbers are None, and fractions are rounded."""
    if isinstance(value, Mapping):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value


class Words:
    """The chunks in which each word occurs, so that a search opens no others."""

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._chunks: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, text: str) -> None:
        """Add a text to the current chunk."""
        self._pending.update(_WORD.findall(text.lower()))

    def end(self, chunk: int) -> None:
        """End the current chunk, which has this number."""
        for word in self._pending:
            self._chunks[word].append(chunk)
        self._pending = set()

    def packed(self, chunks: int) -> JsonObject:
        """Return the numbers of each word's chunks.

        A word that is in more than half of all chunks gets no numbers.
        """
        return {
            word: numbers if len(numbers) <= chunks / 2 else []
            for word, numbers in sorted(self._chunks.items())
        }


class Calls:
    """The calls of a chunk. Prompts repeat earlier text, so each line is stored once."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._calls: dict[str, JsonObject] = {}

    def add(self, call: Fields) -> int:
        """Add a call of the calls schema; return about how many characters the chunk grew."""
        if call["call_id"] in self._calls:
            return 0
        line_count = len(self._lines)
        request = json.loads(call["request"])
        prompt = [
            [role, self._numbered(str(content))] for role, content in request.pop("messages", [])
        ]
        fields = {name: call[name] for name in CALL_FIELDS if call[name] != ""}
        self._calls[call["call_id"]] = {
            "prompt": prompt,
            "sent": self._numbered(
                json.dumps(request, ensure_ascii=False, indent=1, sort_keys=True)
            ),
            "reply": self._numbered(call["reply"]),
            "reasoning": self._numbered(call["reasoning"]),
            "fields": fields,
        }
        return 300 + sum(map(len, list(self._lines)[line_count:]))

    def _numbered(self, text: str) -> list[int]:
        return (
            [self._lines.setdefault(line, len(self._lines)) for line in text.split("\n")]
            if text
            else []
        )

    def packed(self) -> Json:
        """Return all lines, and the calls with the numbers of their lines."""
        return {"lines": list(self._lines), "calls": self._calls}
