"""Replies that a server streams in parts, assembled to the reply that it sends whole otherwise.

The HTTP client reads the whole stream before moot assembles it, so that the usual limits and
retries apply. A stream that ends early is an error.
"""

import json
from collections.abc import Iterator

from moot.core.errors import ServerFaultError, TransientError
from moot.core.types import Json, JsonObject
from moot.llm.endpoints.faults import describe_body, has_error
from moot.llm.endpoints.messages import read_text

_END_MARK = "[DONE]"
_JOINED_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
"""Fields of a delta whose texts are parts of one text."""
_BLOCK_TEXTS = {"text_delta": "text", "thinking_delta": "thinking"}
"""Kinds of deltas of Anthropic's to the field of the block that they continue."""


def is_stream(content: bytes) -> bool:
    """Return whether a response is a stream of events; a server may answer with JSON instead."""
    return not content.lstrip().startswith((b"{", b"["))


def read_events(content: bytes) -> Iterator[JsonObject]:
    """Yield the data of each server-sent event, up to the mark of the end.

    Raises:
        ServerFaultError: an event cannot be read.
    """
    for line in content.splitlines():
        data = line.removeprefix(b"data:").strip()
        if data == _END_MARK.encode():
            return
        if not line.startswith(b"data:") or not data:
            continue
        try:
            event = json.loads(data)
        except ValueError:
            problem = f"unreadable part of a stream: {describe_body(data)}"
            raise ServerFaultError(problem) from None
        if isinstance(event, dict):
            yield event


def assemble_completion(content: bytes) -> JsonObject:
    """Return the chat completion of a stream of `chat.completion.chunk` objects.

    An error within the stream is returned in its place.

    Raises:
        ServerFaultError: the stream ends before its mark of the end.
        TransientError: it names no `finish_reason`, so that the reply may have been cut.
    """
    response: JsonObject = {}
    message: JsonObject = {}
    choice: JsonObject = {"message": message, "finish_reason": None}
    for event in read_events(content):
        if has_error(event):
            return event
        for name in ("id", "model", "provider", "system_fingerprint", "service_tier", "usage"):
            if event.get(name):
                response[name] = event[name]
        for part in event.get("choices") or ():
            _add_to_choice(choice, part)
    if choice["finish_reason"] is None:
        if content.rstrip().endswith(_END_MARK.encode()):  # each further attempt is paid for too
            raise TransientError("the stream names no finish_reason; set `stream: false`")
        raise ServerFaultError(_end_message(content))
    return {**response, "choices": [choice]}


def _end_message(content: bytes) -> str:
    end = describe_body(content[-200:])
    return f"the stream ends before the reply is complete: {end}"


def _add_to_choice(choice: JsonObject, part: Json) -> None:
    """Add the delta of a chunk to the choice; only the first choice is asked for."""
    if part.get("index"):
        return
    delta, message = part.get("delta") or {}, choice["message"]
    for name in _JOINED_TEXTS:
        if delta.get(name):
            message[name] = (message.get(name) or "") + read_text(delta[name])
    for name in ("finish_reason", "error"):
        if part.get(name):
            choice[name] = part[name]


def assemble_message(content: bytes) -> JsonObject:
    """Return the message of a stream of Anthropic's events.

    Raises:
        ServerFaultError: the stream ends before its `message_stop`.
    """
    message: JsonObject = {}
    blocks: dict[int, JsonObject] = {}
    for event in read_events(content):
        kind = event.get("type")
        if kind == "message_start":
            message = dict(event["message"])
        elif kind == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            _add_to_block(blocks[event["index"]], event["delta"])
        elif kind == "message_delta":
            message |= event.get("delta") or {}
            message["usage"] = {**message.get("usage", {}), **(event.get("usage") or {})}
        elif kind == "message_stop":
            message["content"] = [blocks[index] for index in sorted(blocks)]
            return message
    raise ServerFaultError(_end_message(content))


def _add_to_block(block: JsonObject, delta: Json) -> None:
    name = _BLOCK_TEXTS.get(delta.get("type"))
    if name is not None:
        block[name] = (block.get(name) or "") + delta[name]
