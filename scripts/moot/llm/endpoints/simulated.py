"""The stand-in for a model in a rehearsal, which no other run can ask."""

from moot.core.endpoint_traits import SIMULATED, EndpointTraits
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import Endpoint, register_endpoint


@register_endpoint(SIMULATED, EndpointTraits(is_simulated=True))
def refuse(config: ModelConfig, _threads: int) -> Endpoint:
    """Raise `UserError`, since only rehearsals have a stand-in for models."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'simulated': it answers only in a"
        " rehearsal, which has its own folder of results. Run `snakemake rehearse` with the same"
        " configuration."
    )
