"""One model's voice for a job: every call is answered from the ledger, or asked once and kept
there.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.stopping import cancelled_on_signals
from moot.llm.batches.waves import Call, Waves
from moot.llm.client import Client, Settings
from moot.llm.identity import served_as
from moot.llm.ledger.batching import read_error
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Reply, Request, call_id

__all__ = ["Chat", "Settings", "open_chats"]

GRACE_SECONDS = 8.0
"""How long a run that is stopped waits for replies that are under way;
Docker kills ten seconds after its signal.
"""


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
        """The reply to a request, from the ledger or the endpoint, durable before it is returned.

        Returns:
            The call id and the reply.

        Raises:
            CallFailedError: the call failed for good; its debate decides what that means.
            LogprobsUnavailableError: the endpoint gives no token probabilities for the choices;
                other calls go on.
            RunStoppedError: budget, quota, key, or a reply missing in a replay.
            DebatePausedError: it is in a batch that has not come back, which this run does not wait
                for.
        """
        content = request.to_json(self._served_as)
        key = call_id(content, replicate)
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(
                self._answer(Call(key, request, content, replicate))
            )
            self._under_way[key].add_done_callback(lambda task: self._ended(key, task))
        entry = await asyncio.shield(self._under_way[key])
        return entry.call_id, entry.reply

    def _ended(self, key: str, task: asyncio.Task[Entry]) -> None:
        read_error(task)
        self._under_way.pop(key)
        self._client.at_server.discard(key)

    async def _answer(self, call: Call) -> Entry:
        """The stored entry of a call, else a new one; another process that makes the same call is
        waited for.
        """
        if self._replay:
            return await self._stored(call) or await self._fail_as_recorded(call)
        with self._waves.working():
            async with self._ledger.claim(call.call_id, self._waves.waiting):
                return await self._stored(call) or await self._ask_and_keep(call)

    async def _stored(self, call: Call) -> Entry | None:
        stored = await self._ledger.get(call.call_id)
        if stored is not None:
            self._progress.ledger_calls += 1
            self._progress.tick()
        return stored

    async def _ask_and_keep(self, call: Call) -> Entry:
        async with (
            self._client.slot()
        ):  # until the reply is durable: a kill then repeats `concurrency` calls at most
            try:
                reply = await self._client.complete(call)
                kept = await self._ledger.put(
                    Entry(call.call_id, self.name, call.content, call.replicate, reply)
                )
            except (CallFailedError, LogprobsUnavailableError) as error:
                wasted_usd = await self._ledger.put_failure(call.call_id, error)
                if isinstance(error, CallFailedError):
                    self._progress.failed_calls += 1
                    error.cost_usd = wasted_usd
                raise
        self._progress.new_calls += 1
        self._progress.tokens += kept.prompt_tokens + kept.completion_tokens
        self._progress.cost_usd += kept.cost_usd - kept.unusable_usd
        self._progress.tick()
        return Entry(call.call_id, self.name, call.content, call.replicate, kept)

    async def _fail_as_recorded(self, call: Call) -> NoReturn:
        """Raise the error that the call failed with when it was recorded, or that it never was."""
        if (error := await self._ledger.failure(call.call_id)) is not None:
            raise error
        server = f" served as {self._served_as}" if self._served_as else ""
        why, ask = "replay:", "Set `replay: false`"
        if self._ledger.read_only:
            why, ask = (
                "read-only:",
                "Copy the ledger to a folder that can be written, and name that as `ledger`,",
            )
        raise RunStoppedError(
            f"{why} the ledger {self._ledger.place} has no reply for a call of model"
            f" '{self.name}'{server} (call id {call.call_id}). The configuration, a prompt or the"
            f" data differ from the recorded run. {ask} to ask the model, or restore what was"
            " recorded (a model that moved: `served_as`)."
        )

    async def close(self) -> None:
        """Store the replies that are under way, as far as they come within seconds, then let go of
        the endpoint.
        """
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
        if client.stopped is not None and stopped_by is None:  # those who asked have gone
            LOG.error(
                "model '%s': a reply that was under way is not kept: %s", self.name, client.stopped
            )
        await client.close()


@asynccontextmanager
async def open_chats(
    models: dict[str, ModelConfig], ledger: Ledger, settings: Settings, progress: Progress
) -> AsyncIterator[dict[str, Chat]]:
    """The voices of a job by model name, closed at its end; a signal ends it.

    Raises:
        RunStoppedError: there was a signal.
    """
    waves = Waves()
    chats = {
        name: Chat(name, config, ledger, settings, progress, waves)
        for name, config in models.items()
    }
    with cancelled_on_signals():
        try:
            yield chats
        finally:  # all at once: while one waits for replies, another asks for no more
            await waves.close()
            closed = await asyncio.gather(
                *(chat.close() for chat in chats.values()), return_exceptions=True
            )
            for error in filter(None, closed):
                raise error
