"""Locations in the configuration's files, and all faults of a configuration in one message."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from moot.core.errors import UnknownNameError, UserError, unknown_name
from moot.core.types import Json
from moot.core.yaml_text import load_yaml

INPUT_NOT_SHOWN = "unshown"
"""The type of a validation error whose message must not repeat the value.

The value may be a key or a password.
"""
Location = tuple[int | str, ...]
_MAX_VALUE_CHARS = 80
_KEY_LIKE = re.compile(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}")
_KEY_BEGINS = re.compile(
    r"(sk|pk|rk|gsk|hf|xai|pplx|nvapi|ghp|r8)[-_](?=\S*[0-9])\S{6,}|Bearer\s", re.IGNORECASE
)


def looks_like_a_key(text: str) -> bool:
    """Return whether a text may be an API key, which messages must not repeat."""
    return bool(_KEY_BEGINS.match(text.strip()) or _KEY_LIKE.search(text))


class Faults:
    """The faults of a configuration, collected until all are known.

    Attributes:
        broken: names of entries with a fault, so that references to them are not faults as well.
        count: the number of faults so far, including consequences of others that are not reported.
    """

    def __init__(self) -> None:
        self.count = 0
        self._messages: dict[str, None] = {}
        self.broken: set[str] = set()

    def add(self, message: str) -> None:
        """Add a fault, once."""
        self.count += 1
        self._messages[message] = None

    def add_all(self, faults: "Faults") -> None:
        """Add the messages of other faults."""
        for message in faults.messages:
            self.add(message)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Add the `UserError` that ends the block, and continue after it."""
        try:
            yield
        except UserError as error:
            if not (isinstance(error, UnknownNameError) and self._is_broken(error.name)):
                self.add(str(error))
            self.count += 1

    def _is_broken(self, name: str) -> bool:
        entry_name = name.partition("/")[0]
        prefixes = (f"{broken}-" for broken in self.broken)  # a name of a grid, or of a control
        return any(fnmatch(broken, entry_name) for broken in self.broken) or entry_name.startswith(
            tuple(prefixes)
        )

    @property
    def messages(self) -> list[str]:
        """The faults, each once."""
        return [*self._messages]

    @property
    def text(self) -> str:
        """The faults, a line each."""
        return "\n".join(self._messages)

    def check(self) -> None:
        """Raise one `UserError` with the text of the faults, if there is any."""
        if self._messages:
            raise UserError(self.text)


@cache
def _content(file: Path, _modified: int) -> Json:
    """Return the content of a configuration file; None if it cannot be read as YAML."""
    with suppress(yaml.YAMLError, ValueError):
        return load_yaml(file.read_text(encoding="utf-8"))
    return None


def _depth(content: Json, path: tuple[str, ...]) -> int:
    """Return how many of the keys of a path a content has."""
    for depth, name in enumerate(path):
        values = _named_values(content)
        if name not in values:
            return depth
        content = values[name]
    return len(path)


def _named_values(content: Json) -> dict[str, Json]:
    if not isinstance(content, Mapping):
        return {}
    return {_name(key): value for key, value in content.items()}


def _name(key: object) -> str:
    return "null" if key is None else str(key)


def describe_location(files: Iterable[Path], location: Location) -> str:
    """Describe a key by file and path.

    It is the last configuration file with the longest part of the path.
    """
    path = tuple(map(_name, location))
    best_place, best_depth = "configuration", 1
    for file in files:
        depth = _depth(_content(file, file.stat().st_mtime_ns), path)
        if depth >= best_depth:  # a list in a later file replaces the list of an earlier one
            best_place, best_depth = str(file), depth
    return f"{best_place}: {'.'.join(path)}"


_WORDS = {True: ("yes", "on", "true", "y"), False: ("no", "off", "false", "n")}
"""Words that YAML reads as truth values unless they are quoted, in any case."""


def _describe_key(key: object, value: object) -> str:
    """Describe why a key is not text, with the remedy."""
    if not isinstance(key, bool):
        return f"found the key {show_value(key)}; expected text. Quote it: '{key!s:.40}'."
    words = ", ".join(_WORDS[key][:3])
    value_too = " Quote its value, too." if isinstance(value, bool) else ""
    return f"found the key {key}, as YAML reads {words} without quotes. Quote the key.{value_too}"


