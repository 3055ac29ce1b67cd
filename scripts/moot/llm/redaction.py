"""Clean the texts of servers: keys are removed, names and messages are shortened."""

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import lru_cache

from moot.core.errors import MootError, UserError
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.model_values import key_problem
from moot.core.types import Json, JsonObject
from moot.llm.identity import key_variable
from moot.llm.parsing.plain_text import clean_text
from moot.llm.request import Reply

REMOVED = "[API key removed]"
"""What replaces a key that the server repeated in a reply's text."""
_MARK = "***"
_MAX_MESSAGE_CHARACTERS = 300
_MAX_NAME_CHARACTERS = 200
_MIN_PIECE_CHARACTERS = 12
"""Pieces of a key at least this long are removed from errors; a shorter one may be a prefix such as
`sk-proj-`.
"""
_MIN_KEY_CHARACTERS = 8
"""Shorter values are placeholders for servers without keys (`none`, `EMPTY`, `ollama`), which occur
in many texts.
"""
_INVISIBLE = r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
"""Invisible characters between the characters of a key."""
_NAME_FIELDS = (
    "finish_reason",
    "served_model",
    "provider",
    "system_fingerprint",
    "service_tier",
    "response_id",
)

_KEY_PATTERNS: dict[str, str] = {}
"""The keys of this process, each with the pattern that matches it."""
_WARNED: list[str] = []
"""The first model whose server repeated its key."""


def _replace_keys(text: str, mark: str) -> str:
    return re.sub("|".join(_KEY_PATTERNS.values()), mark, text) if _KEY_PATTERNS else text


def read_key(config: ModelConfig) -> str:
    """Return the key in the environment variable of a model (`key_variable`), "" without one.

    From now on it is removed from everything that servers send.
    """
    key = os.environ.get(key_variable(config), "").strip()
    if len(key) >= _MIN_KEY_CHARACTERS:
        _KEY_PATTERNS[key] = _INVISIBLE.join(map(re.escape, key))
        _cached_line.cache_clear()
    return key


def api_key(config: ModelConfig) -> str:
    """Return the key of a model; "" if no variable holds it, since local servers need none.

    Raises:
        UserError: the variable is empty, or its value cannot be a key.
    """
    key = read_key(config)
    variable = key_variable(config)
    if variable and (problem := key_problem(variable)):
        raise UserError(
            f"model '{config.model}': the environment variable {variable} {problem}. Set"
            f" it to the server's API key (export {variable}=...), or use another model."
        )
    return key


def remove_keys(value: Json, mark: str = _MARK) -> Json:
    """Return a text, or the texts in a JSON value, with `mark` in place of each key."""
    if isinstance(value, str):
        return _replace_keys(value, mark)
    if isinstance(value, list):
        return [remove_keys(part, mark) for part in value]
    if isinstance(value, dict):
        return {remove_keys(key, mark): remove_keys(part, mark) for key, part in value.items()}
    return value


def _to_line(message: str) -> str:
    """Return a message on one line that changes no terminal, without keys and passwords."""
    text = re.sub(r"(?<=://)[^/\s@]+@", f"{_MARK}@", _replace_keys(message, _MARK))
    text = "".join(character for character in " ".join(text.split()) if character.isprintable())
    return _replace_keys(text, _MARK)  # invisible characters may have split a key


_cached_line = lru_cache(maxsize=256)(_to_line)
"""Servers repeat their names with each reply."""


def redacted(message: object, max_characters: int = _MAX_MESSAGE_CHARACTERS) -> str:
    """Return a server's message for logs and the ledger: one line of bounded length, without keys.

    Libraries shorten long values in their errors, which may leave a piece of a key. Long pieces are
    removed as well.
    """
    text = _to_line(str(message))
    if len(text) > max_characters:
        text = f"{text[:max_characters]}..."
    for key in _KEY_PATTERNS:
        matcher = SequenceMatcher(a=text, b=key, autojunk=False)
        min_size = min(_MIN_PIECE_CHARACTERS, 3 * len(key) // 4)
        while (piece := matcher.find_longest_match()).size >= min_size:
            text = f"{text[: piece.a]}{_MARK}{text[piece.a + piece.size :]}"
            matcher.set_seq1(text)
    return text


def server_name(value: object) -> str:
    """Return a name that a server sent, as a short line; nothing depends on its form."""
    text = "" if value is None else str(value)
    to_line = _cached_line if len(text) <= _MAX_NAME_CHARACTERS else _to_line
    return to_line(text)[:_MAX_NAME_CHARACTERS]


def clean_reply(reply: Reply, started_at: datetime) -> Reply:
    """Return a reply for the ledger, with its times: no field holds a key.

    Args:
        reply: as the endpoint returned it.
        started_at: when the attempt began.
    """
    raw_texts = {field: clean_text(getattr(reply, field)) for field in ("text", "reasoning")}
    texts = {field: _replace_keys(text, REMOVED) for field, text in raw_texts.items()}
    names = {field: server_name(getattr(reply, field)) for field in _NAME_FIELDS}
    logprobs = {_replace_keys(label, _MARK): value for label, value in reply.logprobs.items()}
    has_key = texts != raw_texts or any(_MARK in name for name in names.values())
    if has_key and not _WARNED:
        _WARNED.append(names["served_model"] or "a model")
        LOG.warning(
            "moot: the server of %s repeats the API key that it is sent. The key is removed from"
            " what is kept, and a reply's text says %s in its place. Change the key, and tell those"
            " who run the server.",
            *_WARNED,
            REMOVED,
        )
    changes: JsonObject = {
        **texts,
        **names,
        "logprobs": logprobs,
        "started_at": started_at.isoformat(timespec="milliseconds"),
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    return replace(reply, **changes)


def remove_keys_from_error(error: MootError) -> None:
    """Remove keys from an endpoint's error."""
    error.args = tuple(map(remove_keys, error.args))
