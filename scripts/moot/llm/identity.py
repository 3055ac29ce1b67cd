"""The declared identity of a model's server: part of a call's key in the ledger."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.model_values import address_problem

_DEFAULT_ADDRESSES = {
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1"),
    "ollama": ("OLLAMA_HOST", "http://localhost:11434"),
}
"""By endpoint: the environment variable that its own client reads, and the address that it calls
without one.
"""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_OLLAMA_PORT = 11434


def address(config: ModelConfig) -> str | None:
    """Where a model's server is called: `base_url`, else what the endpoint's own client would take.

    None for a model inside the process.
    """
    variable, usual = _DEFAULT_ADDRESSES.get(config.endpoint, ("", None))
    found = config.base_url or os.environ.get(variable, "").strip() or usual
    if found and config.endpoint == "ollama" and "://" not in found:
        found = (
            f"http://{found}" if urlsplit(f"//{found}").port else f"http://{found}:{_OLLAMA_PORT}"
        )
    return found


def provider(config: ModelConfig, environment: Mapping[str, str] = os.environ) -> str:
    """Who answers, on any machine: the address of a service, or the name of the endpoint.

    `base_url` and `served_as` count where the endpoint is `openai` or `anthropic`, since any server
    may speak these protocols. An Ollama server and a model inside the process run what their entry
    names, wherever they are.
    """
    if config.endpoint not in ("anthropic", "openai"):
        return config.endpoint
    variable, usual = _DEFAULT_ADDRESSES[config.endpoint]
    return normalised(
        config.served_as or config.base_url or environment.get(variable, "").strip() or usual
    )


def check_environment(config: ModelConfig) -> None:
    """Raise `UserError` where a model without `base_url` has an address by the environment that
    cannot be called.
    """
    variable, _ = _DEFAULT_ADDRESSES.get(config.endpoint, ("", None))
    found = "" if config.base_url or config.serve else os.environ.get(variable, "").strip()
    if found and (problem := address_problem(found, config.endpoint)):
        raise UserError(
            f"the environment variable {variable}: {problem}. Correct it, or write `base_url` here."
        )


def served_as(config: ModelConfig) -> str:
    """The identity of a model's server: `served_as`, else its address; "" for a model inside the
    process.

        A model inside the process is told from others by its file, which is the model's name in the
        request.
    """
    if config.endpoint == "embedded":
        return ""
    return normalised(config.served_as or address(config) or "")


def model_asked(config: ModelConfig) -> str:
    """The model's name in a request: as the server knows it; for a model inside the process what
    tells its file.
    """
    if config.endpoint != "embedded":
        return config.model
    return config.served_as or (
        f"{config.model}@{config.revision}" if config.revision else config.model
    )


def normalised(identity: str) -> str:
    """An address in one spelling, without credentials, query and closing slash; a model's name
    unchanged.

        >>> normalised("HTTP://user:secret@Host:80/v1/?key=secret")
        'http://host/v1'
        >>> normalised("vllm-fp16")
        'vllm-fp16'
    """
    if "://" not in identity:
        return identity
    parts = urlsplit(identity)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def sent_to(config: ModelConfig) -> str:
    """Where a model's calls go and with what, in words; a key is named by its variable, and is set
    or not.
    """
    where = (
        f"a server of the job's own ({config.serve.command})" if config.serve else address(config)
    )
    parts = [f"{config.endpoint}, model {config.model}", where or "in this process"]
    if config.api_key_env:
        parts.append(
            f"key from {config.api_key_env}"
            f" ({'set' if os.environ.get(config.api_key_env) else 'not set'})"
        )
    given = config.model_dump(include=_SENT, exclude_unset=True, exclude_none=True)
    return "; ".join([*parts, *(f"{key} {value}" for key, value in given.items())])


_SENT = {
    "temperature",
    "max_tokens",
    "context",
    "seed",
    "structured",
    "reasoning",
    "batch",
    "parameters",
}
