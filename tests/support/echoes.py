"""Repeat the key of a request in every text and header of a server's response."""

import json
from typing import Any

from aiohttp import web

WAYS = ("plain", "escaped", "hidden", "numbers")
_UNCHANGED_IN_BATCHES = (
    "moot",
    "id",
    "created_at",
    "input_file_id",
    "output_file_id",
    "error_file_id",
    "status",
    "custom_id",
    "filename",
)


def key_of(request: web.BaseRequest) -> str:
    return request.headers.get("x-api-key") or request.headers.get(
        "Authorization", ""
    ).removeprefix("Bearer ")


def repeat_key(value: Any, key: str, way: str, batch: bool = False) -> Any:
    """Append the key to each text of a JSON value.

    Fields of a batch that the client must send back stay unchanged.
    """
    if isinstance(value, dict):
        unchanged = _UNCHANGED_IN_BATCHES if batch else ()
        fields = {
            name: part if name in unchanged else repeat_key(part, key, way, batch)
            for name, part in value.items()
        }
        return {**fields, f"field {key}": key}
    if isinstance(value, list):
        return [repeat_key(part, key, way, batch) for part in value]
    if isinstance(value, str):
        spelled = "\u200b".join(key) if way == "hidden" else key
        # "text" is the type of a block of content in Anthropic's replies.
        return value if value == "text" else f"{value} {spelled}"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return key if way == "numbers" and is_number else value


def as_bytes(value: Any, key: str, way: str) -> bytes:
    """Return a value as JSON; with the way "escaped" the key is written in escape sequences."""
    text = json.dumps(value, ensure_ascii=False)
    if way == "escaped":
        text = text.replace(key, "".join(f"\\u{ord(character):04x}" for character in key))
    return text.encode()


def with_headers(response: web.StreamResponse, key: str) -> web.StreamResponse:
    """Add headers that hold the key to a response."""
    for name in ("x-request-id", "openai-organization", "x-ratelimit-remaining-tokens", key):
        response.headers[name] = key
    return response
