"""One model's client: it keeps to limits and budget, and repeats attempts that failed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from moot.core.config import Budget
from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    MootError,
    RateLimitedError,
    RunStoppedError,
    TransientError,
    UnreachableError,
    UserError,
)
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.usage import Usage
from moot.llm.batches import Call, Gatherer, Waves, open_gatherer, reserved_seconds
from moot.llm.endpoints import ENDPOINTS, Endpoint, OpenEndpoint
from moot.llm.identity import normalized_identity, server_address
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.reservations import Reservation
from moot.llm.limits import Limits
from moot.llm.progress import Progress
from moot.llm.redaction import clean_reply, read_key, remove_keys_from_error
from moot.llm.request import Reply, Request
from moot.llm.waiting import Outage, backoff_seconds, rate_limit_seconds

_BYTES_PER_TOKEN = 3.0
"""A cautious estimate for budgets and token limits, before the server has counted. It is in bytes,
since one Chinese character can be a token.
"""
_SHOW_EVERY_SECONDS = 5.0
"""The minimum time between two lines about waits on the terminal; the job's log has all of them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What all models of a job have in common.

    Attributes:
        replay: take every reply from the ledger.
        budget: hard limits.
        threads: for a model inside the process.
        open_endpoint: replaces the configured endpoints (a preview makes no call).
    """

    replay: bool = False
    budget: Budget = field(default_factory=Budget)
    threads: int = 1
    open_endpoint: OpenEndpoint | None = None


@dataclass(slots=True)
class _FailedAttempts:
    """The attempts at one call that failed so far, and what they cost.

    `started_at` is the time of the current attempt, on the monotonic clock.
    """

    failures: int = 0
    rate_limits: int = 0
    waited_seconds: float = 0.0
    started_at: float = 0.0
    tokens: int = 0
    usd: float = 0.0


class Client:
    """One model's endpoint, opened at the first call.

    Args:
        keep: asks for a reply through the ledger, for gathered calls whose replies no debate of
            this job waits for.

    Attributes:
        at_server: ids of the calls whose replies may come any moment.
        stopped: the error after which no further attempt is made.
        closing: whether no further attempt is made, since the job ends.
    """

    def __init__(
        self,
        name: str,
        config: ModelConfig,
        ledger: Ledger,
        settings: Settings,
        progress: Progress,
        waves: Waves,
        keep: Callable[[Request, int], Awaitable[object]],
    ) -> None:
        self._name, self._config, self._ledger, self._settings = name, config, ledger, settings
        self._progress, self._waves, self._keep = progress, waves, keep
        self.at_server: set[str] = set()
        self.stopped: Exception | None = None
        self.closing = False
        self._no_logprobs: LogprobsUnavailableError | None = None
        self._answered = False
        self._outage = Outage()
        self._shown_at = -_SHOW_EVERY_SECONDS
        self._opening = asyncio.Lock()
        self._endpoint: Endpoint | None = None
        self._gatherer: Gatherer | None = None
        self._budget = {name: limit for name, limit in settings.budget if limit is not None}
        self._limits = Limits(config)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the concurrent calls; an error that ends the run ends all other calls."""
        async with self._limits.slot():
            try:
                yield
            except LogprobsUnavailableError:  # the protocol may have another way
                raise
            except (RunStoppedError, UserError) as error:
                self.stopped = self.stopped or error
                raise

    async def complete(self, call: Call) -> Reply:
        """Return the model's reply within budget and limits, repeating attempts that failed.

        Within a `slot`.
        """
        prompt_tokens = int(call.request.prompt_bytes / _BYTES_PER_TOKEN)
        reply_tokens = int(call.request.parameters.get("max_tokens", self._config.max_tokens))
        max_tokens = prompt_tokens + reply_tokens
        max_usd = self._config.cost(prompt_tokens, reply_tokens)
        failed = _FailedAttempts()
        is_reserved = not self._budget
        endpoint = await self._open()
        while True:
            await self._limits.turn(max_tokens)
            if not is_reserved:  # after the wait for a turn, so that the reservation does not lapse
                await self._reserve(call, max_tokens, max_usd)
                is_reserved = True
            failed.started_at = time.monotonic()
            try:
                reply = await self._attempt(endpoint, call)
            except RateLimitedError as error:
                failed.rate_limits += 1
                await self._wait_as_asked(error, failed)
            except CallFailedError as error:
                await self._pay(call, error.usage)
                raise
            except TransientError as error:
                failed.failures += 1
                if error.usage is not None:
                    failed.tokens += error.usage.tokens
                    failed.usd += await self._pay(call, error.usage)
                    is_reserved = not self._budget
                if failed.failures >= self._config.attempts:
                    self._check_reachable(error)
                    message = f"gave up after {failed.failures} attempts: {error}"
                    raise CallFailedError(message) from None
                await self._back_off(error, failed)
            else:
                self._answered = True
                self._outage.add_success()
                return self._priced(reply, failed)

    def _priced(self, reply: Reply, failed: _FailedAttempts) -> Reply:
        """Return the reply with its cost, that of failed attempts included."""
        usd = self._config.cost(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return replace(
            reply,
            attempts=1 + failed.failures + failed.rate_limits,
            cost_usd=usd + failed.usd,
            unusable_tokens=failed.tokens,
            unusable_usd=failed.usd,
            price=self._config.price_used,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    async def _attempt(self, endpoint: Endpoint, call: Call) -> Reply:
        """Make one attempt, which ends after `timeout` seconds even if a reply trickles in."""
        if self.closing:
            raise asyncio.CancelledError
        if self.stopped is not None:
            raise self.stopped
        if self._no_logprobs is not None and call.request.choices:
            raise self._no_logprobs
        started_at = datetime.now(UTC)
        try:
            if self._gatherer is not None:
                reply = await self._gatherer.answer(call)
            else:
                self.at_server.add(call.call_id)
                async with asyncio.timeout(self._config.timeout):
                    reply = await endpoint.complete(call.request)
        except TimeoutError:
            self.at_server.discard(call.call_id)
            raise TransientError(f"no whole reply within {self._config.timeout:g} s") from None
        except Exception as error:
            self.at_server.discard(call.call_id)
            if isinstance(error, LogprobsUnavailableError):
                self._no_logprobs = error
            if isinstance(error, MootError):
                remove_keys_from_error(error)
            raise
        return clean_reply(reply, started_at)

    async def _open(self) -> Endpoint:
        """Return the endpoint, opened at the first call, together with its server if it has one."""
        async with self._opening:
            if self.stopped is not None:
                raise self.stopped
            if self._endpoint is None:
                self._endpoint = await self._open_endpoint()
            return self._endpoint

    async def _open_endpoint(self) -> Endpoint:
        read_key(self._config)
        config, open_endpoint = self._config, self._settings.open_endpoint
        if open_endpoint is None:
            open_endpoint = ENDPOINTS[config.endpoint]
        endpoint = await asyncio.to_thread(open_endpoint, config, self._settings.threads)
        try:
            self._gatherer = await open_gatherer(
                endpoint,
                self._name,
                self._config,
                self._waves,
                self._progress,
                self._ledger,
                self._keep,
            )
        except BaseException:
            await endpoint.close()
            raise
        return endpoint

    async def _reserve(self, call: Call, tokens: int, usd: float) -> None:
        seconds = reserved_seconds(self._config) or self._config.timeout * self._config.attempts
        await self._ledger.reserve(Reservation(call.call_id, tokens, usd, seconds, self._budget))

    async def _pay(self, call: Call, usage: Usage | None) -> float:
        """Record the tokens of an attempt without a usable reply; return its cost in US dollars."""
        if usage is None:
            return 0.0
        usd = self._config.cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
        await self._ledger.put_attempt(call.call_id, usage.tokens, usd)
        self._progress.tokens += usage.tokens
        self._progress.cost_usd += usd
        return usd

    def _check_reachable(self, error: TransientError) -> None:
        """Raise `RunStoppedError` if no call was ever answered: the address may be wrong."""
        if isinstance(error, UnreachableError) and not self._answered:
            place = normalized_identity(server_address(self._config) or "")
            raise RunStoppedError(
                f"model '{self._name}': no server answers at {place} ({error}). Start "
                "the server, or correct `base_url`, and run again."
            )

    async def _wait_as_asked(self, error: RateLimitedError, failed: _FailedAttempts) -> None:
        """Wait after a rate limit; the server's own wait holds back all calls."""
        seconds = rate_limit_seconds(self._name, error, failed.rate_limits, self._config.waits)
        is_requested = error.retry_after is not None
        reason = " as the server asks" if is_requested else ""
        self._show_wait(f"rate limit; waiting {seconds:.1f} s{reason} ({error})")
        if is_requested:
            self._limits.pause(seconds)
        await self._wait(error, failed, seconds)

    async def _back_off(self, error: TransientError, failed: _FailedAttempts) -> None:
        """Wait after an error that another attempt may not meet."""
        seconds = 0.0
        if self._gatherer is None:  # the next wave is a pause
            seconds = backoff_seconds(failed.failures, self._config.waits.max_backoff)
        self._show_wait(f"{error}; attempt {failed.failures + 1} in {seconds:.1f} s")
        await self._wait(error, failed, seconds)

    async def _wait(self, error: MootError, failed: _FailedAttempts, seconds: float) -> None:
        """Wait, unless the server has failed for too long.

        Raises:
            RunStoppedError: it has answered no call for too long.
            CallFailedError: all waits of this call would take too long.
        """
        is_outage = self._gatherer is None and getattr(error, "usage", None) is None
        if is_outage and self._outage.add_failure(failed.started_at):
            self._outage.check(self._name, error, self._config.waits.max_outage)
        failed.waited_seconds += seconds
        if failed.waited_seconds > self._config.waits.max_total:
            raise CallFailedError(
                f"gave up after waits of {failed.waited_seconds - seconds:.0f} s in all"
                f" (`waits.max_total`): {error}"
            )
        self._progress.retries += 1
        await asyncio.sleep(seconds)

    def _show_wait(self, message: str) -> None:
        """Log a wait; the terminal shows one every few seconds."""
        is_shown = time.monotonic() - self._shown_at >= _SHOW_EVERY_SECONDS
        if is_shown:
            self._shown_at = time.monotonic()
        LOG.info("model '%s': %s", self._name, message, extra={"progress": is_shown})

    async def close(self) -> None:
        """Close gatherer and endpoint."""
        for resource in (self._gatherer, self._endpoint):
            if resource is not None:
                await resource.close()
