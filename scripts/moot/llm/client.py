"""One model's client: it keeps to limits and budget, and repeats attempts that failed."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from moot.core.config import Budget
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import (
    AccountError,
    CallFailedError,
    CallRefusedError,
    ContentFilteredError,
    LogprobsUnavailableError,
    MootError,
    NotFoundError,
    RunStoppedError,
    ServerFaultError,
    TransientError,
    UnreachableError,
    UserError,
)
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.usage import Usage
from moot.llm.batches import Call, Gatherer, Waves, open_gatherer, reserved_seconds
from moot.llm.endpoints import ENDPOINTS, Endpoint, OpenEndpoint
from moot.llm.endpoints.faults import logprobs_unavailable
from moot.llm.identity import is_other_model, normalized_identity, server_address
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.reservations import Reservation
from moot.llm.limits import Limits
from moot.llm.progress import Progress
from moot.llm.redaction import clean_reply, read_key, remove_keys_from_error
from moot.llm.request import Reply, Request
from moot.llm.waiting import Patience

_BYTES_PER_TOKEN = 3.0
"""A cautious estimate for budgets and token limits, before the server has counted. It is in bytes,
since one Chinese character can be a token.
"""
_MIN_REFUSALS = 5
"""The refusals in a row that end the calls of a model, unless more calls are concurrent."""
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
    """The attempts at one call that failed so far, and what they cost."""

    patience: Patience
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
        self._gives_logprobs = False
        self._served: tuple[str, str] | None = None
        has_server = endpoint_traits(config.endpoint).has_server
        self._has_warned = not has_server or settings.open_endpoint is not None
        self._refusals = Counter[bool]()
        self._takes_schema = False
        self._replied_at: float | None = None
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
        failed = _FailedAttempts(Patience(self._config.waits, self._config.attempts))
        is_reserved = not self._budget
        endpoint = await self._open()
        while True:
            await self._limits.turn(max_tokens)
            if not is_reserved:  # after the wait for a turn, so that the reservation does not lapse
                await self._reserve(call, max_tokens, max_usd)
                is_reserved = True
            try:
                reply = await self._attempt(endpoint, call)
            except AccountError as error:
                raise RunStoppedError(f"model '{self._name}': {error}") from None
            except CallFailedError as error:
                await self._pay(call, error.usage)
                if isinstance(error, CallRefusedError):
                    self._count_refusal(call, error)
                raise
            except TransientError as error:
                if error.usage is not None:
                    failed.tokens += error.usage.tokens
                    failed.usd += await self._pay(call, error.usage)
                    is_reserved = not self._budget
                await self._wait(error, failed.patience)
            else:
                self._replied_at = time.monotonic()
                has_schema = call.request.schema is not None
                self._refusals[has_schema] = 0
                self._takes_schema = self._takes_schema or has_schema
                self._warn_of_other_model(call.request.model, reply)
                return self._priced(reply, failed)

    def _warn_of_other_model(self, asked: str, reply: Reply) -> None:
        """Warn once if another model answers than was asked, or if it changes within the job."""
        served = (reply.served_model, reply.provider)
        if self._has_warned or not reply.served_model or self._served == served:
            return
        expected = " ".join(filter(None, self._served or (asked,)))
        is_change = self._served is not None
        self._served = served
        if not is_change and not is_other_model(asked, reply.served_model):
            return
        self._has_warned = True
        LOG.warning(
            "model '%s': expected %s, answered by %s; `served_by` in the predictions has the"
            " model of each debate.",
            self._name,
            expected,
            " ".join(filter(None, served)),
        )

    def _count_refusal(self, call: Call, error: CallRefusedError) -> None:
        """End the calls if the server refuses one request after the other.

        Raises:
            LogprobsUnavailableError: no request for log-probabilities was ever answered.
            RunStoppedError: there was no reply between many refusals. Requests with a schema
                are counted apart: a server that takes none answers all others.
        """
        if call.request.choices and not self._gives_logprobs:
            self._no_logprobs = logprobs_unavailable(self._name, str(error))
            raise self._no_logprobs from None
        has_schema = call.request.schema is not None
        if has_schema and not self._takes_schema:
            remedy = "if the server takes no schema, write `structured: prompted`"
            error.args = (f"{error} ({remedy})",)
        self._refusals[has_schema] += 1
        refusals = self._refusals[has_schema]
        if refusals >= max(_MIN_REFUSALS, self._config.concurrency):
            raise RunStoppedError(
                f"model '{self._name}': the server refused {refusals} requests in a row: {error}."
                " Correct the model's entry, or the data, then run again."
            ) from None

    def _priced(self, reply: Reply, failed: _FailedAttempts) -> Reply:
        """Return the reply with its cost, that of failed attempts included."""
        usd = self._config.cost(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return replace(
            reply,
            attempts=1 + failed.patience.failures,
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
            raise ServerFaultError(f"no whole reply within {self._config.timeout:g} s") from None
        except ContentFilteredError as error:
            remove_keys_from_error(error)
            LOG.info("model '%s': %s", self._name, error)
            reply = Reply("", finish_reason="content_filter")
        except Exception as error:
            self.at_server.discard(call.call_id)
            if isinstance(error, LogprobsUnavailableError):
                self._no_logprobs = error
            if isinstance(error, MootError):
                remove_keys_from_error(error)
            raise
        self._gives_logprobs = self._gives_logprobs or bool(reply.logprobs)
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
        waits = self._config.waits.max_outage
        seconds = reserved_seconds(self._config) or waits + self._config.timeout * 2
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

    async def _wait(self, error: TransientError, patience: Patience) -> None:
        """Wait before the next attempt; a wait that the server asks for holds back all calls.

        Raises:
            RunStoppedError: the server has answered nothing since the call's first failure.
            CallFailedError: it answered other calls.
        """
        is_new_server = self._replied_at is None
        if isinstance(error, NotFoundError) and is_new_server:
            raise RunStoppedError(
                f"model '{self._name}': {error}. Check `model` and `base_url` in the configuration."
            )
        is_unreached = isinstance(error, UnreachableError) and is_new_server
        seconds = patience.pause_after(error, is_bounded=is_unreached)
        if seconds is None:
            raise self._final_error(error, patience, is_unreached)
        if self._gatherer is not None and not isinstance(error, ServerFaultError):
            seconds = 0.0  # the next wave is a pause
        requested = getattr(error, "retry_after", None)
        reason = " as the server asks" if requested is not None else ""
        self._show_wait(f"{error}; attempt {patience.failures + 1} in {seconds:.1f} s{reason}")
        if requested is not None:
            self._limits.pause(seconds)
        self._progress.retries += 1
        await asyncio.sleep(seconds)

    def _final_error(
        self, error: TransientError, patience: Patience, is_unreached: bool
    ) -> MootError:
        """Return the error of a call without a further attempt."""
        if is_unreached:
            place = normalized_identity(server_address(self._config) or "")
            return RunStoppedError(
                f"model '{self._name}': no server answers at {place} ({error}). Start "
                "the server, or correct `base_url`, and run again."
            )
        reason = patience.describe(error)
        is_outage = self._replied_at is None or self._replied_at < patience.failed_since
        if isinstance(error, ServerFaultError) and is_outage:
            return RunStoppedError(
                f"model '{self._name}': {reason}. The server answered nothing else. Check the"
                " server, the account and its quota, then run again: every reply is kept."
            )
        return CallFailedError(reason)

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
