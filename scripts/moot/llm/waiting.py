"""How long moot waits before it asks a server again, and when it stops asking."""

import random
import time
from dataclasses import dataclass

from moot.core.errors import RateLimitedError, RunStoppedError
from moot.core.wait_config import WaitConfig

FIRST_BACKOFF_SECONDS = 0.5
MIN_OUTAGE_FAILURES = 30
"""The failures, besides the seconds of `waits.max_outage`, after which an outage ends a run."""


def backoff_seconds(failures: int, max_seconds: float = WaitConfig().max_backoff) -> float:
    """Return how long to wait after this many failures in a row.

    The time doubles with each failure. It is random by a quarter, so that debates do not return
    together.
    """
    doublings = min(failures - 1, 60)
    seconds = min(FIRST_BACKOFF_SECONDS * 2.0**doublings, max_seconds)
    return min(seconds * random.uniform(0.75, 1.25), max_seconds)  # noqa: S311 - no secret


def rate_limit_seconds(
    model: str, error: RateLimitedError, failures: int, waits: WaitConfig
) -> float:
    """Return how long to wait after a rate limit: as the server asks, else as `backoff_seconds`.

    Raises:
        RunStoppedError: the server asks for more than all waits of a call may take.
    """
    if error.retry_after is None:
        return backoff_seconds(failures, waits.max_backoff)
    if error.retry_after > waits.max_total:
        raise RunStoppedError(
            f"model '{model}': the server asks to wait {error.retry_after:.0f} s ({error});"
            f" `waits.max_total` is {waits.max_total:g} s. Every reply is kept: run again later to"
            " go on."
        )
    return min(error.retry_after, waits.max_requested)


@dataclass(slots=True)
class Outage:
    """The failures at a server since its last success.

    Calls that fail together are one failure: one counts only if its attempt began after the last
    failure that counted. Times are of the monotonic clock.
    """

    failures: int = 0
    first_failed_at: float = 0.0
    last_failed_at: float = 0.0

    def add_success(self) -> None:
        """Forget the failures."""
        self.failures = 0

    def add_failure(self, started_at: float) -> bool:
        """Count the failure of an attempt; return whether it is a new one."""
        if self.failures and started_at < self.last_failed_at:
            return False
        self.last_failed_at = time.monotonic()
        if not self.failures:
            self.first_failed_at = self.last_failed_at
        self.failures += 1
        return True

    def check(self, model: str, error: Exception, max_seconds: float) -> None:
        """Raise `RunStoppedError` if the server has failed for longer than `max_seconds`."""
        seconds = self.last_failed_at - self.first_failed_at
        if self.failures >= MIN_OUTAGE_FAILURES and seconds >= max_seconds:
            raise RunStoppedError(
                f"model '{model}': the server has answered nothing else for {seconds:.0f} s"
                f" ({self.failures} failed attempts; `waits.max_outage`): {error}. Check the"
                " server, the account and its quota, then run again: every reply is kept."
            )
