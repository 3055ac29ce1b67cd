"""How long moot waits before it asks a server again, after a failure or at the server's request."""

import random

from moot.core.errors import RateLimitedError, RunStoppedError

FIRST_BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 60.0
"""Maximum of a wait that the server did not ask for."""
MAX_REQUESTED_SECONDS = 3600.0
"""Maximum of a wait that the server asks for; a longer one ends the run."""


def backoff_seconds(failures: int) -> float:
    """Return how long to wait after this many failures in a row.

    The time doubles with each failure. It is random by a quarter, so that debates do not return
    together.
    """
    seconds = min(FIRST_BACKOFF_SECONDS * 2.0 ** (failures - 1), MAX_BACKOFF_SECONDS)
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311 - no secret


def rate_limit_seconds(model: str, error: RateLimitedError, failures: int) -> float:
    """Return how long to wait after a rate limit: as the server asks, else as `backoff_seconds`.

    Raises:
        RunStoppedError: the server asks for a longer wait than the maximum.
    """
    if error.retry_after is None:
        return backoff_seconds(failures)
    if error.retry_after > MAX_REQUESTED_SECONDS:
        raise RunStoppedError(
            f"model '{model}': the server asks to wait {error.retry_after:.0f} s ({error}). Every"
            " reply is kept: run again later to go on."
        )
    return error.retry_after
