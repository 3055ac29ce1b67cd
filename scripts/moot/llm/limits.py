"""A model's limits: calls under way at once, requests and tokens a minute, and waits that the
server asked for.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from moot.core.model_config import ModelConfig

AHEAD_SECONDS = 1.0
"""How long before its turn a call takes its place: one that is killed while it waits leaves no
longer gap.
"""


@dataclass(slots=True)
class Pace:
    """When the next call may be sent: each request, and each token, moves the moment on by its part
    of a minute.

        Calls so spread break no window of the server's that is shorter than a minute. Times are in
        seconds of one clock.
    """

    requests_at: float = 0.0
    tokens_at: float = 0.0
    paused_until: float = 0.0

    def take(self, now: float, tokens: int, config: ModelConfig) -> tuple[bool, float]:
        """Whether a call takes the next place, and the seconds until its turn, or until it should
        ask again.
        """
        begin = max(now, self.requests_at, self.tokens_at, self.paused_until)
        if begin - now > AHEAD_SECONDS:
            return False, begin - now - AHEAD_SECONDS / 2
        if config.requests_per_minute is not None:
            self.requests_at = begin + 60 / config.requests_per_minute
        if config.tokens_per_minute is not None:
            self.tokens_at = begin + 60 * tokens / config.tokens_per_minute
        return True, begin - now


class Limits:
    """The limits of a model that one job speaks with at a time; batched calls have none."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._slots = asyncio.Semaphore(config.max_concurrent_calls)
        self._own = Pace()  # as far as this process knows
        self._paced = config.requests_per_minute is not None or config.tokens_per_minute is not None
        self._paused_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the calls that may be under way at once."""
        async with self._slots:
            yield

    async def turn(self, tokens: int) -> None:
        """Wait until a call of so many tokens may be sent."""
        taken = self._config.batch is not None
        while not taken:
            while (pause := self._paused_until - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            taken, seconds = await self._place(tokens) if self._paced else (True, 0.0)
            if seconds:
                await asyncio.sleep(seconds)
            taken = taken and time.monotonic() >= self._paused_until

    async def _place(self, tokens: int) -> tuple[bool, float]:
        return self._own.take(time.monotonic(), tokens, self._config)

    async def pause(self, seconds: float) -> None:
        """Hold back all calls for so long."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    async def close(self) -> None:
        """Nothing is shared."""
