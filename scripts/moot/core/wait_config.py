"""The key `waits` of a model: how long moot waits before it asks a server again."""

from pydantic import Field

from moot.core.strict_model import StrictModel


class WaitConfig(StrictModel):
    """The maximum waits before a server is asked again.

    A server may name a wait (`Retry-After`).
    """

    max_backoff: float = Field(
        60.0, gt=0, description="Longest single wait in seconds if the server names none."
    )
    max_requested: float = Field(
        600.0, gt=0, description="Longest single wait in seconds if the server names one."
    )
    max_total: float = Field(
        3600.0,
        gt=0,
        description=(
            "Longest total of all waits of one call in seconds, after which the call fails. A"
            " server that asks for a longer wait at once ends the run."
        ),
    )
    max_outage: float = Field(
        300.0,
        gt=0,
        description=(
            "Time in seconds without a reply of the server after which the run ends, if at least 30"
            " attempts failed in it."
        ),
    )
