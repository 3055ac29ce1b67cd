"""The declared identity of a model's server: part of a call's key in the ledger."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from moot.core.endpoint_traits import EndpointTraits, endpoint_traits
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.model_values import address_problem

_DEFAULT_PORTS = {"http": 80, "https": 443}


def server_address(config: ModelConfig, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the address of a model's server: `base_url`, else that of the endpoint's own client.

    None for a model without a server.
    """
    traits = endpoint_traits(config.endpoint)
    address = config.base_url or client_address(traits, environment)
    if address and traits.default_port and "://" not in address:
        has_port = urlsplit(f"//{address}").port
        address = f"http://{address}" if has_port else f"http://{address}:{traits.default_port}"
    return address


def client_address(
    traits: EndpointTraits, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Return the address that an endpoint's own client calls; None without a server.

    It is that of the client's environment variable, else its default.
    """
    return environment.get(traits.address_variable, "").strip() or traits.default_address


def key_variable(config: ModelConfig) -> str:
    """Return the environment variable that holds the key of a model's server; "" for none.

    This is `api_key_env`, else the endpoint's own variable for its default address. Another address
    never receives that key unasked.
    """
    traits = endpoint_traits(config.endpoint)
    variable = os.environ.get(traits.address_variable, "").strip()
    has_default_address = not (config.base_url or variable)
    return config.api_key_env or (traits.key_variable if has_default_address else "")


def provider(config: ModelConfig, environment: Mapping[str, str] = os.environ) -> str:
    """Return who answers, on any machine: the address of a service, or the name of the endpoint.

    `served_as` and `base_url` count only for endpoints with the trait `is_protocol` (`openai`,
    `anthropic`). An endpoint of a single provider does not set the trait: its name says who
    answers, at any address.
    """
    if not endpoint_traits(config.endpoint).is_protocol:
        return config.endpoint
    return normalized_identity(config.served_as or server_address(config, environment) or "")


def check_environment(config: ModelConfig) -> None:
    """Raise `UserError` if the environment names an address for a model that cannot be called."""
    variable = endpoint_traits(config.endpoint).address_variable
    if config.base_url:
        return
    address = os.environ.get(variable, "").strip()
    if address and (problem := address_problem(address, config.endpoint)):
        raise UserError(
            f"the environment variable {variable}: {problem}. Correct it, or write `base_url` here."
        )


def served_as(config: ModelConfig) -> str:
    """Return the identity of a model's server: `served_as`, else its address.

    "" for a model inside the process, which `model_asked` identifies by its file.
    """
    if endpoint_traits(config.endpoint).in_process:
        return ""
    return normalized_identity(config.served_as or server_address(config) or "")


def model_asked(config: ModelConfig) -> str:
    """Return the model's name in a request: as its server knows it.

    For a model inside the process it is what identifies the model's file.
    """
    if not endpoint_traits(config.endpoint).in_process:
        return config.model
    revision = f"@{config.revision}" if config.revision else ""
    return config.served_as or f"{config.model}{revision}"


def is_other_model(asked: str, served: str) -> bool:
    """Return whether a server states another model than the one that it was asked for.

    A version of the model, and a gateway's prefix, do not make it another one.

    >>> is_other_model("openai/gpt-4o", "gpt-4o-2024-08-06"), is_other_model("gpt-4o", "gpt-4.1")
    (False, True)
    """
    return bool(served) and asked.rpartition("/")[2].casefold() not in served.casefold()


def normalized_identity(identity: str) -> str:
    """Return an address in one spelling, without credentials, query and closing slash.

    A name is returned unchanged.

    >>> normalized_identity("HTTP://user:secret@Host:80/v1/?key=secret")
    'http://host/v1'
    >>> normalized_identity("vllm-fp16")
    'vllm-fp16'
    """
    if "://" not in identity:
        return identity
    parts = urlsplit(identity)
    hostname = parts.hostname or ""
    host = f"[{hostname}]" if ":" in hostname else hostname
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def describe_destination(config: ModelConfig) -> str:
    """Describe the destination of a model's calls, and the variable of its key, set or not."""
    place = server_address(config) or "in this process"
    parts = [f"{config.endpoint}, model {config.model}", place]
    if variable := key_variable(config):
        state = "set" if os.environ.get(variable) else "not set"
        parts.append(f"key from {variable} ({state})")
    return "; ".join(parts)
