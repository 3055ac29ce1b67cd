"""Checks whether a server read the whole prompt, since some cut a long one silently."""

import re

from moot.core.errors import CallFailedError
from moot.core.usage import Usage
from moot.llm.request import Reply, Request

_MIN_TOKENS_PER_CHARACTER = 1 / 8
"""No tokenizer in use packs more than about eight characters of prose into a token."""
_MIN_TOKENS_PER_IDEOGRAPH = 0.4
"""Chinese, Japanese and Korean: no tokenizer packs more than two or three into a token."""
_MIN_TOKENS_PER_WORD = 0.95
"""Nearly every word is at least one token."""
_TOKENS_PER_CHARACTER = 1 / 4
_TOKENS_PER_IDEOGRAPH = 0.7
_TOKENS_PER_WORD = 1.3
"""What usual tokenizers need of English, Chinese and German; other languages need more."""
_FULL_SHARE = 0.6
"""A usual count of this share of the context, read as half of it, shows a cut: a prompt that is
half as long as the context has at most some 20 % more tokens by the usual count."""
_MIN_CONTEXT = 256
"""No server's context is shorter; a smaller count leaves out cached tokens, or is not a count."""
_WORD = re.compile(r"[a-zA-Z\u00c0-\u1fff]+|\d{1,4}")
"""A word of letters, or as many digits as a token holds at most."""
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def min_prompt_tokens(request: Request) -> int:
    """Return a number of tokens that every tokenizer exceeds for a prompt.

    Tokens do not span words, so that a prompt has about as many as words, or more.
    """
    return _count_tokens(
        request, _MIN_TOKENS_PER_WORD, _MIN_TOKENS_PER_CHARACTER, _MIN_TOKENS_PER_IDEOGRAPH
    )


def estimate_prompt_tokens(request: Request) -> int:
    """Return the number of tokens that a usual tokenizer makes of a prompt, within some 30 %."""
    return _count_tokens(request, _TOKENS_PER_WORD, _TOKENS_PER_CHARACTER, _TOKENS_PER_IDEOGRAPH)


def _count_tokens(
    request: Request, per_word: float, per_character: float, per_ideograph: float
) -> int:
    """Return the larger count of a prompt's tokens: by words, or by characters."""
    text = "\n".join(message.content for message in request.messages)
    ideographs = len(_IDEOGRAPH.findall(text))
    words = len(_WORD.findall(text))
    by_character = (len(text) - ideographs) * per_character + ideographs * per_ideograph
    return int(max(words * per_word, by_character))


def _is_cut_in_half(request: Request, prompt_tokens: int, context: int, kept_tokens: int) -> bool:
    """Return whether a server read half of its context of a prompt that is about as long as it.

    Ollama keeps the first tokens of a prompt that does not fit, and half of the others: 4,098 of
    8,192.
    """
    half = (context + kept_tokens) / 2
    is_half = context / 2 <= prompt_tokens <= half + 2
    return is_half and estimate_prompt_tokens(request) >= _FULL_SHARE * context


def check_prompt_length(
    request: Request, reply: Reply, context: int | None = None, kept_tokens: int = 0
) -> None:
    """Check that the server counted as many tokens as the prompt must have.

    Args:
        request: the request.
        reply: with the server's count of the prompt's tokens; 0 if it gives none.
        context: the context window in tokens that the server was asked for, None if it was not.
        kept_tokens: the tokens at the beginning of a prompt that the server does not cut.

    Raises:
        CallFailedError: the server cut the prompt. The reply's tokens count as used.
    """
    if not reply.prompt_tokens:
        return
    fills_context = context is not None and reply.prompt_tokens >= context
    is_half = context is not None and _is_cut_in_half(
        request, reply.prompt_tokens, context, kept_tokens
    )
    min_tokens = min_prompt_tokens(request)
    has_all = reply.prompt_tokens >= min_tokens or reply.prompt_tokens < _MIN_CONTEXT
    if has_all and not fills_context and not is_half:
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
        f" characters, which has {'about' if is_half else 'at least'}"
        f" {estimate_prompt_tokens(request) if is_half else min_tokens}: it was cut to {place}."
        f" {remedy}, or shorten the cases.",
        usage=usage,
    )
