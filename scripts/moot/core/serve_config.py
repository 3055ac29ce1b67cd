"""The key `serve` of a model: a server that each job starts for itself."""

from pydantic import Field, model_validator

from moot.core.endpoint_traits import describe_endpoints, endpoint_traits
from moot.core.strict_model import StrictModel

PORT = "{port}"
"""The placeholder for the port in a server's command."""


class ServeConfig(StrictModel):
    """A server that each job starts and ends itself: docs/cluster.md."""

    command: str = Field(
        min_length=1,
        description=(
            "The shell command that serves the model; moot puts the port in place of `{port}`."
        ),
    )
    port: int = Field(
        0,
        ge=0,
        le=65_535,
        description="The server's port on 127.0.0.1; 0 takes a free one for `{port}`.",
    )
    health_path: str = Field(
        "/v1/models",
        pattern="^/",
        description="The path that answers once the model is loaded.",
    )
    timeout: float = Field(
        1800.0,
        gt=0,
        description=(
            "Seconds within which `health_path` must answer; raise it for a model that loads"
            " slowly."
        ),
    )
    gpus: int = Field(
        0,
        ge=0,
        description="Graphics processors that a job with this server requests (resource `gpu`).",
    )

    @model_validator(mode="after")
    def _command_names_the_port(self) -> "ServeConfig":
        if not self.port and PORT not in self.command:
            raise ValueError(
                "`command` must contain {port}, which moot replaces by a free port; or set `port`"
            )
        return self


def check_serve(endpoint: str, base_url: str | None, served_as: str | None) -> None:
    """Require a model's entry with `serve` to fit the server.

    Args:
        endpoint, base_url, served_as: keys of the entry.
    """
    if not endpoint_traits(endpoint).can_be_started:
        raise ValueError(
            f"`serve` goes with the endpoints {describe_endpoints('can_be_started')}; this one"
            f" is '{endpoint}'"
        )
    if base_url:
        raise ValueError("`serve` cannot be combined with `base_url`; remove one of them")
    if not served_as:
        raise ValueError(
            "`serve` needs `served_as`: a name for who answers, since the address changes with"
            " each job"
        )
