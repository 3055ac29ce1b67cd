"""Settings of the HTTP clients inside the official packages: redirects, proxies, headers, sizes."""

import os
from collections.abc import Callable
from functools import cache
from ssl import SSLContext
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.model_values import split_address
from moot.core.types import Json, JsonObject
from moot.llm.endpoints.reply_size import (
    ACCEPTED_ENCODINGS,
    MAX_RESPONSE_BYTES,
    limit_response_size,
)
from moot.llm.redaction import redacted

HttpClient = TypeVar("HttpClient")
_MAX_FILE_BYTES = 2**30
"""Maximum size of a file of replies, some ten times that of a file of gathered calls."""
_IDLE_SECONDS = 15.0
"""How long an idle connection is kept open."""


def http_options(config: ModelConfig, make_stream: Callable[[bytes], Json]) -> JsonObject:
    """Return the options that all HTTP clients of moot have.

    No redirect is followed, so that prompts and keys reach the configured address only. Responses
    are read whole, up to a maximum size, before a package sees them.

    Args:
        config: the model's entry.
        make_stream: `ByteStream` of `httpx` or `httpx2`.
    """
    max_bytes = _MAX_FILE_BYTES if config.gathers_calls else MAX_RESPONSE_BYTES
    return {
        "timeout": config.timeout,
        "follow_redirects": False,
        "headers": {"Accept-Encoding": ACCEPTED_ENCODINGS},
        "event_hooks": {"response": [limit_response_size(max_bytes, make_stream)]},
    }


def open_http_client(
    make_client: Callable[..., HttpClient], config: ModelConfig, address: str
) -> HttpClient:
    """Return the HTTP client for a package's own client.

    Args:
        make_client: the package's `DefaultAioHttpClient`.
        config: the model's entry.
        address: the server's address.

    Raises:
        UserError: the environment names a proxy or a certificate that cannot be used.
    """
    import httpx2  # a replay must not load clients

    _check_proxy(address)
    limits = httpx2.Limits(
        max_connections=config.max_concurrent_calls, keepalive_expiry=_IDLE_SECONDS
    )
    try:
        context = _ssl_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    except OSError as error:
        raise UserError(
            f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names: {error}."
        ) from None
    options = http_options(config, httpx2.ByteStream)
    return make_client(**options, limits=limits, verify=context)


@cache
def _ssl_context(*_certificates: str | None) -> SSLContext:
    """Return the context that all clients share: to read the certificates takes 20 ms.

    Args:
        _certificates: the variables of the environment that `httpx2` reads.

    Raises:
        OSError: a file cannot be read.
    """
    import httpx2  # a replay must not load clients

    return httpx2.create_ssl_context()


def _check_proxy(address: str) -> None:
    """Raise `UserError` if the environment names a proxy for an address that cannot be used."""
    parts, proxies = urlsplit(address), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    is_exempt = proxy_bypass(parts.netloc) or proxy_bypass(str(parts.hostname))
    if not proxy or is_exempt:
        return
    try:
        proxy_parts, _ = split_address(proxy if "://" in proxy else f"http://{proxy}")
        is_usable = proxy_parts.hostname and proxy_parts.scheme in ("http", "https")
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UserError(
            f"the proxy of the environment for {address}: expected http://..., found"
            f" {redacted(proxy)}."
        )


def custom_header_names(variable: str) -> list[str]:
    """Return the names of the headers that an environment variable adds for a package's client.

    They may hold keys of another account (`OPENAI_CUSTOM_HEADERS`).
    """
    lines = os.environ.get(variable, "").splitlines()
    return [line.partition(":")[0].strip() for line in lines if ":" in line]
