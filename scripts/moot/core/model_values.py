"""What a model's entry may hold: addresses that can be called, names of variables, and the model's
own parameters.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from pydantic_core import PydanticCustomError

from moot.core.endpoint_traits import endpoint_traits
from moot.core.places import UNSHOWN, looks_like_a_key
from moot.core.types import Json

_HOST = re.compile(r"(?!.{254})[\w-]{1,63}(\.[\w-]{1,63})*\.?|[\da-f.]*:[\da-f:.]+(%[\w.-]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGE = 2**63
_LIMIT = "write `max_tokens` in the model's entry, or in an experiment's `params`"
_SCHEMA = (
    "moot sends the form of each reply; `structured` in the model's entry says whether as a schema"
)
_ONE = "moot asks for one whole reply a call; an experiment's `repeats` asks again"
_TOOLS = "moot offers a model no tools"
_ROUTE = "write each parameter under `parameters` itself"
_KEY = (
    "name the variable that holds the key in `api_key_env`; `parameters` are written to the ledger"
)
_INSTEAD: Mapping[str, tuple[str, ...]] = {
    "write `model` in the model's entry": ("model", "models", "fallbacks", "route"),
    "the prompt is the protocol's; `prompts` of an experiment words it": (
        *("messages", "prompt", "input", "instructions", "system", "template"),
    ),
    _LIMIT: (
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "n_predict",
        "num_predict",
    ),
    "write `temperature` in the model's entry, or in an experiment's `params`": ("temperature",),
    "write `seed` in the model's entry": ("seed",),
    "write `context` in the model's entry": ("context", "num_ctx", "n_ctx"),
    "write `timeout` in the model's entry": ("timeout",),
    "write `base_url` in the model's entry": ("base_url", "host"),
    "write `prompt_cache_key` in the model's entry": ("prompt_cache_key",),
    "the embedded model's cache is always on": ("cache_prompt",),
    "`simulated` is a key of the model's entry": ("simulated",),
    _SCHEMA: (
        *(
            "response_format",
            "output_format",
            "format",
            "grammar",
            "json_schema",
            "structured_outputs",
        ),
        *("guided_json", "guided_choice", "guided_regex", "guided_grammar"),
    ),
    _ONE: (
        "n",
        "best_of",
        "stream",
        "stream_options",
        "raw",
        "background",
        "deferred",
        "echo",
        "suffix",
    ),
    "a protocol asks for log-probabilities where it needs them (`answer: likelihood`)": (
        *("logprobs", "top_logprobs", "n_probs"),
    ),
    _TOOLS: (
        *("tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"),
        *("web_search_options", "plugins", "mcp_servers"),
    ),
    _ROUTE: ("extra", "extra_body", "options", "body", "parameters", "params"),
    _KEY: (
        "api_key",
        "authorization",
        "headers",
        "extra_headers",
        "default_headers",
        "extra_query",
    ),
}


def _folded(name: str) -> str:
    """A parameter's name in one spelling: maxTokens, MAX_TOKENS and max-tokens are one."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_OWN = {_folded(name): instead for instead, names in _INSTEAD.items() for name in names}


def check_parameter(name: str) -> str:
    """A name under `parameters`; raises `ValueError` for what moot itself sends, or for another way
    to send it.
    """
    if instead := _OWN.get(_folded(name)):
        raise ValueError(f"this is no parameter of the model's own: {instead}")
    return name


def check_value(value: Json) -> Json:
    """A value under `parameters`; no API key may be in it, and no form of the reply (Anthropic's
    `output_config`).
    """
    parts = [value]
    while parts:
        part = parts.pop()
        parts += (
            [*part.values()]
            if isinstance(part, Mapping)
            else part
            if isinstance(part, list)
            else []
        )
        if isinstance(part, Mapping) and "format" in part:
            raise ValueError(f"`format` is no parameter of the model's own: {_SCHEMA}")
        if (
            isinstance(part, str)
            and looks_like_a_key(part)
            and part.casefold().startswith(("sk-", "bearer "))
        ):
            message = "found what looks like an API key, which is not repeated here; {do}"
            raise PydanticCustomError(UNSHOWN, message, {"do": _KEY})
        if isinstance(part, int) and abs(part) >= _LARGE:
            raise ValueError(
                "a whole number so large is read by few servers; expected less than 2^63"
            )
    return value


