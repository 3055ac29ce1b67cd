"""How long to wait before another attempt."""

import random

_LONGEST = 60.0


def backoff(failures: int) -> float:
    """Seconds to wait after this many failures: doubling, with jitter so that debates do not return together."""
    return min(0.5 * 2.0 ** (failures - 1), _LONGEST) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
