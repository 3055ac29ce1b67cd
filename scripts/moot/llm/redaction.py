"""All that a server sends passes here before it is kept or shown: keys are removed, names and
messages are bounded.
"""

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
from moot.llm.parsing.values import writable
from moot.llm.request import Reply

REMOVED = "[API key removed]"
"""What replaces a key that the server repeated in a reply's text."""
_MARK = "***"
_LONGEST_MESSAGE = 300
_LONGEST_NAME = 200
_LONGEST_PIECE = 12
"""So many characters of a key together are removed from errors; fewer may be a prefix such as
`sk-proj-`.
"""
_SHORTEST_KEY = 8
"""Shorter ones are placeholders for servers that want none (`none`, `EMPTY`, `ollama`), and words
of many texts.
"""
_UNSEEN = r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
"""Invisible characters between those of a key."""
_NAMES = (
    "finish_reason",
    "served_model",
    "provider",
    "system_fingerprint",
    "service_tier",
    "response_id",
)


_PATTERNS: dict[str, str] = {}
"""The keys of this process, each to the pattern that finds it."""
_WARNED: list[str] = []
"""The first model whose server repeated its key."""


def _remove(text: str, mark: str) -> str:
    return re.sub("|".join(_PATTERNS.values()), mark, text) if _PATTERNS else text


def read_key(config: ModelConfig) -> str:
    """The key in the environment variable that a model's entry names, "" where there is none.

    From now on it is removed from all that servers send.
    """
    key = os.environ.get(config.api_key_env or "", "").strip()
    if len(key) >= _SHORTEST_KEY:
        _PATTERNS[key] = _UNSEEN.join(map(re.escape, key))
        _known_line.cache_clear()
    return key


def api_key(config: ModelConfig) -> str:
    """The key of a model; "" where its entry names no variable, since local servers need none.

    Raises:
        UserError: the variable is empty, or holds what cannot be sent as a key.
    """
    key = read_key(config)
    if config.api_key_env and (problem := key_problem(config.api_key_env)):
        raise UserError(
            f"model '{config.model}': the environment variable {config.api_key_env} {problem}. Set"
            f" it to the server's API key (export {config.api_key_env}=...), or use another model."
        )
    return key


def without_keys(value: Json, mark: str = _MARK) -> Json:
    """A text, or the texts in what JSON holds, with `mark` in place of each key."""
    if isinstance(value, str):
        return _remove(value, mark)
    if isinstance(value, list):
        return [without_keys(part, mark) for part in value]
    if isinstance(value, dict):
        return {without_keys(key, mark): without_keys(part, mark) for key, part in value.items()}
    return value


def _one_line(message: str) -> str:
    """What was said on one line that changes no terminal, without keys and passwords."""
    text = re.sub(r"(?<=://)[^/\s@]+@", f"{_MARK}@", _remove(message, _MARK))
    text = "".join(character for character in " ".join(text.split()) if character.isprintable())
    return _remove(text, _MARK)  # what was taken out may have been between its halves


_known_line = lru_cache(maxsize=256)(
    _one_line
)  # servers say the same of themselves with each reply


def redacted(message: object) -> str:
    """What a server said, fit for logs and the ledger: one line of bounded length, without keys.

    Libraries cut long values short in their errors, a key with them, so that long pieces of a key
    are removed, too.
    """
    text = _one_line(str(message))
    text = text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
    for key in _PATTERNS:
        alike, least = (
            SequenceMatcher(a=text, b=key, autojunk=False),
            min(_LONGEST_PIECE, 3 * len(key) // 4),
        )
        while (piece := alike.find_longest_match()).size >= least:
            text = f"{text[: piece.a]}{_MARK}{text[piece.a + piece.size :]}"
            alike.set_seq1(text)
    return text


def name(value: object) -> str:
    """What a server says of itself; nothing depends on it, so that any form will do."""
    said = "" if value is None else str(value)
    return (_known_line if len(said) <= _LONGEST_NAME else _one_line)(said)[:_LONGEST_NAME]


def received(reply: Reply, started: datetime) -> Reply:
    """A reply, whose attempt `started` then, as it is kept: its texts hold no key, and all else is
    a name.
    """
    sent = {field: writable(getattr(reply, field)) for field in ("text", "reasoning")}
    texts = {field: _remove(text, REMOVED) for field, text in sent.items()}
    names = {field: name(getattr(reply, field)) for field in _NAMES}
    logprobs = {_remove(label, _MARK): value for label, value in reply.logprobs.items()}
    if (texts != sent or any(_MARK in found for found in names.values())) and not _WARNED:
        _WARNED.append(names["served_model"] or "a model")
        LOG.warning(
            "moot: the server of %s repeats the API key that it is sent. The key is removed from"
            " what is kept, and a reply's text says %s in its place. Change the key, and tell those"
            " who run the server.",
            *_WARNED,
            REMOVED,
        )
    times = {"started_at": started, "ended_at": datetime.now(UTC)}
    said = {field: time.isoformat(timespec="milliseconds") for field, time in times.items()}
    kept: JsonObject = {**texts, **names, **said, "logprobs": logprobs}
    return replace(reply, **kept)


def clear_of_keys(error: MootError) -> None:
    """Remove keys from an endpoint's error."""
    error.args = tuple(map(without_keys, error.args))
