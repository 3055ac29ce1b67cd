"""Settings of the HTTP clients inside the official packages: redirects, proxies, headers, sizes."""

import os
from collections.abc import Callable
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.model_values import split_address
from moot.core.types import Json, JsonObject
from moot.llm.endpoints.response_bodies import (
    MAX_RESPONSE_BYTES,
    UNCOMPRESSED,
    limit_response_size,
)
from moot.llm.identity import server_address
from moot.llm.redaction import redacted

HttpClient = TypeVar("HttpClient")
_MAX_FILE_BYTES = 2**30
"""Maximum size of a file of replies, some ten times that of a file of gathered calls."""
_IDLE_SECONDS = 15.0
"""How long an idle connection is kept open."""


def http_options(config: ModelConfig, package: Json) -> JsonObject:
    """Return the options that all HTTP clients of moot have.

    No redirect is followed, so that prompts and keys reach the configured address only. Responses
    are read whole, up to a maximum size, before a client's package sees them.

    Args:
        config: the model's entry.
        package: `httpx` or `httpx2`.

    Raises:
        UserError: the environment names a proxy or certificates that cannot be used.
    """
    address = server_address(config) or ""
    _check_proxy(address)
    max_bytes = _MAX_FILE_BYTES if config.gathers_calls else MAX_RESPONSE_BYTES
    certificates = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        context = _ssl_context(package, *certificates)
    except OSError as error:
        raise UserError(
            f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names: {error}."
        ) from None
    return {
        "timeout": config.timeout,
        "follow_redirects": False,
        "headers": {"Accept-Encoding": UNCOMPRESSED},
        "event_hooks": {"response": [limit_response_size(max_bytes, package.ByteStream)]},
        "verify": context,
        "trust_env": not _is_loopback(address),  # no proxy sees prompts to this machine
    }


@cache
def _ssl_context(package: Json, *_certificates: str | None) -> SSLContext:
    """Return the context that a package's clients share: to read the certificates takes 20 ms.

    Args:
        package: `httpx` or `httpx2`.
        _certificates: the variables of the environment that the package reads.

    Raises:
        OSError: a file cannot be read.
    """
    context: SSLContext = package.create_ssl_context()
    return context


def open_http_client(make_client: Callable[..., HttpClient], config: ModelConfig) -> HttpClient:
    """Return the HTTP client for a package's own client.

    Args:
        make_client: the package's `DefaultAioHttpClient`.
        config: the model's entry.

    Raises:
        UserError: the environment names a proxy or certificates that cannot be used.
    """
    import httpx2  # a replay must not load clients

    limits = httpx2.Limits(
        max_connections=config.max_concurrent_calls, keepalive_expiry=_IDLE_SECONDS
    )
    return make_client(**http_options(config, httpx2), limits=limits)


def _is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        number = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return number.is_loopback or number.is_unspecified


def _check_proxy(address: str) -> None:
    """Raise `UserError` if the environment names a proxy for an address that cannot be used."""
    parts = urlsplit(address)
    if _is_loopback(address) or proxy_bypass(parts.netloc) or proxy_bypass(str(parts.hostname)):
        return
    for variable in (f"{parts.scheme}_proxy", "all_proxy"):
        for name in (variable, variable.upper()):
            if proxy := os.environ.get(name):
                _check_proxy_address(name, proxy, address)
                return


def _check_proxy_address(variable: str, proxy: str, address: str) -> None:
    try:
        parts, _ = split_address(proxy if "://" in proxy else f"http://{proxy}")
        is_usable = parts.hostname and parts.scheme in ("http", "https")
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UserError(
            f"the environment variable {variable}: expected http://..., found {redacted(proxy)}."
            f" Correct it, or write the host of {address} into NO_PROXY, which keeps its calls from"
            " the proxy."
        )


def custom_header_names(variable: str) -> list[str]:
    """Return the names of the headers that an environment variable adds for a package's client.

    They may hold keys of another account (`OPENAI_CUSTOM_HEADERS`).
    """
    lines = os.environ.get(variable, "").splitlines()
    return [line.partition(":")[0].strip() for line in lines if ":" in line]
