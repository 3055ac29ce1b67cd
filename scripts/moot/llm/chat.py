"""The chat of a job with one model: replies come from the ledger, or are requested and stored."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NoReturn

from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.run_signals import cancel_on_signals
from moot.llm.batches import Call, Waves
from moot.llm.client import Client, Settings
from moot.llm.identity import served_as
from moot.llm.ledger.batching import read_error
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Reply, Request, call_id

__all__ = ["Chat", "Settings", "open_chats"]

GRACE_SECONDS = 8.0
"""How long a stopped run waits for replies under way. Docker kills ten seconds after its signal."""


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
        self._progress = progress
        self._waves = waves or Waves()
        self._replay = settings.replay or (ledger.read_only and settings.open_endpoint is None)
        self._served_as = served_as(config)
        self._client = Client(name, config, ledger, settings, progress, self._waves, self.ask)
        self._under_way: dict[str, asyncio.Task[Entry]] = {}

    async def ask(self, request: Request, replicate: int) -> tuple[str, Reply]:
        """Return the reply to a request, from the ledger or the endpoint; it is durable by then.

        Returns:
            The call id and the reply.

        Raises:
            CallFailedError: the call failed for good; its debate handles that.
            LogprobsUnavailableError: the endpoint gives no token probabilities for the choices;
                other calls continue.
            RunStoppedError: budget, quota, key, or a reply missing in a replay.
            DebatePausedError: the reply comes in a later run, for which this one does not wait.
        """
        content = request.to_json(self._served_as)
        key = call_id(content, replicate)
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(
                self._answer(Call(key, request, content, replicate))
            )
            self._under_way[key].add_done_callback(lambda task: self._forget_task(key, task))
        entry = await asyncio.shield(self._under_way[key])
        return entry.call_id, entry.reply

    def _forget_task(self, key: str, task: asyncio.Task[Entry]) -> None:
        read_error(task)
        self._under_way.pop(key)
        self._client.at_server.discard(key)

    async def _answer(self, call: Call) -> Entry:
        """Return the stored entry of a call, else a new one.

        If another process makes the same call, wait for its reply.
        """
        if self._replay:
            return await self._find_stored(call) or await self._fail_as_recorded(call)
        with self._waves.count_as_busy():
            async with self._ledger.claim(call.call_id, self._waves.count_as_waiting):
                return await self._find_stored(call) or await self._ask_and_keep(call)

    async def _find_stored(self, call: Call) -> Entry | None:
        entry = await self._ledger.get(call.call_id)
        if entry is not None:
            self._progress.ledger_calls += 1
            self._progress.tick()
        return entry

    async def _ask_and_keep(self, call: Call) -> Entry:
        # until the reply is durable: a kill then repeats `concurrency` calls at most
        async with self._client.slot():
            try:
                reply = await self._client.complete(call)
                stored_reply = await self._ledger.put(
                    Entry(call.call_id, self.name, call.content, call.replicate, reply)
                )
            except (CallFailedError, LogprobsUnavailableError) as error:
                wasted_usd = await self._ledger.put_failure(call.call_id, error)
                if isinstance(error, CallFailedError):
                    self._progress.failed_calls += 1
                    error.cost_usd = wasted_usd
                raise
        self._progress.new_calls += 1
        self._progress.tokens += stored_reply.prompt_tokens + stored_reply.completion_tokens
        self._progress.cost_usd += stored_reply.cost_usd - stored_reply.unusable_usd
        self._progress.tick()
        return Entry(call.call_id, self.name, call.content, call.replicate, stored_reply)

    async def _fail_as_recorded(self, call: Call) -> NoReturn:
        """Raise the recorded error of the call, or an error that nothing was recorded."""
        if (error := await self._ledger.failure(call.call_id)) is not None:
            raise error
        server = f" served as {self._served_as}" if self._served_as else ""
        reason, remedy = "replay:", "Set `replay: false`"
        if self._ledger.read_only:
            reason = "read-only:"
            remedy = "Copy the ledger to a folder that can be written, and name that as `ledger`,"
        raise RunStoppedError(
            f"{reason} the ledger {self._ledger.place} has no reply for a call of model"
            f" '{self.name}'{server} (call id {call.call_id}). The configuration, a prompt or the"
            f" data differ from the recorded run. {remedy} to ask the model, or restore what was"
            " recorded (a model that moved: `served_as`)."
        )

    async def close(self) -> None:
        """Store the replies that arrive within seconds, then close the endpoint."""
        client, deadline = self._client, time.monotonic() + GRACE_SECONDS
        stopped_by, client.closing = client.stopped, True
        if client.at_server:
            LOG.info(
                "model '%s': waiting for %d replies under way", self.name, len(client.at_server)
            )
        while self._under_way:
            late = time.monotonic() > deadline
            for key, task in self._under_way.items():
                if late or key not in client.at_server:
                    task.cancel()
            await asyncio.wait(self._under_way.values(), timeout=0.1)
        if client.stopped is not None and stopped_by is None:  # the callers are gone
            LOG.error(
                "model '%s': a reply that was under way is not kept: %s", self.name, client.stopped
            )
        await client.close()


@asynccontextmanager
async def open_chats(
    models: Mapping[str, ModelConfig], ledger: Ledger, settings: Settings, progress: Progress
) -> AsyncIterator[dict[str, Chat]]:
    """Open the chats of a job, by model name; a signal ends the job.

    Raises:
        RunStoppedError: there was a signal.
    """
    waves = Waves()
    chats = {
        name: Chat(name, config, ledger, settings, progress, waves)
        for name, config in models.items()
    }
    with cancel_on_signals():
        try:
            yield chats
        finally:  # all at once: while one waits for replies, another asks for no more
            await waves.close()
            errors = await asyncio.gather(
                *(chat.close() for chat in chats.values()), return_exceptions=True
            )
            for error in filter(None, errors):
                raise error
