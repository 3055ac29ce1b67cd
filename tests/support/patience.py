"""The only limit on time that tests hold: who waits this long waits for something that never
comes.
"""

import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds. No machine is so busy that anything which a test waits for takes them."""


def wait_until(reached: Callable[[], object], what: str = "what this test waits for") -> None:
    """Return once `reached()` is true."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {PATIENCE:.0f} s")
        time.sleep(0.02)
