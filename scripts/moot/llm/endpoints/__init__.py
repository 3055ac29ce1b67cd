"""Endpoints: one module a kind of server, each turning a request into a reply or one of the known
failures.
"""

from collections.abc import Callable
from typing import Protocol

from moot.core.model_config import ModelConfig
from moot.core.registry import Registry
from moot.llm.request import Reply, Request


class Endpoint(Protocol):
    """A way to reach a model.

    Opened at the first call that the ledger cannot answer, once a job.
    """

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            TransientError, RateLimitedError: worth another attempt.
            CallFailedError: this request cannot be answered.
            RunStoppedError: no request can be answered (key, quota, unknown model).
        """
        ...

    async def close(self) -> None:
        """Let go of connections and memory."""
        ...


ENDPOINTS: Registry[Callable[[ModelConfig, int], Endpoint]] = Registry(
    "endpoint", "endpoint", "moot.llm.endpoints"
)
"""Endpoint kind to a function of the model's configuration and the job's threads."""
