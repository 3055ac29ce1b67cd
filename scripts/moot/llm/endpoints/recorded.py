"""A voice of the past: a model, or a person, whose answers were recorded; it cannot be asked
anything.
"""

from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import ENDPOINTS, Endpoint


@ENDPOINTS.register("recorded")
def refuse(config: ModelConfig, _threads: int) -> Endpoint:
    """Raise `UserError`: a debate that asks needs a model that answers."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'recorded': its answers were recorded, and it"
        " cannot be asked. Use it in experiments with `source: recorded` alone."
    )
