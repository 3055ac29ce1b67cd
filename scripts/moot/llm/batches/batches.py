"""A model's calls in batches of the provider: each wave is one batch, or several if large.

The ledger records a batch before it is submitted, with a marker that the provider keeps in the
batch's metadata. A run that was killed finds the batch by it, whether or not the provider's id
could be recorded.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar
from uuid import uuid4

from moot.core.batch_config import BatchConfig
from moot.core.errors import (
    DebatePausedError,
    MootError,
    RunStoppedError,
    ServerFaultError,
    TransientError,
)
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.types import JsonObject
from moot.core.utterance_kinds import REPLY_PENDING
from moot.llm.batches.batch_records import BatchRecord, BatchRecords
from moot.llm.batches.providers import (
    BatchFolder,
    BatchProvider,
    BatchState,
    OpenAIBatches,
    batch_line,
)
from moot.llm.batches.waves import Call, Gatherer, Waves
from moot.llm.endpoints.faults import fault_of_status
from moot.llm.endpoints.sdk import SdkEndpoint
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.llm.redaction import redacted
from moot.llm.request import Reply, Request
from moot.llm.waiting import Patience

MAX_BYTES = 190_000_000
"""Most bytes of a batch's file: OpenAI accepts 200 MB."""
Result = TypeVar("Result")
Outcome = Reply | Exception
"""What becomes of a call: a reply, or the error that a single call would have met."""


