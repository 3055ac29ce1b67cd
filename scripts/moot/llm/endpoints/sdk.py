"""The shared code of the endpoints over the packages `openai` and `anthropic`."""

import importlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, TypeVar

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import TransientError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints.connections import custom_header_names, open_http_client
from moot.llm.endpoints.faults import (
    describe_body,
    fault_in_success,
    fault_of_connection,
    fault_of_status,
    has_error,
    read_json,
)
from moot.llm.endpoints.streams import is_stream
from moot.llm.identity import client_address, server_address
from moot.llm.redaction import api_key, redacted
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import anthropic
    import openai

Result = TypeVar("Result")


class SdkEndpoint(ABC):
    """An endpoint that calls a server through a package's client, without its typed objects.

    `client.post` with `cast_to=httpx2.Response` is the packages' documented way to do so. It keeps
    their authentication, time-outs, proxies and TLS, and takes a third of the processor time. The
    package makes one attempt; `llm.client` repeats it.

    Attributes:
        stream_fields: the fields of a request for a stream.
        path: of a call, below the client's base address.
        models_path: of the list of models.
        reply_kind: the name of a reply, for messages.
        package_name: of the client's package.
        assemble: returns the response whose parts were streamed.
        read_usage: returns the token counts in the field `usage`.
        batch_path: of a call in a file of gathered calls, for endpoints with the trait
            `has_batches`.
        client: the package's client.
    """

    stream_fields: ClassVar[Fields]
    path: str
    models_path: str
    reply_kind: str
    package_name: str
    assemble: Callable[[bytes], JsonObject]
    read_usage: Callable[[Json], Usage]
    batch_path = ""

    def __init__(
        self, client: "openai.AsyncOpenAI | anthropic.AsyncAnthropic", config: ModelConfig
    ) -> None:
        import aiohttp  # a replay must not load clients
        import httpx2

        self.client: Json = client
        self._model = config.model
        self._is_streaming = config.stream
        self._response_type = httpx2.Response
        self._package = importlib.import_module(self.package_name)
        self._address = f"{str(client.base_url).rstrip('/')}{self.path}"
        self._connection_errors = (self._package.APIConnectionError, aiohttp.ClientError, OSError)

    @abstractmethod
    def body(self, request: Request) -> JsonObject:
        """Return the body of a request."""

    @abstractmethod
    def parse_reply(self, request: Request, response: Json, seconds: float) -> Reply:
        """Return the reply in a response, which may have any form.

        A `TypeError`, `KeyError` and the like, which an unexpected form raises, needs no handling:
        `read_reply` turns it into a `TransientError`.
        """

    @abstractmethod
    def check(self, request: Request) -> None:
        """Raise `LogprobsUnavailableError` for a request that no server can answer."""

    async def complete(self, request: Request) -> Reply:
        """Make one attempt."""
        self.check(request)
        started_at, body = time.perf_counter(), self.body(request)
        if self._is_streaming and not request.choices:
            body |= self.stream_fields
        call = self.client.post(self._address, body=body, cast_to=self._response_type)
        response = await self.call(call)
        content = self._read_content(response.content)
        return self.read_reply(request, content, time.perf_counter() - started_at)

    def _read_content(self, content: bytes) -> Json:
        """Return a decoded response; that of a stream is assembled."""
        if not self._is_streaming or not is_stream(content):
            return read_json(content)
        try:
            return self.assemble(content)
        except (TypeError, KeyError, AttributeError) as error:
            problem = redacted(f"{type(error).__name__}: {error}")
            raise TransientError(f"unreadable stream ({problem})") from None

    async def call(self, operation: Awaitable[Result]) -> Result:
        """Return the result of an operation of the client; its errors become moot's."""
        try:
            return await operation
        except self._package.APIStatusError as error:
            response = error.response
            raise fault_of_status(
                response.status_code, response.headers, response.content
            ) from None
        except self._connection_errors as error:
            raise fault_of_connection(error) from None

    def read_reply(self, request: Request, response: Json, seconds: float) -> Reply:
        """Return the reply in a decoded response.

        Raises:
            TransientError: the response holds no reply, or an empty one.
            MootError: the response is an error with status 200.
        """
        if has_error(response):
            raise fault_in_success(response)
        try:
            return self.parse_reply(request, response, seconds)
        except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
            found = describe_body(json.dumps(response).encode())
            problem = f"{type(error).__name__}: {redacted(error)}"
            raise TransientError(
                f"the response is no {self.reply_kind} ({problem}; does base_url speak the protocol"
                f" of this endpoint?): {found}",
                self._usage_in(response),
            ) from None

    def _usage_in(self, response: Json) -> Usage | None:
        """Return the token counts in a response of any form, None if it has none."""
        counts = response.get("usage") if isinstance(response, dict) else None
        try:
            return self.read_usage(counts) if counts else None
        except (TypeError, AttributeError, ValueError):
            return None

    async def list_models(self) -> list[JsonObject]:
        """Return the server's entries of its models, none if it does not list them.

        Raises:
            NotFoundError: the server has no path for calls either.
        """
        content = read_json(await self.call(self._get_models()))
        listing = content.get("data") or content.get("models") if isinstance(content, dict) else ()
        entries = listing if isinstance(listing, list) else []
        return [entry for entry in entries if isinstance(entry, dict)]

    async def _get_models(self) -> bytes:
        try:
            response = await self.client.get(self.models_path, cast_to=self._response_type)
        except self._package.NotFoundError:
            await self._check_path()
            return b"{}"
        content: bytes = response.content
        return content

    async def _check_path(self) -> None:
        """Make a call without any field, which costs nothing.

        A path that is not there answers 404; the path of calls refuses the call by another status.
        """
        try:
            await self.client.post(self._address, body={}, cast_to=self._response_type)
        except self._package.NotFoundError:
            raise
        except self._package.APIStatusError:
            return

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()


def is_account_server(config: ModelConfig, traits: EndpointTraits) -> bool:
    """Return whether a model's server may receive the account that the environment names.

    This is the server that the package calls by default. An entry with `base_url`, and a subclass
    with another default address, name a server of another account.

    Args:
        config: the model's entry.
        traits: of the endpoint of the package's own provider.
    """
    return not config.base_url and server_address(config) == client_address(traits)


def package_options(
    package: Json,
    config: ModelConfig,
    traits: EndpointTraits,
    headers_variable: str,
    headers: Fields,
) -> JsonObject:
    """Return the arguments that the clients of both packages share.

    Headers that the environment adds are sent only to the server of the account
    (`is_account_server`).

    Args:
        package: the package whose client is made.
        config: the model's entry.
        traits: of the endpoint of the package's own provider.
        headers_variable: the environment variable by which the package adds headers.
        headers: further headers.
    """
    is_other_account = not is_account_server(config, traits)
    names = custom_header_names(headers_variable) if is_other_account else []
    return {
        "api_key": key_or_placeholder(config),
        "timeout": config.timeout,
        "max_retries": 0,
        "default_headers": {**dict.fromkeys(names, package.omit), **headers},
        "http_client": open_http_client(package.DefaultAioHttpClient, config),
    }


def key_or_placeholder(config: ModelConfig) -> str:
    """Return the key of a model's server, or a word that keeps the package from requiring one."""
    return api_key(config) or "none"
