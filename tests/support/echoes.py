"""A server that repeats the key it was sent, wherever a server can say something."""

import json
from typing import Any

from aiohttp import web

WAYS = ("plain", "escaped", "hidden", "numbers")
_NEVER = (
    "id",
    "created_at",
    "input_file_id",
    "output_file_id",
    "error_file_id",
    "status",
    "custom_id",
    "filename",
)
_KEPT_WHOLE = ("moot", *_NEVER)


def key_of(request: web.BaseRequest) -> str:
    return request.headers.get("x-api-key") or request.headers.get(
        "Authorization", ""
    ).removeprefix("Bearer ")


def repeated(value: Any, key: str, way: str, batch: bool = False) -> Any:
    """What JSON holds, with the key after each text; what the client must send back to go on with a
    batch stays.
    """
    if isinstance(value, dict):
        kept = _KEPT_WHOLE if batch else ()
        said = {
            name: part if name in kept else repeated(part, key, way, batch)
            for name, part in value.items()
        }
        return {**said, f"field {key}": key}
    if isinstance(value, list):
        return [repeated(part, key, way, batch) for part in value]
    if isinstance(value, str):
        spelled = "\u200b".join(key) if way == "hidden" else key
        return (
            value if value == "text" else f"{value} {spelled}"
        )  # of Anthropic's, what a block of content is
    return (
        key
        if way == "numbers" and isinstance(value, int) and not isinstance(value, bool)
        else value
    )


def as_bytes(value: Any, key: str, way: str) -> bytes:
    """JSON, the key in it as escapes of its characters if so wanted."""
    text = json.dumps(value, ensure_ascii=False)
    if way == "escaped":
        text = text.replace(key, "".join(f"\\u{ord(character):04x}" for character in key))
    return text.encode()


def with_headers(response: web.StreamResponse, key: str) -> web.StreamResponse:
    """The same answer, the key in its headers too."""
    for name in ("x-request-id", "openai-organization", "x-ratelimit-remaining-tokens", key):
        response.headers[name] = key
    return response
