"""The key `batch` of a model: calls in batches of its provider."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from moot.core.endpoint_traits import describe_endpoints, endpoint_traits
from moot.core.strict_model import StrictModel

DISCOUNT = 0.5
"""The share by which calls in batches are cheaper, at every provider that has them."""
HOURS_PER_WAVE = 24.0
"""The time within which a provider answers a batch."""


class BatchConfig(StrictModel):
    """Settings of a provider's batches, which are answered later and for less: docs/batch.md."""

    wait: bool = Field(
        True,
        description=(
            "wait for each batch; false: end with waiting debates and continue in a later run"
        ),
    )
    poll_seconds: float = Field(
        60.0, gt=0, description="seconds between two requests for a batch's status"
    )
    max_calls: int = Field(50_000, ge=1, description="maximum number of calls in one batch")
    max_concurrent: int = Field(
        8, ge=1, description="maximum number of the model's batches under way at once"
    )
    folder: str | None = Field(
        None,
        description=(
            "folder for the batches' files, which your own command answers (`vllm run-batch`);"
            " default: the provider answers"
        ),
    )


def _batch_or_none(value: object) -> object:
    """Read `true` as the default options, and `false` as none."""
    return ({} if value else None) if isinstance(value, bool) else value


OptionalBatch = Annotated[BatchConfig | None, BeforeValidator(_batch_or_none)]


def check_batch(batch: BatchConfig, endpoint: str, has_name: bool) -> None:
    """Require a model's entry to fit its batches.

    Args:
        batch: the options of the batches.
        endpoint: the model's kind of endpoint.
        has_name: whether the entry states who answers.

    Raises:
        ValueError: the endpoint has no batches, or another key contradicts them.
    """
    if not endpoint_traits(endpoint).has_batches:
        raise ValueError(
            f"`batch` goes with the endpoint {describe_endpoints('has_batches')}; this one is"
            f" '{endpoint}'"
        )
    if batch.folder and not has_name:
        raise ValueError("`batch.folder` needs `served_as`: a name for who answers the files")
