"""One model's voice for a job: the ledger first, then budget, limits and retries around the endpoint."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
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
from moot.core.stopping import cancelled_on_signals
from moot.core.usage import Usage
from moot.llm.backoff import backoff
from moot.llm.batches.batches import batches_at
from moot.llm.batches.records import RESERVED_SECONDS, BatchedModel, BatchRecords
from moot.llm.batches.waves import AnsweredAtOnce, Call, Gatherer, Waves
from moot.llm.endpoints import ENDPOINTS, Endpoint
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.identity import address, model_asked, normalised, served_as
from moot.llm.ledger.batching import read_error
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.reservations import Reservation
from moot.llm.limits import Limits, LocalLimits
from moot.llm.model_server import ModelServer, serve
from moot.llm.progress import Progress
from moot.llm.redaction import clear_of_keys, read_key, received
from moot.llm.request import Reply, Request, call_id
from moot.llm.shared_limits import SharedLimits

_BYTES_A_TOKEN = 3.0
"""A cautious estimate for budgets and token limits, before the server has counted; of bytes, since one Chinese
character can be a token."""
_LONGEST_RATE_LIMIT_WAIT = 3600.0
GRACE_SECONDS = 8.0
"""How long a run that is stopped waits for replies that are under way; Docker kills ten seconds after its signal."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a job says to all its models.

    Attributes:
        replay: take every reply from the ledger.
        budget: hard limits.
        threads: for an embedded model.
        open_endpoint: stands in for the configured endpoints (a preview makes no call).
    """

    replay: bool = False
    budget: Budget = field(default_factory=Budget)
    threads: int = 1
    open_endpoint: Callable[[ModelConfig, int], Endpoint] | None = None


class Chat:
    """Asks one configured model; safe to use from many debates of one event loop at once."""

    def __init__(
        self,
        name: str,
        config: ModelConfig,
        ledger: Ledger,
        settings: Settings,
        progress: Progress,
        waves: Waves | None = None,
    ) -> None:
        self.name = name
        self.config = config
        self._ledger = ledger
        self._settings = settings
        self._progress = progress
        self._waves = waves or Waves()
        self._endpoint: Endpoint | None = None
        self._server: ModelServer | None = None
        self._gatherer: Gatherer | None = None
        self._opening = asyncio.Lock()
        self._under_way: dict[str, asyncio.Task[Entry]] = {}
        self._at_server: set[str] = set()
        self._stopped: Exception | None = None
        self._closing = False
        self._replay = settings.replay or (ledger.read_only and settings.open_endpoint is None)
        self._no_logprobs: LogprobsUnavailableError | None = None
        self._answered = False
        self._budget = {name: limit for name, limit in settings.budget if limit is not None}
        self._served_as = served_as(config)
        self._limits: Limits = LocalLimits(config)
        if config.shares_limits and settings.open_endpoint is None and not ledger.read_only:
            self._limits = SharedLimits(ledger.processes, name, f"{name} {self._served_as} {config.model}", config)

    async def ask(self, request: Request, replicate: int) -> tuple[str, Reply]:
        """The reply to a request, from the ledger or the endpoint, durable before it is returned.

        Returns:
            The call id and the reply.

        Raises:
            CallFailedError: the call failed for good; its debate decides what that means.
            LogprobsUnavailableError: the endpoint gives no token probabilities for the choices; other calls go on.
            RunStoppedError: budget, quota, key, or a reply missing in a replay.
            DebatePausedError: it is in a batch that has not come back, which this run does not wait for.
        """
        content = request.to_json(self._served_as)
        key = call_id(content, replicate)
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(self._answer_once(Call(key, request, content, replicate)))
            self._under_way[key].add_done_callback(lambda task: self._ended(key, task))
        entry = await asyncio.shield(self._under_way[key])
        return entry.call_id, entry.reply

    def _ended(self, key: str, task: asyncio.Task[Entry]) -> None:
        read_error(task)
        self._under_way.pop(key)
        self._at_server.discard(key)

    async def _answer_once(self, call: Call) -> Entry:
        if self._replay:
            return await self._answer(call)
        with self._waves.working():
            async with self._ledger.claim(call.call_id, self._waves.waiting):
                return await self._answer(call)

    async def _answer(self, call: Call) -> Entry:
        key = call.call_id
        stored = await self._ledger.get(key)
        if stored is not None:
            self._progress.ledger_calls += 1
            self._progress.tick()
            return stored
        if self._replay:
            await self._replay_failure(key)
        async with self._limits.slot():  # until the reply is durable: a kill then repeats `concurrency` calls at most
            try:
                reply = await self._call(call)
                kept = await self._ledger.put(Entry(key, self.name, call.content, call.replicate, reply))
            except CallFailedError as error:
                self._progress.failed_calls += 1
                if error.usage is not None:
                    await self._paid(key, error.usage)
                error.cost_usd = await self._ledger.put_failure(key, error)
                raise
            except LogprobsUnavailableError as error:  # the protocol decides what that means
                self._no_logprobs = error
                await self._ledger.put_failure(key, error)
                raise
            except (RunStoppedError, UserError) as error:
                self._stopped = self._stopped or error
                raise
        self._progress.new_calls += 1
        self._progress.tokens += kept.prompt_tokens + kept.completion_tokens
        self._progress.cost_usd += kept.cost_usd - kept.unusable_usd
        self._progress.tick()
        return Entry(key, self.name, call.content, call.replicate, kept)

    async def _replay_failure(self, key: str) -> None:
        if (error := await self._ledger.failure(key)) is not None:
            raise error
        server = f" served as {self._served_as}" if self._served_as else ""
        why, ask = "replay:", "Set `replay: false`"
        if self._ledger.read_only:
            why, ask = "read-only:", "Copy the ledger to a folder that can be written, and name that as `ledger`,"
        raise RunStoppedError(
            f"{why} the ledger {self._ledger.place} has no reply for a call of model '{self.name}'{server} (call id "
            f"{key}). The configuration, a prompt or the data differ from the recorded run. {ask} to ask "
            "the model, or restore what was recorded (a model that moved: `served_as`)."
        )

    async def _call(self, call: Call) -> Reply:
        """The endpoint's reply within budget and limits; attempts again what is worth it."""
        key, request = call.call_id, call.request
        prompt_tokens = int(request.prompt_bytes / _BYTES_A_TOKEN)
        most_tokens = prompt_tokens + int(request.parameters.get("max_tokens", 0))
        failures = waits = unusable_tokens = 0
        unusable_usd = 0.0
        most_usd = self.config.cost(prompt_tokens, most_tokens - prompt_tokens)
        endpoint = await self._open()
        reserved = False
        while True:
            await self._limits.turn(most_tokens)
            if not reserved:  # after the wait for a turn: what is set aside is asked at once, so that none lapses
                await self._reserve(key, most_tokens, most_usd)
                reserved = True
            try:
                reply = await self._attempt(endpoint, call)
            except RateLimitedError as error:
                waits += 1
                await self._wait_as_asked(error, waits)
            except TransientError as error:
                failures += 1
                if self._server is not None:
                    self._server.check()
                if error.usage is not None:
                    usd = await self._paid(key, error.usage)
                    unusable_tokens, unusable_usd = unusable_tokens + error.usage.tokens, unusable_usd + usd
                if failures >= self.config.attempts:
                    self._check_reachable(error)
                    raise CallFailedError(f"gave up after {failures} attempts: {error}") from None
                reserved = error.usage is None
                await self._back_off(error, failures)
            else:
                self._answered = True
                cost = self.config.cost(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
                return replace(
                    reply,
                    attempts=1 + failures + waits,
                    cost_usd=cost + unusable_usd,
                    unusable_tokens=unusable_tokens,
                    unusable_usd=unusable_usd,
                    price=self.config.price_used,
                    created_at=datetime.now(UTC).isoformat(timespec="seconds"),
                )

    async def _reserve(self, key: str, tokens: int, usd: float) -> None:
        """Set aside the most that an attempt can take, where there is a budget."""
        if self._budget:
            seconds = RESERVED_SECONDS if self.config.batch else self.config.timeout * self.config.attempts
            await self._ledger.reserve(Reservation(key, tokens, usd, seconds, self._budget))

    async def _paid(self, key: str, usage: Usage) -> float:
        """Count an attempt without a usable reply; its cost in US dollars."""
        usd = self.config.cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
        await self._ledger.put_attempt(key, usage.tokens, usd)
        self._progress.tokens += usage.tokens
        self._progress.cost_usd += usd
        return usd

    def _check_reachable(self, error: TransientError) -> None:
        """End the run if no call was ever answered: a wrong address would fail every debate, one after the other."""
        if isinstance(error, UnreachableError) and not self._answered:
            place = self._server.url if self._server else normalised(address(self.config) or "")
            raise RunStoppedError(
                f"model '{self.name}': no server answers at {place} ({error}). Start "
                "the server, or correct `base_url`, and run again."
            )

    async def _attempt(self, endpoint: Endpoint, call: Call) -> Reply:
        """One attempt."""
        if self._closing:
            raise asyncio.CancelledError
        if self._stopped is not None:
            raise self._stopped
        if self._no_logprobs is not None and call.request.choices:
            raise self._no_logprobs
        started = datetime.now(UTC)
        try:
            reply = await (self._gatherer.answer(call) if self._gatherer else self._complete(endpoint, call))
        except MootError as error:
            clear_of_keys(error)
            raise
        return replace(
            received(reply),
            started_at=started.isoformat(timespec="milliseconds"),
            ended_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )

    async def _complete(self, endpoint: Endpoint, call: Call) -> Reply:
        """The reply; one that trickles in is given up after `timeout` seconds like one that never comes."""
        self._at_server.add(call.call_id)
        try:
            async with asyncio.timeout(self.config.timeout):
                return await endpoint.complete(call.request)
        except TimeoutError:
            self._at_server.discard(call.call_id)
            raise TransientError(f"no whole reply within {self.config.timeout:g} s") from None
        except Exception:
            self._at_server.discard(call.call_id)
            raise

    async def _open(self) -> Endpoint:
        async with self._opening:
            if self._stopped is not None:
                raise self._stopped
            if self._endpoint is None:
                read_key(self.config)
                make, config = self._settings.open_endpoint or ENDPOINTS[self.config.endpoint], self.config
                if config.serve and not self._settings.open_endpoint:
                    self._server, config = await serve(self.name, config)
                endpoint = await asyncio.to_thread(make, config, self._settings.threads)
                if self.config.batch:
                    self._gatherer = await self._gather(endpoint)
                self._endpoint = endpoint
            return self._endpoint

    async def _gather(self, endpoint: Endpoint) -> Gatherer:
        """What gathers calls for batches: the provider's, or waves that a placeholder answers."""
        if not isinstance(endpoint, OpenAIEndpoint):
            return AnsweredAtOnce(self._waves, self._progress, endpoint)
        records = BatchRecords(self._ledger, self._served_as, model_asked(self.config))
        model = BatchedModel(self.name, self.config, records, self._ledger.claim, self.ask)
        batches = batches_at(endpoint, self._waves, self._progress, model)
        await batches.resume()
        return batches

    async def _wait_as_asked(self, error: RateLimitedError, waits: int) -> None:
        seconds = error.retry_after if error.retry_after is not None else backoff(waits)
        if seconds > _LONGEST_RATE_LIMIT_WAIT:
            raise RunStoppedError(
                f"model '{self.name}': the server asks to wait {seconds:.0f} s ({error}). Every reply is kept: run "
                "again later to go on."
            )
        LOG.info("model '%s': rate limit; waiting %.1f s as the server asks (%s)", self.name, seconds, error)
        self._progress.retries += 1
        if error.retry_after is not None:
            await self._limits.pause(seconds)
        await asyncio.sleep(seconds)

    async def _back_off(self, error: TransientError, failures: int) -> None:
        seconds = 0.0 if self._gatherer else backoff(failures)  # the next wave is pause enough
        LOG.info("model '%s': %s; attempt %d in %.1f s", self.name, error, failures + 1, seconds)
        self._progress.retries += 1
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Store the replies that are under way, as far as they come within seconds, then let go of the endpoint."""
        deadline, stopped_by = time.monotonic() + GRACE_SECONDS, self._stopped
        self._closing = True
        if self._at_server:
            LOG.info("model '%s': waiting for %d replies under way", self.name, len(self._at_server))
        while self._under_way:
            late = time.monotonic() > deadline
            for key, task in self._under_way.items():
                if late or key not in self._at_server:
                    task.cancel()
            await asyncio.wait(self._under_way.values(), timeout=0.1)
        if self._stopped is not stopped_by and stopped_by is None:  # those who asked have gone
            LOG.error("model '%s': a reply that was under way is not kept: %s", self.name, self._stopped)
        if self._gatherer is not None:
            await self._gatherer.close()
        await self._limits.close()
        if self._endpoint is not None:
            await self._endpoint.close()
        if self._server is not None:
            await self._server.close()


@asynccontextmanager
async def open_chats(
    models: dict[str, ModelConfig], ledger: Ledger, settings: Settings, progress: Progress
) -> AsyncIterator[dict[str, Chat]]:
    """The voices of a job by model name, closed at its end; a signal ends it.

    Raises:
        RunStoppedError: there was a signal.
    """
    waves = Waves()
    chats = {name: Chat(name, config, ledger, settings, progress, waves) for name, config in models.items()}
    with cancelled_on_signals():
        try:
            yield chats
        finally:  # all at once: while one waits for replies, another asks for no more
            await waves.close()
            closed = await asyncio.gather(*(chat.close() for chat in chats.values()), return_exceptions=True)
            for error in filter(None, closed):
                raise error
