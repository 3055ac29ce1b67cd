"""The content of a server's message: an answer, a refusal, only reasoning, or nothing."""

from moot.core.errors import TransientError
from moot.core.log import LOG
from moot.core.types import Json
from moot.core.usage import Usage
from moot.llm.request import Reply

MAY_BE_EMPTY = ("length", "content_filter", "refusal")
"""Finish reasons of replies that are kept without a text."""
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_WARNED: set[str] = set()
"""The models of which this process has warned."""


def read_reasoning(message: Json) -> str:
    """Return the model's text before its answer, if the server separates it."""
    reasonings = (message.get(field) for field in _REASONING_FIELDS)
    return next((part for part in reasonings if part and isinstance(part, str)), "")


def read_text(content: Json) -> str:
    """Return the text of a content, which may be a list of parts; only parts of text count.

    Raises:
        TypeError: a part has another type than expected.
    """
    if not isinstance(content, list):
        return optional_text(content)
    texts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "".join(map(optional_text, texts))


def check_reply_content(model: str, reply: Reply, usage: Usage | None) -> None:
    """Check that a reply says something; warn of one without an answer, which is kept.

    Args:
        model: the model's name, for the message.
        reply: the reply.
        usage: its token counts.

    Raises:
        TransientError: the reply is empty.
    """
    if reply.text or reply.finish_reason in MAY_BE_EMPTY:
        return
    if not reply.reasoning:
        raise TransientError(f"the reply is empty (finish_reason {reply.finish_reason})", usage)
    if model not in _WARNED:
        _WARNED.add(model)
        LOG.warning(
            "model '%s': a reply holds reasoning and no answer. It is kept as it is. Check the"
            " server's reasoning parser (vLLM: --reasoning-parser), which may take the answer for"
            " reasoning.",
            model,
        )


def optional_text(value: Json) -> str:
    """Return a text, "" for null; raise `TypeError` for anything else."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"expected text, found {type(value).__name__}")
    return value or ""
