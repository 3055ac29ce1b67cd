"""Calls in batches of a provider, which answers later and for less."""

from collections.abc import Awaitable, Callable

from moot.core.model_config import ModelConfig
from moot.llm.batches.batch_records import RESERVED_SECONDS
from moot.llm.batches.batches import Batches
from moot.llm.batches.waves import Call, Gatherer, ImmediateGatherer, Waves
from moot.llm.endpoints import Endpoint
from moot.llm.endpoints.sdk import SdkEndpoint
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.llm.request import Request

__all__ = ["Call", "Gatherer", "Waves", "open_gatherer", "reserved_seconds"]


def reserved_seconds(config: ModelConfig) -> float | None:
    """Return how long a call of a batch holds its part of the budget; None without batches."""
    return RESERVED_SECONDS if config.batch else None


async def open_gatherer(
    endpoint: Endpoint,
    name: str,
    config: ModelConfig,
    waves: Waves,
    progress: Progress,
    ledger: Ledger,
    keep: Callable[[Request, int], Awaitable[object]],
) -> Gatherer | None:
    """Return an object that gathers a model's calls into batches, after it resumed earlier batches.

    Args:
        endpoint: the model's endpoint.
        name: the model's name.
        config: its entry.
        waves: of the job.
        progress: of the job.
        ledger: keeps a record of each batch.
        keep: asks for a reply through the ledger.

    Returns:
        None for a model whose calls are made singly.
    """
    if not config.batch:
        return None
    if not isinstance(endpoint, SdkEndpoint):  # a simulated or recorded one
        return ImmediateGatherer(waves, progress, endpoint)
    batches = Batches(waves, progress, endpoint, name, config, ledger, keep)
    try:
        await batches.resume()
    except BaseException:
        await batches.close()
        raise
    return batches
