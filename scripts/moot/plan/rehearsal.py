"""A rehearsal: the user's configuration with the stand-in instead of all models."""

from collections.abc import Callable, Iterable

from moot.core.config import Budget, Config
from moot.core.endpoint_traits import SIMULATED
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import Endpoint
from moot.protocols.experiment import Experiment

LEDGER = "data/ledger"
CONCURRENCY = 64
OpenEndpoint = Callable[[ModelConfig, int], Endpoint]


def replace_models(config: Config) -> Config:
    """Return the configuration of a rehearsal, in which the stand-in replaces models.

    It has no budget, no limits, one shard and a separate ledger. Prices stay, so that the tables of
    costs state the cost of the real run. Shards are for slow models; a job of a rehearsal takes
    only seconds, mostly for its start.
    """
    models = {name: _simulated_model(model) for name, model in config.models.items()}
    updates = {"models": models, "budget": Budget(), "replay": False, "ledger": LEDGER, "shards": 1}
    return config.model_copy(update=updates)


def add_simulated_people(config: Config, experiments: Iterable[Experiment]) -> Config:
    """Return the configuration with a stand-in for each person who sits in a debate."""
    voices: dict[str, ModelConfig] = {}
    for experiment in experiments:
        for person in experiment.people:
            voices[person] = _simulated_model(ModelConfig(model=person))
    return config.model_copy(update={"models": {**config.models, **voices}})


def _simulated_model(model: ModelConfig) -> ModelConfig:
    return model.model_copy(
        update={
            "endpoint": SIMULATED,
            "base_url": None,
            "served_as": None,
            "api_key_env": None,
            "concurrency": CONCURRENCY,
            "requests_per_minute": None,
            "tokens_per_minute": None,
            "structured": "native",
            "confidence_scale": 100,
            "reasoning": False,
            "parameters": {},
        }
    )


def stand_in_endpoints(config: Config) -> OpenEndpoint | None:
    """Return a function that opens endpoints for a job of a rehearsal; None outside of one."""
    if not config.rehearsal:
        return None
    from moot.llm.stand_in import StandIn

    return lambda _model, _threads: StandIn(config.seed)
