"""Endpoints that send no request: recorded models, and the models of a rehearsal."""

from moot.core.endpoint_traits import SIMULATED, EndpointTraits
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import Endpoint, register_endpoint


@register_endpoint("recorded", EndpointTraits(is_recorded=True))
def refuse_recorded(config: ModelConfig, _threads: int) -> Endpoint:
    """A model or a person whose answers were recorded; no question can be asked."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'recorded': its answers were recorded, and it"
        " cannot be asked. Use it only in experiments with `source: recorded`."
    )


@register_endpoint(SIMULATED, EndpointTraits(is_simulated=True))
def refuse_simulated(config: ModelConfig, _threads: int) -> Endpoint:
    """The stand-in for a model in a rehearsal, which no other run can ask."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'simulated': it answers only in a"
        " rehearsal, which has its own folder of results. Run `snakemake rehearse` with the same"
        " configuration."
    )
