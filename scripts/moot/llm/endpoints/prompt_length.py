"""Whether a server read the whole prompt: some cut a long one and say nothing of it."""

import re

from moot.core.errors import CallFailedError
from moot.core.usage import Usage
from moot.llm.request import Reply, Request

_MIN_TOKENS_PER_CHARACTER = 1 / 8
"""No tokenizer in use packs more than about eight characters of prose into a token."""
_MIN_TOKENS_PER_IDEOGRAPH = 0.4
"""Chinese, Japanese and Korean: no tokenizer packs more than two or three into a token."""
_MIN_TOKENS_PER_WORD = 0.95
"""Nearly every word is a token of its own or more."""
_WORD = re.compile(r"[a-zA-Z\u00c0-\u1fff]+|\d{1,4}")
"""A word of letters, or as many digits as a token holds at most."""
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def min_prompt_tokens(request: Request) -> int:
    """Return a number of tokens that every tokenizer exceeds for a prompt.

    Tokens do not span words, so that a prompt has about as many as words, or more.
    """
    text = "\n".join(message.content for message in request.messages)
    ideographs = len(_IDEOGRAPH.findall(text))
    words = len(_WORD.findall(text))
    return int(
        max(
            words * _MIN_TOKENS_PER_WORD,
            (len(text) - ideographs) * _MIN_TOKENS_PER_CHARACTER
            + ideographs * _MIN_TOKENS_PER_IDEOGRAPH,
        )
    )


def check_prompt_length(request: Request, reply: Reply, context: int | None = None) -> None:
    """Check that the server counted as many tokens as the prompt must have.

    Args:
        request: the request.
        reply: with the server's count of the prompt's tokens; 0 if it gives none.
        context: the context window in tokens that the server was asked for, None if it was not.

    Raises:
        CallFailedError: the server cut the prompt. The reply's tokens count as used.
    """
    if not reply.prompt_tokens:
        return
    fills_context = context is not None and reply.prompt_tokens >= context
    min_tokens = min_prompt_tokens(request)
    if not fills_context and reply.prompt_tokens >= min_tokens:
        return
    usage = Usage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
    place = f"the context of {context} tokens" if context else "the server's context"
    remedy = (
        "Raise `context` for this model"
        if context
        else "Raise the context of the server (for Ollama: `endpoint: ollama` and `context`)"
    )
    raise CallFailedError(
        f"the server read {reply.prompt_tokens} tokens of a prompt of {request.prompt_characters}"
        f" characters, which has at least {min_tokens}: it was cut to {place}. {remedy}, or shorten"
        " the cases.",
        usage=usage,
    )
