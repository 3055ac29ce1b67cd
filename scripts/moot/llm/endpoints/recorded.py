"""A model or a person whose answers were recorded; no question can be asked."""

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import Endpoint, register_endpoint


@register_endpoint("recorded", EndpointTraits(is_recorded=True))
def refuse(config: ModelConfig, _threads: int) -> Endpoint:
    """Raise `UserError`, since only recorded debates can use such a model."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'recorded': its answers were recorded, and it"
        " cannot be asked. Use it only in experiments with `source: recorded`."
    )
