"""A rehearsal: the user's own configuration with simulated voices in place of all models, in a
folder of its own.
"""

from collections.abc import Callable, Iterable, Sequence

from moot.core.cases import Case, Task
from moot.core.config import Budget, Config
from moot.core.model_config import SIMULATED, ModelConfig
from moot.llm.endpoints import Endpoint
from moot.protocols.experiment import Experiment

LEDGER = "data/ledger"
CONCURRENCY = 64
OpenEndpoint = Callable[[ModelConfig, int], Endpoint]


def replace_models(config: Config) -> Config:
    """A configuration as it is rehearsed: every model simulated, no budget, no limits, one shard, a
    ledger of its own.

    Prices stay, so that the tables of costs say what the real run would cost. Shards are for
    slow models: a job of simulated voices is done in seconds, of which its start takes most.
    """
    models = {name: _simulated_model(model) for name, model in config.models.items()}
    updates = {"models": models, "budget": Budget(), "replay": False, "ledger": LEDGER, "shards": 1}
    return config.model_copy(update=updates)


def add_simulated_people(config: Config, experiments: Iterable[Experiment]) -> Config:
    """Return the configuration with a simulated voice for each person who sits in a debate."""
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
            "jobs": 1,
            "serve": None,
            "requests_per_minute": None,
            "tokens_per_minute": None,
            "structured": "native",
            "confidence_scale": 100,
            "reasoning": False,
            "parameters": {},
        }
    )


def simulated_endpoints(
    config: Config, cases: Sequence[Case] = (), task: Task | None = None
) -> OpenEndpoint | None:
    """How a job of a rehearsal opens its endpoints, with the truth of its cases;
    None outside of a rehearsal.
    """
    if not config.rehearsal:
        return None
    from moot.llm.endpoints.simulated import SimulatedEndpoint
    from moot.llm.simulated.beliefs import build_world

    world = build_world(config.seed, cases, task)
    return lambda model, _threads: SimulatedEndpoint(model, world)
