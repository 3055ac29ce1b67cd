"""Checks of values in a model's entry: addresses, names of variables, and request parameters."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from pydantic_core import PydanticCustomError

from moot.core.config_errors import INPUT_NOT_SHOWN, looks_like_a_key
from moot.core.endpoint_traits import endpoint_traits
from moot.core.types import Json

_HOST = re.compile(r"(?!.{254})[\w-]{1,63}(\.[\w-]{1,63})*\.?|[\da-f.]*:[\da-f:.]+(%[\w.-]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_INTEGER = 2**63
_SCHEMA = (
    "moot sends the form of each reply; `structured` in the model's entry chooses whether as a "
    "schema"
)
_SINGLE_REPLY = "moot asks for one whole reply a call; an experiment's `repeats` asks again"
_TOOLS = "moot offers a model no tools"
_ROUTE = "write each parameter under `parameters` itself"
_KEY = (
    "name the variable that holds the key in `api_key_env`; `parameters` are written to the ledger"
)


@dataclass(frozen=True, slots=True)
class _Reserved:
    """Request parameters that moot sets itself, with the alternative for the user."""

    names: tuple[str, ...]
    remedy: str


_RESERVED = (
    _Reserved(("model", "models", "fallbacks", "route"), "write `model` in the model's entry"),
    _Reserved(
        ("messages", "prompt", "input", "instructions", "system", "template"),
        "the prompt is the protocol's; `prompts` of an experiment words it",
    ),
    _Reserved(
        ("max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict", "num_predict"),
        "write `max_tokens` in the model's entry, or in an experiment's `params`",
    ),
    _Reserved(
        ("temperature",),
        "write `temperature` in the model's entry, or in an experiment's `params`",
    ),
    _Reserved(("seed",), "write `seed` in the model's entry"),
    _Reserved(("context", "num_ctx", "n_ctx"), "write `context` in the model's entry"),
    _Reserved(("timeout",), "write `timeout` in the model's entry"),
    _Reserved(("base_url", "host"), "write `base_url` in the model's entry"),
    _Reserved(("cache_prompt",), "the embedded model's cache is always on"),
    _Reserved(("response_format", "output_format", "format", "json_schema"), _SCHEMA),
    _Reserved(("grammar", "structured_outputs", "guided_json", "guided_choice"), _SCHEMA),
    _Reserved(("guided_regex", "guided_grammar"), _SCHEMA),
    _Reserved(
        ("n", "best_of", "stream", "stream_options", "raw", "background", "deferred", "echo"),
        _SINGLE_REPLY,
    ),
    _Reserved(
        ("suffix",),
        _SINGLE_REPLY,
    ),
    _Reserved(
        ("logprobs", "top_logprobs", "n_probs"),
        "a protocol asks for log-probabilities where it needs them (`answer: likelihood`)",
    ),
    _Reserved(
        ("tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"),
        _TOOLS,
    ),
    _Reserved(
        ("web_search_options", "plugins", "mcp_servers"),
        _TOOLS,
    ),
    _Reserved(("extra", "extra_body", "options", "body", "parameters", "params"), _ROUTE),
    _Reserved(("api_key", "authorization", "headers", "extra_headers"), _KEY),
    _Reserved(("default_headers", "extra_query"), _KEY),
)


def _fold_name(name: str) -> str:
    """Return a parameter's name in one spelling: maxTokens and MAX_TOKENS become equal."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _remedies_by_name() -> dict[str, str]:
    """Return each reserved name in its folded spelling, with the remedy."""
    remedies: dict[str, str] = {}
    for reserved in _RESERVED:
        remedies |= dict.fromkeys(map(_fold_name, reserved.names), reserved.remedy)
    return remedies


_REMEDIES = _remedies_by_name()


def check_parameter(name: str) -> str:
    """Return a name under `parameters`.

    Raise `ValueError` for a parameter that moot sends itself, or another spelling of it.
    """
    if remedy := _REMEDIES.get(_fold_name(name)):
        raise ValueError(f"this is not one of the model's parameters: {remedy}")
    return name


def check_value(value: Json) -> Json:
    """Return a value under `parameters`.

    It must not contain an API key or the form of the reply (Anthropic's `output_config`).
    """
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            parts += part.values()
            if "format" in part:
                raise ValueError(f"`format` is not one of the model's parameters: {_SCHEMA}")
        elif isinstance(part, list):
            parts += part
        if isinstance(part, str) and _is_surely_a_key(part):
            message = "found what looks like an API key, which is not repeated here; {do}"
            raise PydanticCustomError(INPUT_NOT_SHOWN, message, {"do": _KEY})
        if isinstance(part, int) and abs(part) >= _MAX_INTEGER:
            raise ValueError("few servers read such a large whole number; expected less than 2^63")
    return value


