"""A model's calls in batches of the provider: each wave is one, or several where it is too large.

A batch is written down in the ledger before it is submitted, with a marker that the provider keeps
in the batch's metadata, so that a run that was killed finds it again, whether or not the provider's
id could be written down.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TypeVar
from uuid import uuid4

from moot.core.errors import (
    DebatePausedError,
    MootError,
    RateLimitedError,
    RunStoppedError,
    TransientError,
)
from moot.core.kinds import BATCH_UNDER_WAY
from moot.core.log import LOG
from moot.core.model_config import BatchConfig, ModelConfig
from moot.core.types import JsonObject
from moot.llm.batches.providers import BatchFolder, BatchState, OpenAIBatches, line_of
from moot.llm.batches.records import BatchRecord, BatchRecords
from moot.llm.batches.waves import Call, Gatherer, Waves
from moot.llm.endpoints.openai import OpenAIEndpoint, refusal
from moot.llm.ledger.ledger import Ledger
from moot.llm.limits import backoff
from moot.llm.progress import Progress
from moot.llm.redaction import redacted
from moot.llm.request import Reply, Request

Found = TypeVar("Found")


class Batches(Gatherer):
    """Waves that go as batches to a model's server, or to the folder that its entry names."""

    def __init__(
        self,
        waves: Waves,
        progress: Progress,
        endpoint: OpenAIEndpoint,
        name: str,
        config: ModelConfig,
        ledger: Ledger,
        keep: Callable[[Request, int], Awaitable[object]],
    ) -> None:
        super().__init__(waves, progress)
        self._endpoint, self._name, self._attempts, self._keep = (
            endpoint,
            name,
            config.attempts,
            keep,
        )
        self._options = config.batch or BatchConfig()
        folder = self._options.folder
        self._provider = BatchFolder(folder) if folder else OpenAIBatches(endpoint, config.model)
        self._records, self._claim = BatchRecords(ledger, config), ledger.claim
        self._queue: deque[list[Call]] = deque()
        self._open: set[str] = set()
        self._under_way: dict[str, str] = {}
        self._put_off: dict[str, str] = {}
        self._arrived: dict[str, Reply | Exception] = {}

    async def answer(self, call: Call) -> Reply:
        """The reply to a call, from a batch that is under way, or from the next one.

        Raises:
            DebatePausedError: the batch has not come back, and the configuration says not to wait.
        """
        if call.call_id in self._arrived:
            outcome = self._arrived.pop(call.call_id)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        marker = self._under_way.get(call.call_id)
        if marker is None:
            self._endpoint.check(call.request)
            return await super().answer(call)
        if marker in self._put_off:
            raise DebatePausedError(self._put_off[marker])
        return await self._wait_for(call.call_id)

    async def resume(self) -> None:
        """Go on with the batches that an earlier run, or another job, submitted."""
        for record in await asyncio.to_thread(self._records.open):
            if batch_id := record.batch_id or await self._look_up(record):
                self._serve(record, self._follow(replace(record, batch_id=batch_id)))

    async def _look_up(self, record: BatchRecord) -> str:
        """The id of a batch of which only the intention is known; one that was never submitted is
        taken back.
        """
        async with self._claim(record.marker):
            batch_id = await asyncio.to_thread(self._records.batch_id, record.marker)
            if batch_id == "":
                batch_id = await self._retry(lambda: self._find_or_withdraw(record))
                if batch_id:
                    await asyncio.to_thread(self._records.submitted, record.marker, batch_id)
                else:
                    await asyncio.to_thread(self._records.forget, record.marker)
        return batch_id or ""

    async def _find_or_withdraw(self, record: BatchRecord) -> str:
        """The id of a batch, or "" where it was not created and no more will be: it is looked for
        again after that.
        """
        if not (batch_id := await self._provider.find(record.marker, record.created_at)):
            await self._provider.withdraw(record.marker, record.created_at)
            batch_id = await self._provider.find(record.marker, record.created_at)
        return batch_id

    # Submitting

    def _begin(self, calls: Sequence[Call]) -> None:
        self._queue.extend(self._cut(calls))
        self._submit_next()

    def _cut(self, calls: Sequence[Call]) -> Iterator[list[Call]]:
        batch: list[Call] = []
        size = 0
        for call in calls:
            line = len(self._line(call))
            if batch and (
                len(batch) == self._options.most_calls or size + line > self._options.most_bytes
            ):
                yield batch
                batch, size = [], 0
            batch.append(call)
            size += line
        yield batch

    def _line(self, call: Call) -> bytes:
        return line_of(call.call_id, self._endpoint.body(call.request))

    def _submit_next(self) -> None:
        """Submit what waits, as far as the batches under way leave room; without waiting the rest
        is put off.
        """
        while self._queue and len(self._open) < self._options.at_once:
            calls = self._queue.popleft()
            record = BatchRecord(uuid4().hex, "", 0.0, {call.call_id: call for call in calls})
            self._serve(record, self._submit(record))
        if self._open <= self._put_off.keys():
            while self._queue:
                for call in self._queue.popleft():
                    self._hand_over(
                        call.call_id,
                        DebatePausedError(f"{BATCH_UNDER_WAY}{len(self._open)} before it"),
                    )

    def _serve(self, record: BatchRecord, work: Awaitable[None]) -> None:
        """Do the work of a batch in a task; a fault goes to all who wait for it."""

        async def serve() -> None:
            try:
                await work
            except Exception as error:  # after any error, no call may be left waiting
                self._settle(record)
                for call_id in record.calls:
                    self._hand_over(call_id, error)
            self._submit_next()

        self._open.add(record.marker)
        self._under_way.update(dict.fromkeys(record.calls, record.marker))
        self._start(serve())

    def _settle(self, record: BatchRecord) -> None:
        self._open.discard(record.marker)
        for call_id in record.calls:
            self._under_way.pop(call_id, None)

    async def _submit(self, record: BatchRecord) -> None:
        calls = list(record.calls.values())
        lines = b"".join(map(self._line, calls))
        async with self._claim(record.marker):
            begun = await asyncio.to_thread(self._records.begin, record.marker, lines, calls)
            batch_id = await self._create(begun, lines)
            await asyncio.to_thread(self._records.submitted, record.marker, batch_id)
        LOG.info("model '%s': batch %s of %d calls submitted", self._name, batch_id, len(calls))
        await self._follow(replace(begun, batch_id=batch_id))

    async def _create(self, record: BatchRecord, lines: bytes) -> str:
        """Submit a batch; after a fault that leaves open whether it was, look it up before the next
        attempt.
        """
        attempted = False

        async def submit() -> str:
            nonlocal attempted
            found = await self._find_or_withdraw(record) if attempted else ""
            attempted = True
            return found or await self._provider.submit(lines, record.marker)

        return await self._retry(submit)

    async def _retry(self, operation: Callable[[], Awaitable[Found]], pause: float = 0.0) -> Found:
        for failures in count(1):
            try:
                return await operation()
            except (TransientError, RateLimitedError) as error:
                if failures >= self._attempts:
                    raise RunStoppedError(
                        f"model '{self._name}', batches: gave up after {failures} attempts:"
                        f" {error}. Every batch is written down in the ledger: run again to go on,"
                        " and nothing is submitted twice."
                    ) from None
                asked = error.retry_after if isinstance(error, RateLimitedError) else None
                seconds = max(pause, backoff(failures) if asked is None else asked)
                LOG.info("model '%s', batches: %s; again in %.1f s", self._name, error, seconds)
                self._progress.retries += 1
                await asyncio.sleep(seconds)
        raise AssertionError("count() has no end")

    # Receiving

    async def _follow(self, record: BatchRecord) -> None:
        poll = self._options.poll
        while not (
            state := await self._retry(lambda: self._provider.state(record.batch_id), poll)
        ).ended:
            if not self._options.wait:
                message = (
                    f"{BATCH_UNDER_WAY}{record.batch_id} of model '{self._name}' ({state.status})"
                )
                self._put_off[record.marker] = message
                for call_id in record.calls:
                    self._hand_over(call_id, DebatePausedError(message))
                return
            self._progress.tick()
            await asyncio.sleep(poll)
        await self._deliver(record, state)

    async def _deliver(self, record: BatchRecord, state: BatchState) -> None:
        outcomes: dict[str, Reply | Exception] = {}
        for file in state.files:
            content = await self._retry(partial(self._provider.content, file))
            for line in content.splitlines():
                call_id, outcome = self._read(line, record)
                if not isinstance(outcomes.get(call_id), Reply):
                    outcomes[call_id] = outcome
        nothing = self._without_reply(record, state)
        if isinstance(nothing, RunStoppedError):
            outcomes = {
                call_id: outcome
                for call_id, outcome in outcomes.items()
                if isinstance(outcome, Reply)
            }
        outcomes = {call_id: outcomes.get(call_id, nothing) for call_id in record.calls}
        failed = [
            call_id for call_id, outcome in outcomes.items() if isinstance(outcome, Exception)
        ]
        await asyncio.to_thread(self._records.drop, failed)
        counts = f"{len(outcomes) - len(failed)} replies, {len(failed)} calls without one"
        LOG.info("model '%s': batch %s %s: %s", self._name, record.batch_id, state.status, counts)
        self._settle(record)
        for call_id, outcome in outcomes.items():
            if not self._hand_over(call_id, outcome):
                self._arrived[call_id] = outcome
                if isinstance(outcome, Reply):
                    self._start(self._store(record.calls[call_id]))

    def _without_reply(self, record: BatchRecord, state: BatchState) -> Exception:
        """What becomes of the calls of a batch that ended without a word on them."""
        batch = f"model '{self._name}': batch {record.batch_id}"
        if state.status == "failed":
            return RunStoppedError(
                f"{batch} was refused: {state.problem or 'no reason was given'}. None of its calls"
                " was made. Mend the cause (too many tokens waiting: lower `batch.most_calls` and"
                " `batch.at_once`), then run again."
            )
        if state.status == "cancelled":
            return RunStoppedError(
                f"{batch} was cancelled. What it answered is kept; run again to ask for the rest."
            )
        return TransientError(f"{batch} ended ({state.status}) without a reply to this call")

    def _read(self, line: bytes, record: BatchRecord) -> tuple[str, Reply | Exception]:
        """Whose reply a line of an answered file is, and the reply or the fault that a single call
        would have met.
        """
        try:
            found: JsonObject = json.loads(line)
            call = record.calls.get(str(found["custom_id"]))
            if call is None:
                return "", TransientError("the line of another call")
            answer = found.get("response") or {}
            status = int(answer.get("status_code") or 0)
            if status == 200:  # the HTTP status
                reply = self._endpoint.read(call.request, answer.get("body"), 0.0)
                return call.call_id, replace(reply, service_tier=reply.service_tier or "batch")
            error = found.get("error") or answer.get("body") or "no reason was given"
            fault = (
                refusal(status, {}, json.dumps(error).encode(), call.request) if status else None
            )
            if fault is None or isinstance(fault, RateLimitedError):
                fault = TransientError(redacted(f"in a batch: {error}"))
            return call.call_id, fault
        except MootError as error:
            return str(found["custom_id"]), error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = redacted(error)
            LOG.warning(
                "model '%s': a line of batch %s cannot be read (%s)",
                self._name,
                record.batch_id,
                problem,
            )
            return "", TransientError("an unreadable line")

    async def _store(self, call: Call) -> None:
        """Store a reply that no debate of this job waits for yet: it is paid for."""
        try:
            await self._keep(call.request, call.replicate)
        except MootError as error:
            LOG.info(
                "model '%s': a reply of a batch is not stored yet: %s", self._name, redacted(error)
            )