def check_variable(name: str) -> str:
    """The name of an environment variable; what may be a key is refused without being repeated."""
    if looks_like_a_key(name):
        message = (
            "found what looks like an API key, which is not repeated here; expected the NAME of an"
            " environment variable, such as OPENAI_API_KEY. Export the key in that variable. A key"
            " that was in a file is better changed"
        )
        raise PydanticCustomError(UNSHOWN, message)
    if not _VARIABLE.fullmatch(name):
        message = (
            "expected the name of an environment variable: letters, digits and '_', such as"
            " OPENAI_API_KEY. What was found is not repeated here, since it may be a key"
        )
        raise PydanticCustomError(UNSHOWN, message)
    return name


def key_problem(variable: str) -> str:
    """Why what an environment variable holds is no API key, without repeating it; "" where it may
    be one.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        return "is empty"
    if not re.fullmatch("[ -~]+", key):
        return (
            "holds what no key holds: a line break, a typographic quotation mark or another sign"
            " beyond ASCII"
        )
    return ""


def parts_of_address(address: str) -> tuple[SplitResult, int | None]:
    """An address in its parts, and its port; raises `ValueError`, which repeats nothing of it but a
    port.
    """
    try:
        parts = urlsplit(address)
        return parts, parts.port
    except ValueError as error:
        said = str(error) if str(error).startswith("Port out of range") else "it is malformed"
        raise ValueError(f"this is no address ({said})") from None


def address_problem(address: str, endpoint: str) -> str:  # noqa: PLR0911 - one a kind of fault
    """Why a server cannot be called at an address, and what is expected; "" where it can.

    It repeats no password.
    """
    traits = endpoint_traits(endpoint)
    if traits.default_port and "://" not in address:
        address = f"http://{address}"
    expected = f"expected an address such as {traits.example_address}"
    try:
        parts, port = parts_of_address(address)
    except ValueError as error:
        return f"{error}; {expected}"
    host = parts.hostname
    if "@" in parts.netloc:
        return (
            "holds a password, which is not repeated here; expected an address alone. Put the key"
            " into an environment variable and name that in `api_key_env`"
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
    """An address of a server; raises an error that repeats no password."""
    if problem := address_problem(address, endpoint):
        raise PydanticCustomError(UNSHOWN, "{problem}", {"problem": problem})
    return address


def check_ledger(ledger: str) -> str:
    """A folder, or the URL of a database that moot writes to; raises an error that repeats no
    password.
    """
    if not ledger.strip():
        raise ValueError("expected a folder, or a URL such as postgresql://user@host/database")
    if "://" not in ledger:
        there = next(
            path for path in (Path.cwd() / ledger, *(Path.cwd() / ledger).parents) if path.exists()
        )
        if ledger.startswith("~") or not there.is_dir():
            raise ValueError(
                "expected a folder;"
                f" {'nothing replaces ~' if ledger[0] == '~' else f'{there} is a file'}"
            )
        return ledger
    scheme, problem = ledger.partition("://")[0], ""
    try:
        parts_of_address(ledger)
    except ValueError as error:
        problem = f"{error}; "
    if not problem and scheme.partition("+")[0] not in ("postgresql", "sqlite"):
        problem = f"found a URL of '{scheme}'; "
    if problem:
        message = "{problem}expected a folder, or a URL such as postgresql://user@host/database"
        raise PydanticCustomError(UNSHOWN, message, {"problem": problem})
    return ledger