def _is_surely_a_key(text: str) -> bool:
    """Return whether a text looks like an API key and has the prefix of one."""
    return looks_like_a_key(text) and text.casefold().startswith(("sk-", "bearer "))


def check_variable(name: str) -> str:
    """Return the name of an environment variable.

    A possible key is refused, and the message does not repeat it.
    """
    if looks_like_a_key(name):
        message = (
            "found what looks like an API key, which is not repeated here; expected the NAME of "
            "an environment variable, such as OPENAI_API_KEY. Export the key in that variable. A "
            "key that was in a file should be changed"
        )
        raise PydanticCustomError(INPUT_NOT_SHOWN, message)
    if not _VARIABLE.fullmatch(name):
        message = (
            "expected the name of an environment variable: letters, digits and '_', such as "
            "OPENAI_API_KEY. The found value is not repeated here, since it may be a key"
        )
        raise PydanticCustomError(INPUT_NOT_SHOWN, message)
    return name


def key_problem(variable: str) -> str:
    """Return why the content of an environment variable is not an API key; "" if it may be one.

    The content is not repeated.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        return "is empty"
    if not re.fullmatch("[ -~]+", key):
        return (
            "contains a character that no key has: a line break, a typographic quotation mark or "
            "another sign beyond ASCII"
        )
    return ""


def split_address(address: str) -> tuple[SplitResult, int | None]:
    """Split an address into its parts and its port.

    The message of a `ValueError` repeats nothing but a port.
    """
    try:
        parts = urlsplit(address)
        return parts, parts.port
    except ValueError as error:
        reason = str(error) if str(error).startswith("Port out of range") else "it is malformed"
        raise ValueError(f"this is no address ({reason})") from None


def address_problem(address: str, endpoint: str) -> str:  # noqa: PLR0911 - one a kind of fault
    """Return why a server cannot be called at an address, and the expected form; "" if it can.

    It repeats no password.
    """
    traits = endpoint_traits(endpoint)
    if traits.default_port and "://" not in address:
        address = f"http://{address}"
    expected = f"expected an address such as {traits.example_address}"
    try:
        parts, port = split_address(address)
    except ValueError as error:
        return f"{error}; {expected}"
    host = parts.hostname
    if "@" in parts.netloc:
        return (
            "contains a password, which is not repeated here; expected only an address. Put the "
            "key into an environment variable and name that in `api_key_env`"
        )
    if "://" not in address:
        return f"found '{address}', an address without http:// or https://; {expected}"
    if parts.scheme.lower() not in ("http", "https"):
        return f"found an address of '{parts.scheme}'; {expected}"
    if not host or port == 0 or re.search(r"[\s\x00-\x1f\\]", address) or not _HOST.fullmatch(host):
        return f"found no server in the address; {expected}"
    if parts.query or parts.fragment:
        return (
            f"the address goes on after the path ('?' or '#'); {expected}, and keys in"
            " `api_key_env`"
        )
    return ""


def check_address(address: str, endpoint: str) -> str:
    """Return the address of a server; an error message does not repeat a password."""
    if problem := address_problem(address, endpoint):
        raise PydanticCustomError(INPUT_NOT_SHOWN, "{problem}", {"problem": problem})
    return address


def check_ledger(ledger: str) -> str:
    """Return a folder, or the URL of a database that moot writes to.

    An error message does not repeat a password.
    """
    if not ledger.strip():
        raise ValueError("expected a folder, or a URL such as postgresql://user@host/database")
    if "://" not in ledger:
        _check_ledger_folder(ledger)
        return ledger
    scheme, problem = ledger.partition("://")[0], ""
    try:
        split_address(ledger)
    except ValueError as error:
        problem = f"{error}; "
    if not problem and scheme.partition("+")[0] not in ("postgresql", "sqlite"):
        problem = f"found a URL of '{scheme}'; "
    if problem:
        message = "{problem}expected a folder, or a URL such as postgresql://user@host/database"
        raise PydanticCustomError(INPUT_NOT_SHOWN, message, {"problem": problem})
    return ledger


def _check_ledger_folder(ledger: str) -> None:
    """Require a path that is a folder or can become one."""
    if ledger.startswith("~"):
        raise ValueError("expected a folder; nothing replaces ~")
    path = Path.cwd() / ledger
    existing_path = next(parent for parent in (path, *path.parents) if parent.exists())
    if not existing_path.is_dir():
        raise ValueError(f"expected a folder; {existing_path} is a file")
