"""The content of a server's message: an answer, a refusal, only reasoning, or nothing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from moot.core.errors import TransientError
from moot.core.log import LOG
from moot.core.types import Json
from moot.core.usage import Usage
from moot.llm.request import Reply

MAY_BE_EMPTY = ("length", "content_filter", "refusal")
"""Finish reasons of replies that are kept without a text."""
_WORDS_OF_REASONS: Mapping[str, Collection[str]] = {
    "stop": ("eos", "eos_token", "end_turn", "stop_sequence", "completed", "complete"),
    "length": (
        "max_tokens", "max_output_tokens", "max_length", "model_length", "token_limit", "limit",
        "context_length_exceeded", "model_context_window_exceeded",
    ),
    "content_filter": (
        "safety", "recitation", "content_filtered", "blocked", "blocklist", "prohibited_content",
        "spii", "sensitive", "language", "image_safety", "guardrail_intervened",
    ),
    "error": (
        "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled",
        "canceled", "timeout", "timed_out", "load_error", "model_error", "failed", "incomplete",
        "malformed_function_call", "server_error", "internal_error",
    ),
}  # fmt: skip
"""Finish reasons of the chat completions API, with the words of other servers for them."""
_REASON_OF_WORD = {reason: reason for reason in (*_WORDS_OF_REASONS, *MAY_BE_EMPTY)}
for _reason, _words in _WORDS_OF_REASONS.items():
    _REASON_OF_WORD |= dict.fromkeys(_words, _reason)
_REASONING_FIELDS = (
    "reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details",
)  # fmt: skip
_TEXT_FIELDS = ("text", "content", "thinking", "reasoning", "summary", "reason", "message")
_WARNED: set[tuple[str, str]] = set()
"""Models and kinds of replies about which this process has warned."""


@dataclass(slots=True)
class MessageContent:
    """The parts of a message.

    Attributes:
        text: the answer, or the words of a refusal.
        reasoning: the model's text before its answer, if the server separates it.
        is_refusal: whether the server marks the text as a refusal.
        calls_tools: whether the message calls tools, which moot does not offer.
    """

    text: str = ""
    reasoning: str = ""
    is_refusal: bool = False
    calls_tools: bool = False


def read_message(message: Json) -> MessageContent:
    """Return the parts of a message of the chat completions API.

    Raises:
        TypeError: a part has another type than expected.
    """
    text, reasoning, refusal = _read_content(message.get("content"))
    refusal = _text_within(message.get("refusal")) or refusal
    return MessageContent(
        text=text or refusal,
        reasoning=_read_reasoning(message) or reasoning,
        is_refusal=bool(refusal) and not text,
        calls_tools=bool(message.get("tool_calls") or message.get("function_call")),
    )


def _read_content(content: Json) -> tuple[str, str, str]:
    """Return text, reasoning and refusal of a content, which may be a list of parts."""
    if not isinstance(content, list):
        return optional_text(content), "", ""
    texts, reasonings, refusals = list[str](), list[str](), list[str]()
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif part is None:
            continue
        elif part.get("type") in ("thinking", "reasoning"):
            reasonings.append(_read_thinking(part))
        elif part.get("type") == "refusal":
            refusals.append(_text_within(part.get("refusal")))
        else:  # text, output_text; images and the like have none
            texts.append(optional_text(part.get("text")))
    return "".join(texts), "".join(reasonings), "".join(refusals)


def _read_thinking(part: Json) -> str:
    """Return the text of a thinking part: a text itself, or a list of text parts (Mistral)."""
    return _text_within(part.get("thinking") or part.get("reasoning") or part.get("text"))


def _read_reasoning(message: Json) -> str:
    """Return the reasoning beside a message's content, in any field and form."""
    texts = (_text_within(message.get(field)) for field in _REASONING_FIELDS)
    return next(filter(None, texts), "")


def _text_within(value: Json) -> str:
    """Return a text, or the texts in an object or a list; "" for anything else.

    The answer does not depend on it, so no form of it is an error.
    """
    if isinstance(value, list):
        return "".join(map(_text_within, value))
    if isinstance(value, dict):
        texts = (_text_within(value.get(field)) for field in _TEXT_FIELDS)
        return next(filter(None, texts), "")
    return value if isinstance(value, str) else ""


def canonical_finish_reason(reason: Json) -> str:
    """Return a finish reason in the words of the chat completions API; others as they are.

    >>> canonical_finish_reason("MAX_TOKENS")
    'length'
    """
    word = optional_text(reason)
    return _REASON_OF_WORD.get(word.casefold(), word)


def check_reply_content(model: str, reply: Reply, calls_tools: bool, usage: Usage | None) -> None:
    """Check that a reply says something; warn of one without an answer, which is kept.

    Args:
        model: the model's name, for the message.
        reply: the reply.
        calls_tools: whether it calls tools.
        usage: its token counts.

    Raises:
        TransientError: the reply is empty.
    """
    if reply.text or reply.finish_reason in MAY_BE_EMPTY:
        return
    if reply.reasoning:
        _warn_once(
            model,
            "a reply holds reasoning and no answer. It is kept as it is. Check the server's"
            " reasoning parser (vLLM: --reasoning-parser), which may take the answer for reasoning",
        )
    elif calls_tools:
        _warn_once(model, "a reply calls a tool and gives no answer. It is kept as it is")
    else:
        raise TransientError("the reply is empty", usage)


def _warn_once(model: str, message: str) -> None:
    if (model, message) not in _WARNED:
        _WARNED.add((model, message))
        LOG.warning("model '%s': %s.", model, message)


def optional_text(value: Json) -> str:
    """Return a text, "" for null; raise `TypeError` for anything else."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"expected text, found {type(value).__name__}")
    return value or ""
