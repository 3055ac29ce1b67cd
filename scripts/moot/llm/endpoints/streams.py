"""Replies that a server streams in parts, assembled to the reply that it sends whole otherwise.

The HTTP client reads the whole stream before moot assembles it, so that the usual limits and
retries apply. A stream that ends early is an error.
"""

import json
from collections.abc import Iterator, Sequence

from moot.core.errors import TransientError
from moot.core.types import Json, JsonObject
from moot.llm.endpoints.error_bodies import describe_body, error_in_success
from moot.llm.parsing.plain_text import shorten
from moot.llm.redaction import redacted

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_END_MARK = "[DONE]"
_JOINED_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
"""Fields of a delta whose texts are parts of one text."""
_BLOCK_TEXTS = {"text_delta": "text", "thinking_delta": "thinking"}
"""Kinds of deltas of Anthropic's to the field of the block that they continue."""


def is_stream(content: bytes) -> bool:
    """Return whether a response is a stream of events; a server may answer with JSON instead."""
    return not content.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith((b"{", b"["))


def read_events(content: bytes) -> Iterator[JsonObject]:
    """Yield the data of each server-sent event, up to the mark of the end.

    Raises:
        TransientError: an event cannot be read.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TransientError(f"the stream is not UTF-8: {error}") from None
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line[:5] == "data:"]
        data = "\n".join(lines).strip()
        if data == _END_MARK:
            return
        if not data:
            continue
        for event in _decode_event(lines):
            if isinstance(event, dict):
                yield event


def _decode_event(lines: Sequence[str]) -> list[Json]:
    """Return the JSON value of an event's data; each line may also be an event of its own.

    Raises:
        TransientError: the data is not JSON.
    """
    data = "\n".join(lines)
    try:
        return [json.loads(data)]
    except ValueError as error:
        problem = redacted(f"unreadable part of a stream ({error}): {shorten(data)}")
    try:
        return [json.loads(line) for line in lines if line.strip() not in ("", _END_MARK)]
    except ValueError:
        raise TransientError(problem) from None


def assemble_completion(content: bytes) -> JsonObject:
    """Return the chat completion of a stream of `chat.completion.chunk` objects.

    An error within the stream is returned in its place.

    Raises:
        TransientError: the stream ends before a `finish_reason`.
    """
    response: JsonObject = {}
    message: JsonObject = {}
    choice: JsonObject = {"message": message, "finish_reason": None}
    for event in read_events(content):
        if event.get("error") or error_in_success(event):
            return event
        for name in ("id", "model", "provider", "system_fingerprint", "service_tier", "usage"):
            if event.get(name):
                response[name] = event[name]
        for part in event.get("choices") or ():
            _add_to_choice(choice, part)
    if b"data:" not in content:
        raise TransientError(f"the response is no stream: {describe_body(content)}")
    if choice["finish_reason"] is None:
        raise TransientError("the stream ends before the reply is complete")
    return {**response, "choices": [choice]}


def _add_to_choice(choice: JsonObject, part: Json) -> None:
    """Add the delta of a chunk to the choice; only the first choice is asked for."""
    if str(part.get("index") or 0) != "0":
        return
    delta, message = part.get("delta") or part.get("message") or {}, choice["message"]
    for name in _JOINED_TEXTS:
        if delta.get(name):
            message[name] = _join(message.get(name), delta[name])
    if delta.get("tool_calls"):
        message.setdefault("tool_calls", []).extend(delta["tool_calls"])
    for name in ("finish_reason", "error"):
        if part.get(name):
            choice[name] = part[name]


def _join(beginning: Json, part: Json) -> Json:
    """Return a text or list of parts with the next part."""
    if beginning is None:
        return part
    if isinstance(beginning, str) and isinstance(part, str):
        return beginning + part
    pieces = beginning if isinstance(beginning, list) else [beginning]
    return [*pieces, *(part if isinstance(part, list) else [part])]


def assemble_message(content: bytes) -> JsonObject:
    """Return the message of a stream of Anthropic's events.

    An error within the stream is returned in its place.

    Raises:
        TransientError: the stream ends before its `message_stop`.
    """
    message: JsonObject = {}
    blocks: dict[int, JsonObject] = {}
    is_complete = False
    for event in read_events(content):
        kind = event.get("type")
        if kind == "error":
            return event
        if kind == "message_start":
            message = dict(event["message"])
        elif kind == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            _add_to_block(blocks[event["index"]], event["delta"])
        elif kind == "message_delta":
            message |= event.get("delta") or {}
            message["usage"] = {**message.get("usage", {}), **(event.get("usage") or {})}
        is_complete = is_complete or kind == "message_stop"
    if not is_complete:
        raise TransientError("the stream ends before the reply is complete")
    message["content"] = [blocks[index] for index in sorted(blocks)]
    return message


def _add_to_block(block: JsonObject, delta: Json) -> None:
    name = _BLOCK_TEXTS.get(delta.get("type"))
    if name is not None:
        block[name] = (block.get(name) or "") + delta[name]