def copy_plain_values(
    raw: Json,
    note: Callable[[Location, str], None],
    place: Location = (),
    ancestors: tuple[int, ...] = (),
) -> Json:
    """Return a copy of configuration values, and note those that JSON does not have.

    Noted values are left out.
    """
    if id(raw) in ancestors:
        note(
            place, "this contains itself; expected no alias (*name) inside its own anchor (&name)."
        )
        return None
    ancestors = (*ancestors, id(raw)) if isinstance(raw, (Mapping, list)) else ancestors
    if isinstance(raw, Mapping):
        plain_mapping = {}
        for key, value in raw.items():
            if type(key) not in (str, int) or _value_problem(key):
                note((*place, _name(key)), _describe_key(key, value))
            elif not (problem := _value_problem(value)):
                inner_place = (*place, key)
                plain_mapping[key] = copy_plain_values(value, note, inner_place, ancestors)
            else:
                note((*place, key), problem)
        return plain_mapping
    if isinstance(raw, (list, tuple)):
        problems = {
            number: problem
            for number, value in enumerate(raw)
            if (problem := _value_problem(value))
        }
        for number, problem in problems.items():
            note((*place, number), problem)
        return [
            copy_plain_values(raw[n], note, (*place, n), ancestors)
            for n in range(len(raw))
            if n not in problems
        ]
    return raw


def _value_problem(value: Json) -> str:
    """Return why a value cannot be in a configuration, with the remedy; "" if it can."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value}; expected a number. If there is no limit, remove the key."
    if isinstance(value, date):
        return (
            f"found a date, {value}; expected text or a number. If it is text, quote it: '{value}'."
        )
    if isinstance(value, (bytes, set)):
        return (
            f"found {'bytes' if isinstance(value, bytes) else 'a set'}; expected text, a number or"
            " a list."
        )
    if isinstance(value, str) and re.search(
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", value
    ):
        return (
            f"found {show_value(value)}, which contains a null character or an unpaired surrogate."
            " Write it again."
        )
    return ""


def show_value(value: Json) -> str:
    """Return a value for a message: short, and without possible keys or passwords."""
    text = repr(value)
    if (
        isinstance(value, (Mapping, list, str)) and looks_like_a_key(text.strip("'\""))
    ) or re.search(r"://[^/\s]*@", text):
        return "a possible key or password, which is not repeated here"
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."


def location_of(fault: ErrorDetails, prefix: Sequence[str] = ()) -> Location:
    """Return the location of a validation error, without pydantic's own word for a key."""
    return tuple(part for part in (*prefix, *fault["loc"]) if part != "[key]")


def fault_message(
    fault: ErrorDetails, place: str, location: Location, known_keys: Iterable[str]
) -> str:
    """Return a validation error as a line for users: file, key, found, expected."""
    is_entry = fault["type"] in ("model_type", "dict_type")
    expectation = (
        "expected keys with values"
        if is_entry
        else fault["msg"].removeprefix("Value error, ").rstrip(".")
    )
    if is_entry and str(fault["input"]).startswith("{"):  # --config "init={question: Why?}"
        expectation += "; in one line of YAML, quote text with ?, : or a comma"
    if fault["type"] == "extra_forbidden":
        return str(unknown_name("key", str(location[-1]), known_keys, location=place))
    if fault["type"] == "missing":
        return f"{place}: this key is missing; add it."
    if fault["type"] == INPUT_NOT_SHOWN or isinstance(fault["input"], Mapping):
        return f"{place}: {expectation}."
    if fault["type"] == "string_type" and isinstance(fault["input"], bool):
        words = ", ".join(_WORDS[fault["input"]][:3])
        return (
            f"{place}: found {fault['input']}, as YAML reads {words} without quotes; expected text."
            f" Quote it as you wrote it, such as '{words.partition(',')[0]}'."
        )
    return f"{place}: found {show_value(fault['input'])}; {expectation}."


def validation_message(
    error: ValidationError, prefix: tuple[str, ...], files: Iterable[Path], entry: type[BaseModel]
) -> str:
    """Return the errors of an entry of the configuration, one line each."""
    files = list(files)
    located = [
        (fault, location_of(fault, prefix), sibling_keys(entry, fault["loc"]))
        for fault in error.errors()
    ]
    return "\n".join(
        fault_message(fault, describe_location(files, place), place, known_keys)
        for fault, place, known_keys in located
    )


def sibling_keys(entry: type[BaseModel], place: Location) -> list[str]:
    """Return the known keys of an entry, or of a part of it, that contains a fault."""
    for name in place[:-1]:
        entry = entry_model_at(entry, str(name)) or entry
    return list(entry.model_fields)


def entry_model_at(entry: type[BaseModel], key: str) -> type[BaseModel] | None:
    """Return the model of a key's value in an entry, or of the values of a mapping there.

    None if these are not entries.
    """
    field = entry.model_fields.get(key)
    kinds = (field.annotation, *get_args(field.annotation)) if field else ()
    return next(
        (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None
    )
