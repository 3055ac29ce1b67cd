"""Endpoints: one module for each kind of server, which turns a request into a reply or an error.

An endpoint registers its class and its traits together, so that a new one is a new file here. For a
provider that speaks OpenAI's protocol but takes no seed, that file is a subclass; without such a
difference, the class holds its docstring alone, whose first paragraph is its row in the reference:

    TRAITS = EndpointTraits(
        address_variable="EXAMPLE_BASE_URL",
        default_address="https://api.example.com/v1",
        key_variable="EXAMPLE_API_KEY",
        starter_keys={},  # `init` offers it, and writes no further keys
    )

    @register_endpoint("example", TRAITS)
    class ExampleEndpoint(OpenAIEndpoint):
        def body(self, request: Request) -> JsonObject:
            return {name: value for name, value in super().body(request).items() if name != "seed"}

Requests are changed in `body`, replies in `parse_reply`. The class reads address and key by the
traits; a trait that is not stated is off: `has_streams=True` lets an entry set `stream`. OpenAI's
organisation, project and headers in the environment are not sent to another address. An entry then
names only `endpoint: example` and its `model`.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

from moot.core.endpoint_traits import TRAITS, EndpointTraits
from moot.core.model_config import ModelConfig
from moot.core.registry import Registry
from moot.core.types import JsonObject
from moot.llm.request import Reply, Request


class Endpoint(Protocol):
    """A way to reach a model, opened once a job at the first call that the ledger cannot answer."""

    async def complete(self, request: Request) -> Reply:
        """Return the reply to a request.

        Raises:
            ServerFaultError: the server is waited for.
            TransientError: worth another attempt.
            CallFailedError, ContentFilteredError: this request cannot be answered.
            RunStoppedError: no request can be answered (key, quota).
        """
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...


@runtime_checkable
class ModelLister(Protocol):
    """An endpoint whose server lists its models without cost."""

    async def list_models(self) -> list[JsonObject]:
        """Return the server's models, each an object with an `id` or a `name`."""
        ...


OpenEndpoint = Callable[[ModelConfig, int], Endpoint]
"""Opens an endpoint for a model's entry and a number of threads."""
Opener = TypeVar("Opener", bound=OpenEndpoint)

ENDPOINTS: Registry[OpenEndpoint] = Registry("endpoint", "endpoint", "moot.llm.endpoints")
"""Kind of endpoint to what opens it."""


async def list_models(config: ModelConfig) -> list[JsonObject] | None:
    """Return the models that the server of a model's entry lists; None if its endpoint cannot."""
    endpoint = ENDPOINTS[config.endpoint](config, 1)
    try:
        return await endpoint.list_models() if isinstance(endpoint, ModelLister) else None
    finally:
        await endpoint.close()


def register_endpoint(name: str, traits: EndpointTraits) -> Callable[[Opener], Opener]:
    """Register an endpoint under a name, with its traits."""

    def register(opener: Opener) -> Opener:
        TRAITS.register(name)(traits)
        ENDPOINTS.register(name)(opener)
        return opener

    return register
