"""The traits of each kind of endpoint, registered next to its class, for the rest of moot."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moot.core.registry import Registry
from moot.core.types import Json

SIMULATED = "simulated"
"""The endpoint of the stand-in that replaces models in a rehearsal."""
REHEARSAL_MARK = "SIMULATED"
"""Marks each result of a rehearsal."""


@dataclass(frozen=True, slots=True)
class EndpointTraits:
    """The traits of a kind of endpoint. The defaults describe a server at an unknown address.

    Attributes:
        address_variable: the environment variable that holds the address of entries without
            `base_url`.
        default_address: the address of entries without `base_url` if that variable is not set.
        key_variable: the environment variable that holds the key for the default address, unless
            the model's entry names another in `api_key_env`.
        example_address: an address for error messages.
        default_port: completes an address without a scheme; None if a scheme is required.
        is_protocol: whether many providers speak this protocol, so that `served_as` or the address
            names who answers. An endpoint of a single provider leaves it False: its own name does.
        has_batches: whether calls can be sent together, answered later and at a discount.
        has_streams: whether replies can be streamed.
        in_process: whether the model runs in the job's process and takes its threads.
        is_simulated: whether replies are simulated.
        is_recorded: whether replies were recorded, so that no question can be asked.
        request_keys: keys of a model's entry that are part of each request.
        speeds: tokens that a model generates in a second, by its name at the endpoint, for
            estimates before it gave a reply; the time in which it reads prompts is included.
        setup_commands: the commands that start a server of one's own and give it a model, with
            `{model}` in place of its name; empty for endpoints without such commands.
        starter_keys: further keys of the entry that `init` writes, for example `price: auto` if the
            shipped price list has the provider; None if `init` does not offer the endpoint.
    """

    address_variable: str = ""
    default_address: str | None = None
    key_variable: str = ""
    example_address: str = "http://localhost:8000/v1"
    default_port: int | None = None
    is_protocol: bool = False
    has_batches: bool = False
    has_streams: bool = False
    in_process: bool = False
    is_simulated: bool = False
    is_recorded: bool = False
    request_keys: tuple[str, ...] = ()
    speeds: Mapping[str, float] = field(default_factory=dict, hash=False)
    setup_commands: tuple[str, ...] = ()
    starter_keys: Mapping[str, Json] | None = field(default=None, hash=False)

    @property
    def has_server(self) -> bool:
        """Whether calls go to a server, which other processes may call as well."""
        return not (self.in_process or self.is_simulated or self.is_recorded)


TRAITS: Registry[EndpointTraits] = Registry("endpoint", "endpoint", "moot.llm.endpoints")
"""Traits by kind of endpoint. The user's own modules need not register any."""


def endpoint_traits(endpoint: str) -> EndpointTraits:
    """Return the traits of a kind of endpoint, or the defaults if it registers none."""
    return TRAITS[endpoint] if endpoint in TRAITS else EndpointTraits()


def endpoints_with(trait: str) -> list[str]:
    """Return the names of the endpoints for which a trait is true."""
    return [name for name in TRAITS if getattr(TRAITS[name], trait)]


def describe_endpoints(trait: str) -> str:
    """Return the names of the endpoints for which a trait is true, for messages."""
    return " and ".join(f"'{name}'" for name in endpoints_with(trait))
