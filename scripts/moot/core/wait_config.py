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
    max_outage: float = Field(
        600.0,
        gt=0,
        description=(
            "Seconds for which a call waits for a server that is busy or out of order. If the"
            " server answers nothing else meanwhile, or asks for a longer wait, the run ends."
        ),
    )
