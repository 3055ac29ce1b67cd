"""The only time limit of the tests; a test that waits so long fails."""

import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds. No event that a test waits for takes so long, not even on a busy machine."""


def wait_until(condition: Callable[[], object], description: str = "the condition") -> None:
    """Return once `condition()` is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{description} did not hold within {PATIENCE:.0f} s")
        time.sleep(0.02)