class Batches(Gatherer):
    """Sends waves as batches to a model's server, or to the folder that its entry names."""

    def __init__(
        self,
        waves: Waves,
        progress: Progress,
        endpoint: SdkEndpoint,
        name: str,
        config: ModelConfig,
        ledger: Ledger,
        keep: Callable[[Request, int], Awaitable[object]],
    ) -> None:
        super().__init__(waves, progress)
        self._endpoint, self._name, self._keep = endpoint, name, keep
        self._attempts, self._waits = config.attempts, config.waits
        self._options = config.batch or BatchConfig()
        folder = self._options.folder
        self._provider: BatchProvider = BatchFolder(folder) if folder else OpenAIBatches(endpoint)
        self._records, self._claim = BatchRecords(ledger, config), ledger.claim
        self._queue: deque[list[Call]] = deque()
        self._open_markers: set[str] = set()
        self._marker_by_call: dict[str, str] = {}
        self._deferral_by_marker: dict[str, str] = {}
        self._unclaimed: dict[str, Outcome] = {}

    async def answer(self, call: Call) -> Reply:
        """Return the reply to a call, from a batch that is under way or from the next one.

        Raises:
            DebatePausedError: the batch has not come back, and the configuration says not to wait.
        """
        if call.call_id in self._unclaimed:
            outcome = self._unclaimed.pop(call.call_id)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        marker = self._marker_by_call.get(call.call_id)
        if marker is None:
            self._endpoint.check(call.request)
            return await super().answer(call)
        if marker in self._deferral_by_marker:
            raise DebatePausedError(self._deferral_by_marker[marker])
        return await self._wait_for(call.call_id)

    async def resume(self) -> None:
        """Continue with the batches that an earlier run, or another job, submitted."""
        for record in await asyncio.to_thread(self._records.load_open):
            if batch_id := record.batch_id or await self._look_up(record):
                self._serve(record, self._follow(replace(record, batch_id=batch_id)))

    async def _look_up(self, record: BatchRecord) -> str:
        """Return the id of a batch of which the ledger knows only that it was to be submitted.

        The record of a batch that was never submitted is deleted.
        """
        async with self._claim(record.marker):
            batch_id = await asyncio.to_thread(self._records.load_batch_id, record.marker)
            if batch_id == "":
                batch_id = await self._retry(lambda: self._find_or_withdraw(record))
                if batch_id:
                    await asyncio.to_thread(self._records.set_batch_id, record.marker, batch_id)
                else:
                    await asyncio.to_thread(self._records.delete, record.marker)
        return batch_id or ""

    async def _find_or_withdraw(self, record: BatchRecord) -> str:
        """Return the id of a batch, or "" if it was not created and can no longer be."""
        marker, since = record.marker, record.created_at
        if batch_id := await self._provider.find(marker, since):
            return batch_id
        await self._provider.withdraw(marker, since)
        return await self._provider.find(marker, since)  # it may have been created meanwhile

    # Submitting

    def _send_wave(self, calls: Sequence[Call]) -> None:
        self._queue.extend(self._cut(calls))
        self._submit_next()

    def _cut(self, calls: Sequence[Call]) -> Iterator[list[Call]]:
        """Yield the calls in batches of the size that the configuration allows."""
        batch: list[Call] = []
        size = 0
        for call in calls:
            line_size = len(self._line(call))
            is_full = len(batch) == self._options.max_calls or size + line_size > MAX_BYTES
            if batch and is_full:
                yield batch
                batch, size = [], 0
            batch.append(call)
            size += line_size
        yield batch

    def _line(self, call: Call) -> bytes:
        return batch_line(
            call.call_id, self._endpoint.batch_path, self._endpoint.body(call.request)
        )

    def _submit_next(self) -> None:
        """Submit queued batches, as far as `max_concurrent` allows.

        If no batch is waited for, the debates of the other batches pause.
        """
        while self._queue and len(self._open_markers) < self._options.max_concurrent:
            calls = self._queue.popleft()
            record = BatchRecord(uuid4().hex, "", 0.0, {call.call_id: call for call in calls})
            self._serve(record, self._submit(record))
        if self._open_markers <= self._deferral_by_marker.keys():
            message = f"{REPLY_PENDING}{len(self._open_markers)} before it"
            while self._queue:
                for call in self._queue.popleft():
                    self._hand_over(call.call_id, DebatePausedError(message))

    def _serve(self, record: BatchRecord, work: Awaitable[None]) -> None:
        """Do the work of a batch in a task; an error goes to all calls of the batch."""

        async def serve() -> None:
            try:
                await work
            except Exception as error:  # after any error, no call may wait for ever
                self._settle(record)
                for call_id in record.calls:
                    self._hand_over(call_id, error)
            self._submit_next()

        self._open_markers.add(record.marker)
        self._marker_by_call.update(dict.fromkeys(record.calls, record.marker))
        self._start(serve())

    def _settle(self, record: BatchRecord) -> None:
        self._open_markers.discard(record.marker)
        for call_id in record.calls:
            self._marker_by_call.pop(call_id, None)

    async def _submit(self, record: BatchRecord) -> None:
        calls = list(record.calls.values())
        lines = b"".join(map(self._line, calls))
        async with self._claim(record.marker):
            record = await asyncio.to_thread(self._records.add, record.marker, lines, calls)
            batch_id = await self._create(record, lines)
            await asyncio.to_thread(self._records.set_batch_id, record.marker, batch_id)
        LOG.info("model '%s': batch %s of %d calls submitted", self._name, batch_id, len(calls))
        await self._follow(replace(record, batch_id=batch_id))

    async def _create(self, record: BatchRecord, lines: bytes) -> str:
        """Submit a batch; look for it before a further attempt, as the first may have succeeded."""
        is_repeated = False

        async def submit() -> str:
            nonlocal is_repeated
            batch_id = await self._find_or_withdraw(record) if is_repeated else ""
            is_repeated = True
            return batch_id or await self._provider.submit(lines, record.marker)

        return await self._retry(submit)

    async def _retry(
        self, operation: Callable[[], Awaitable[Result]], min_seconds: float = 0.0
    ) -> Result:
        """Return the result of an operation, repeated as a call is.

        Args:
            operation: raises errors as endpoints do.
            min_seconds: the minimum wait between two attempts.
        """
        patience = Patience(self._waits, self._attempts)
        while True:
            try:
                return await operation()
            except TransientError as error:
                pause = patience.pause_after(error)
                if pause is None:
                    raise RunStoppedError(
                        f"model '{self._name}', batches: {patience.describe(error)}. The ledger"
                        " records every batch: run again to continue; nothing is submitted twice."
                    ) from None
                seconds = max(min_seconds, pause)
                LOG.info("model '%s', batches: %s; again in %.1f s", self._name, error, seconds)
                self._progress.retries += 1
                await asyncio.sleep(seconds)

    # Receiving

    async def _follow(self, record: BatchRecord) -> None:
        """Wait until a batch has ended, then hand its replies over."""
        poll = self._options.poll_seconds
        while True:
            state = await self._retry(lambda: self._provider.state(record.batch_id), poll)
            if state.has_ended:
                await self._deliver(record, state)
                return
            if not self._options.wait:
                self._defer(record, state)
                return
            self._progress.tick()
            await asyncio.sleep(poll)

    def _defer(self, record: BatchRecord, state: BatchState) -> None:
        """Pause the debates that need a batch which this run does not wait for."""
        message = f"{REPLY_PENDING}{record.batch_id} of model '{self._name}' ({state.status})"
        self._deferral_by_marker[record.marker] = message
        for call_id in record.calls:
            self._hand_over(call_id, DebatePausedError(message))

    async def _deliver(self, record: BatchRecord, state: BatchState) -> None:
        outcomes = await self._outcomes(record, state)
        failed = [call_id for call_id in outcomes if isinstance(outcomes[call_id], Exception)]
        await asyncio.to_thread(self._records.delete_calls, failed)
        counts = f"{len(outcomes) - len(failed)} replies, {len(failed)} calls without one"
        LOG.info("model '%s': batch %s %s: %s", self._name, record.batch_id, state.status, counts)
        self._settle(record)
        for call_id, outcome in outcomes.items():
            if self._hand_over(call_id, outcome):
                continue
            self._unclaimed[call_id] = outcome
            if isinstance(outcome, Reply):
                self._start(self._store(record.calls[call_id]))

    async def _outcomes(self, record: BatchRecord, state: BatchState) -> dict[str, Outcome]:
        """Return the outcome of each call of a batch that has ended, by its id."""
        outcome_by_call: dict[str, Outcome] = {}
        for file in state.files:
            content = await self._retry(partial(self._provider.content, file))
            for line in content.splitlines():
                call_id, outcome = self._read_line(line, record)
                if not isinstance(outcome_by_call.get(call_id), Reply):
                    outcome_by_call[call_id] = outcome
        missing = self._error_without_reply(record, state)
        outcomes: dict[str, Outcome] = {}
        for call_id in record.calls:
            outcome = outcome_by_call.get(call_id, missing)
            is_stopped = isinstance(missing, RunStoppedError) and not isinstance(outcome, Reply)
            outcomes[call_id] = missing if is_stopped else outcome
        return outcomes

    def _error_without_reply(self, record: BatchRecord, state: BatchState) -> Exception:
        """Return the error for calls that a batch which has ended does not mention."""
        batch = f"model '{self._name}': batch {record.batch_id}"
        if state.status == "failed":
            return RunStoppedError(
                f"{batch} was refused: {state.problem or 'no reason was given'}. None of its calls"
                " was made. Remove the cause (too many tokens queued: lower `batch.max_calls` and"
                " `batch.max_concurrent`), then run again."
            )
        if state.status == "cancelled":
            return RunStoppedError(
                f"{batch} was cancelled. Its replies are kept; run again to ask for the others."
            )
        return TransientError(f"{batch} ended ({state.status}) without a reply to this call")

    def _read_line(self, line: bytes, record: BatchRecord) -> tuple[str, Outcome]:
        """Return the id of the call that a line of replies is about, and the call's outcome."""
        content: JsonObject = {}
        try:
            content = json.loads(line)
            call = record.calls.get(str(content["custom_id"]))
            if call is None:
                return "", TransientError("the line of another call")
            return call.call_id, self._read_outcome(content, call)
        except MootError as error:
            return str(content["custom_id"]), error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            LOG.warning(
                "model '%s': a line of batch %s cannot be read (%s)",
                self._name,
                record.batch_id,
                redacted(error),
            )
            return "", TransientError("an unreadable line")

    def _read_outcome(self, content: JsonObject, call: Call) -> Outcome:
        """Return the outcome in a decoded line."""
        response = content.get("response") or {}
        status = int(response.get("status_code") or 0)
        if status == 200:
            reply = self._endpoint.read_reply(call.request, response.get("body"), 0.0)
            return replace(reply, service_tier=reply.service_tier or "batch")
        error = content.get("error") or response.get("body") or "no reason was given"
        transient = TransientError(redacted(f"in a batch: {error}"))
        if not status:
            return transient
        fault = fault_of_status(status, {}, json.dumps(error).encode())
        # the next wave is a wait
        return transient if isinstance(fault, ServerFaultError) else fault

    async def _store(self, call: Call) -> None:
        """Store a reply, which is paid for, although no debate of this job waits for it."""
        try:
            await self._keep(call.request, call.replicate)
        except MootError as error:
            LOG.info(
                "model '%s': a reply of a batch is not stored yet: %s", self._name, redacted(error)
            )
