"""How long moot waits before it asks a server again, and when it stops asking."""

import random
import time

from moot.core.errors import ServerFaultError, TransientError
from moot.core.model_config import WaitConfig

FIRST_BACKOFF_SECONDS = 0.5


def backoff_seconds(failures: int, max_seconds: float = WaitConfig().max_backoff) -> float:
    """Return how long to wait after this many failures in a row.

    The time doubles with each failure. It is random by a quarter, so that debates do not return
    together.
    """
    doublings = min(failures - 1, 60)
    seconds = min(FIRST_BACKOFF_SECONDS * 2.0**doublings, max_seconds)
    return min(seconds * random.uniform(0.75, 1.25), max_seconds)  # noqa: S311 - no secret


class Patience:
    """The waits of one call, until `waits.max_outage` seconds after its first fault.

    A reply that cannot be used is asked for `attempts` times, since each may be paid for. So is a
    server that never answered, at an address that may be wrong.

    Attributes:
        failures: the attempts that failed so far.
        failed_since: the time of the first failure, on the monotonic clock.
    """

    def __init__(self, waits: WaitConfig, attempts: int) -> None:
        self._waits, self._attempts = waits, attempts
        self.failures, self._unusable_replies = 0, 0
        self.failed_since = 0.0

    def pause_after(self, error: TransientError, *, is_bounded: bool = False) -> float | None:
        """Return how long to wait before the next attempt; None if there should be none.

        Args:
            error: of the last attempt.
            is_bounded: whether `attempts` also limits the faults of the server.
        """
        now = time.monotonic()
        if not self.failures:
            self.failed_since = now
        self.failures += 1
        is_fault = isinstance(error, ServerFaultError)
        self._unusable_replies += not is_fault or is_bounded
        if self._unusable_replies >= self._attempts:
            return None
        seconds_left = self.failed_since + self._waits.max_outage - now
        requested = error.retry_after if isinstance(error, ServerFaultError) else None
        if is_fault and (seconds_left <= 0 or (requested or 0.0) > seconds_left):
            return None
        if requested is not None:
            return requested
        pause = backoff_seconds(self.failures, self._waits.max_backoff)
        return min(pause, max(seconds_left, 0.0)) if is_fault else pause

    def describe(self, error: TransientError) -> str:
        """Return why there is no further attempt."""
        seconds = time.monotonic() - self.failed_since
        requested = error.retry_after if isinstance(error, ServerFaultError) else None
        if requested is not None and seconds + requested > self._waits.max_outage:
            return (
                f"the server asks to wait {requested:.0f} s; `waits.max_outage` is"
                f" {self._waits.max_outage:g} s: {error}"
            )
        return f"gave up after {self.failures} attempts in {seconds:.0f} s: {error}"
