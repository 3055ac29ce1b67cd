"""A model's limits: concurrent calls, requests and tokens a minute, and the server's pauses."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from moot.core.model_config import ModelConfig

AHEAD_SECONDS = 1.0
"""How long before its turn a call takes its place. A call that is killed leaves no longer gap."""


@dataclass(slots=True)
class Pace:
    """When the next call may be sent: each request, and each token, takes its part of a minute.

    Calls spread in this way also keep to limits over less than a minute. Times are in seconds of
    one clock.
    """

    requests_at: float = 0.0
    tokens_at: float = 0.0

    def take(self, clock: float, tokens: int, config: ModelConfig) -> tuple[bool, float]:
        """Take the next place for a call of so many tokens, unless it is too far ahead.

        Returns:
            Whether the call has a place, and the seconds until its turn or until it asks again.
        """
        start = max(clock, self.requests_at, self.tokens_at)
        if start - clock > AHEAD_SECONDS:
            return False, start - clock - AHEAD_SECONDS / 2
        if config.requests_per_minute is not None:
            self.requests_at = start + 60 / config.requests_per_minute
        if config.tokens_per_minute is not None:
            self.tokens_at = start + 60 * tokens / config.tokens_per_minute
        return True, start - clock


class Limits:
    """The limits of a model in one job; batched calls have none."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._slots = asyncio.Semaphore(config.max_concurrent_calls)
        self._pace = Pace()
        self._has_rates = (
            config.requests_per_minute is not None or config.tokens_per_minute is not None
        )
        self._paused_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the concurrent calls."""
        async with self._slots:
            yield

    async def turn(self, tokens: int) -> None:
        """Wait until a call of so many tokens may be sent."""
        has_place = self._config.gathers_calls
        while not has_place:
            while (pause := self._paused_until - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            has_place, seconds = True, 0.0
            if self._has_rates:
                has_place, seconds = self._pace.take(time.monotonic(), tokens, self._config)
            if seconds:
                await asyncio.sleep(seconds)
            has_place = has_place and time.monotonic() >= self._paused_until

    def pause(self, seconds: float) -> None:
        """Hold back all calls for some seconds."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)
