"""Asks one model: within its limits and the budget, again where an attempt failed, at the endpoint
or in a batch.
"""

import asyncio
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
from moot.llm.batches.batches import Batches
from moot.llm.batches.records import RESERVED_SECONDS
from moot.llm.batches.waves import AnsweredAtOnce, Call, Gatherer, Waves
from moot.llm.endpoints import ENDPOINTS, Endpoint
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.identity import address, normalised
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.reservations import Reservation
from moot.llm.limits import Limits, backoff
from moot.llm.model_server import ModelServer, serve
from moot.llm.progress import Progress
from moot.llm.redaction import clear_of_keys, read_key, received
from moot.llm.request import Reply, Request
from moot.llm.shared_limits import SharedLimits

_BYTES_A_TOKEN = 3.0
"""A cautious estimate for budgets and token limits, before the server has counted; of bytes, since
one Chinese character can be a token."""
_LONGEST_RATE_LIMIT_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What a job says to all its models.

    Attributes:
        replay: take every reply from the ledger.
        budget: hard limits.
        threads: for an embedded model.
        open_endpoint: replaces the configured endpoints (a preview makes no call).
    """

    replay: bool = False
    budget: Budget = field(default_factory=Budget)
    threads: int = 1
    open_endpoint: Callable[[ModelConfig, int], Endpoint] | None = None


class Client:
    """One model's endpoint, opened at the first call.

    Args:
        keep: asks for a reply through the ledger; for replies of batches that no debate of this job
            waits for.

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
        self._opening = asyncio.Lock()
        self._endpoint: Endpoint | None = None
        self._server: ModelServer | None = None
        self._gatherer: Gatherer | None = None
        self._budget = {name: limit for name, limit in settings.budget if limit is not None}
        shared = config.shares_limits and settings.open_endpoint is None and not ledger.read_only
        self._limits = SharedLimits(ledger.processes, name, config) if shared else Limits(config)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the calls that may be under way at once; an error that ends the run ends all
        other calls.
        """
        async with self._limits.slot():
            try:
                yield
            except LogprobsUnavailableError:  # the protocol decides what that means
                raise
            except (RunStoppedError, UserError) as error:
                self.stopped = self.stopped or error
                raise

    async def complete(self, call: Call) -> Reply:
        """The model's reply within budget and limits, attempted again where that may help.

        Within a `slot`.
        """
        prompt_tokens = int(call.request.prompt_bytes / _BYTES_A_TOKEN)
        reply_tokens = int(call.request.parameters.get("max_tokens", 0))
        most_usd = self._config.cost(prompt_tokens, reply_tokens)
        failures = waits = unusable_tokens = 0
        unusable_usd = 0.0
        reserved = not self._budget
        endpoint = await self._open()
        while True:
            await self._limits.turn(prompt_tokens + reply_tokens)
            if (
                not reserved
            ):  # after the wait for a turn: what is set aside is asked at once, so that none lapses
                await self._reserve(call, prompt_tokens + reply_tokens, most_usd)
                reserved = True
            try:
                reply = await self._attempt(endpoint, call)
            except RateLimitedError as error:
                waits += 1
                await self._wait_as_asked(error, waits)
            except CallFailedError as error:
                await self._pay(call, error.usage)
                raise
            except TransientError as error:
                failures += 1
                if self._server is not None:
                    self._server.check()
                if error.usage is not None:
                    unusable_tokens += error.usage.tokens
                    unusable_usd += await self._pay(call, error.usage)
                    reserved = not self._budget
                if failures >= self._config.attempts:
                    self._check_reachable(error)
                    raise CallFailedError(f"gave up after {failures} attempts: {error}") from None
                await self._back_off(error, failures)
            else:
                self._answered = True
                cost = self._config.cost(
                    reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens
                )
                return replace(
                    reply,
                    attempts=1 + failures + waits,
                    cost_usd=cost + unusable_usd,
                    unusable_tokens=unusable_tokens,
                    unusable_usd=unusable_usd,
                    price=self._config.price_used,
                    created_at=datetime.now(UTC).isoformat(timespec="seconds"),
                )

    async def _attempt(self, endpoint: Endpoint, call: Call) -> Reply:
        """One attempt; a reply that trickles in is given up after `timeout` seconds like one that
        never comes.
        """
        if self.closing:
            raise asyncio.CancelledError
        if self.stopped is not None:
            raise self.stopped
        if self._no_logprobs is not None and call.request.choices:
            raise self._no_logprobs
        started = datetime.now(UTC)
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
                clear_of_keys(error)
            raise
        return received(reply, started)

    async def _open(self) -> Endpoint:
        async with self._opening:
            if self.stopped is not None:
                raise self.stopped
            if self._endpoint is None:
                read_key(self._config)
                make, config = (
                    self._settings.open_endpoint or ENDPOINTS[self._config.endpoint],
                    self._config,
                )
                if config.serve and not self._settings.open_endpoint:
                    self._server, config = await serve(self._name, config, config.serve)
                endpoint = await asyncio.to_thread(make, config, self._settings.threads)
                if config.batch and isinstance(endpoint, OpenAIEndpoint):
                    batches = Batches(
                        self._waves,
                        self._progress,
                        endpoint,
                        self._name,
                        self._config,
                        self._ledger,
                        self._keep,
                    )
                    try:
                        await batches.resume()
                    except BaseException:
                        await batches.close()
                        await endpoint.close()
                        raise
                    self._gatherer = batches
                elif config.batch:
                    self._gatherer = AnsweredAtOnce(self._waves, self._progress, endpoint)
                self._endpoint = endpoint
            return self._endpoint

    async def _reserve(self, call: Call, tokens: int, usd: float) -> None:
        seconds = (
            RESERVED_SECONDS if self._config.batch else self._config.timeout * self._config.attempts
        )
        await self._ledger.reserve(Reservation(call.call_id, tokens, usd, seconds, self._budget))

    async def _pay(self, call: Call, usage: Usage | None) -> float:
        """Count an attempt without a usable reply, as far as the server counted it; its cost in US
        dollars.
        """
        if usage is None:
            return 0.0
        usd = self._config.cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
        await self._ledger.put_attempt(call.call_id, usage.tokens, usd)
        self._progress.tokens += usage.tokens
        self._progress.cost_usd += usd
        return usd

    def _check_reachable(self, error: TransientError) -> None:
        """End the run if no call was ever answered: a wrong address would fail every debate, one
        after the other.
        """
        if isinstance(error, UnreachableError) and not self._answered:
            place = self._server.url if self._server else normalised(address(self._config) or "")
            raise RunStoppedError(
                f"model '{self._name}': no server answers at {place} ({error}). Start "
                "the server, or correct `base_url`, and run again."
            )

    async def _wait_as_asked(self, error: RateLimitedError, waits: int) -> None:
        seconds = error.retry_after if error.retry_after is not None else backoff(waits)
        if seconds > _LONGEST_RATE_LIMIT_WAIT:
            raise RunStoppedError(
                f"model '{self._name}': the server asks to wait {seconds:.0f} s ({error}). Every"
                " reply is kept: run again later to go on."
            )
        LOG.info(
            "model '%s': rate limit; waiting %.1f s as the server asks (%s)",
            self._name,
            seconds,
            error,
        )
        self._progress.retries += 1
        if error.retry_after is not None:
            await self._limits.pause(seconds)
        await asyncio.sleep(seconds)

    async def _back_off(self, error: TransientError, failures: int) -> None:
        seconds = 0.0 if self._gatherer else backoff(failures)  # the next wave is pause enough
        LOG.info("model '%s': %s; attempt %d in %.1f s", self._name, error, failures + 1, seconds)
        self._progress.retries += 1
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Let go of batches, limits, endpoint and server."""
        for opened in (self._gatherer, self._limits, self._endpoint, self._server):
            if opened is not None:
                await opened.close()
