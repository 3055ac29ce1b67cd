"""Where batches go: OpenAI's Batch API, or a folder whose files a command of the user's answers
(`vllm run-batch`).
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from moot.core.durable import write_whole
from moot.core.errors import CallFailedError, RunStoppedError, TransientError
from moot.core.log import LOG
from moot.core.types import Json, JsonObject
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.redaction import name, redacted, without_keys
from moot.llm.request import Request

_URL = "/v1/chat/completions"
_WINDOW = "24h"  # the only one that the API knows
_PAGE = 100
_CLOCK_SECONDS = 86_400.0
"""How far apart the clocks of this machine and of the provider may be, for looking a batch up by
its age.
"""
_LARGEST_FILE = 2**30
"""Of answered lines, in bytes: some ten times what a batch may hold."""


def line_of(call_id: str, body: JsonObject) -> bytes:
    """One call of a batch's file."""
    line = {"custom_id": call_id, "method": "POST", "url": _URL, "body": body}
    return (
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        + b"\n"
    )


def _file_name(marker: str) -> str:
    return f"moot-{marker}.jsonl"


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch is.

    Attributes:
        status: as the provider says: in_progress, completed, expired, cancelled, failed, ...
        files: what `content` gives the answered lines of.
        problem: why the batch failed as a whole.
    """

    status: str
    files: tuple[str, ...] = ()
    problem: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ("completed", "expired", "cancelled", "failed")


class OpenAIBatches:
    """The Batch API of OpenAI and of servers that speak it.

    Faults are raised as endpoints raise them.
    """

    def __init__(self, endpoint: OpenAIEndpoint, model: str) -> None:
        self._endpoint, self._about = endpoint, Request("openai", model, (), {})

    async def _ask(self, method: str, path: str, **content: Json) -> bytes:
        try:
            return await self._endpoint.exchange(
                method, path, self._about, _LARGEST_FILE, **content
            )
        except (RunStoppedError, CallFailedError) as error:
            raise RunStoppedError(
                f"{error} (asked for a batch: {method} /{path.partition('?')[0]}). Where the server"
                " has no Batch API, or the batch is another account's, take `batch` out of the"
                " model's entry: its calls are made singly."
            ) from None

    async def _object(self, method: str, path: str, **content: Json) -> JsonObject:
        answer = await self._ask(method, path, **content)
        try:
            found = without_keys(json.loads(answer))
        except ValueError as error:
            raise TransientError(redacted(f"unreadable answer: {error}")) from None
        if not isinstance(found, dict):
            raise TransientError(
                f"{method} /{path}: expected an object, found {type(found).__name__}"
            )
        return found

    async def submit(self, lines: bytes, marker: str) -> str:
        """Upload the file, then create the batch; its id."""
        import aiohttp  # a replay must not load clients

        form = aiohttp.FormData({"purpose": "batch"})
        form.add_field("file", lines, filename=_file_name(marker), content_type="application/jsonl")
        uploaded = await self._object("POST", "files", data=form)
        batch = {
            "input_file_id": uploaded.get("id"),
            "endpoint": _URL,
            "completion_window": _WINDOW,
        }
        created = await self._object(
            "POST", "batches", json={**batch, "metadata": {"moot": marker}}
        )
        if not created.get("id"):
            raise TransientError("POST /batches: the answer names no batch")
        return name(created["id"])

    async def find(self, marker: str, since: float) -> str:
        """The id of the batch submitted with this marker after `since` (seconds since 1970); "" if
        none was.
        """
        async for batch in self._listed("batches", since):
            if (batch.get("metadata") or {}).get("moot") == marker:
                return name(batch["id"])
        return ""

    async def withdraw(self, marker: str, since: float) -> None:
        """Delete the uploaded file, without which no batch can be created any more."""
        try:
            async for file in self._listed("files", since, "&purpose=batch"):
                if file.get("filename") == _file_name(marker):
                    await self._object("DELETE", f"files/{file['id']}")
        except RunStoppedError as error:
            LOG.warning(
                "batch %s: its file cannot be deleted, so that it may still be created: %s",
                marker,
                error,
            )

    async def _listed(self, path: str, since: float, more: str = "") -> AsyncIterator[JsonObject]:
        """What the account has, newest first, down to what was made before `since`."""
        after = ""
        while True:
            page = await self._object(
                "GET", f"{path}?limit={_PAGE}{more}" + (f"&after={after}" if after else "")
            )
            listed = page.get("data") or []
            for one in listed:
                yield one
            too_old = not listed or (listed[-1].get("created_at") or since) < since - _CLOCK_SECONDS
            if too_old or not page.get("has_more"):
                return
            after = str(listed[-1]["id"])

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        batch = await self._object("GET", f"batches/{batch_id}")
        status = name(batch.get("status"))
        files = tuple(
            name(batch[key]) for key in ("output_file_id", "error_file_id") if batch.get(key)
        )
        faults = (batch.get("errors") or {}).get("data") or []
        problem = "; ".join(f"{fault.get('code')} {fault.get('message')}" for fault in faults)
        return BatchState(status, files, redacted(problem))

    async def content(self, file: str) -> bytes:
        """A file of answered lines."""
        return await self._ask("GET", f"files/{file}/content")


class BatchFolder:
    """`{marker}.jsonl` in a folder, answered by a program that writes `{marker}.output.jsonl` next
    to it.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    async def submit(self, lines: bytes, marker: str) -> str:
        """Write the file, whole or not at all; its id is the marker."""
        await asyncio.to_thread(write_whole, self._folder / f"{marker}.jsonl", lines.decode())
        return marker

    async def find(self, marker: str, _since: float) -> str:
        """Whether the file was written."""
        return marker if (self._folder / f"{marker}.jsonl").is_file() else ""

    async def withdraw(self, _marker: str, _since: float) -> None:
        """Nothing is on its way: the file is there or it is not."""

    async def state(self, batch_id: str) -> BatchState:
        """Whether as many lines were answered as asked: the output may be written while it is read."""
        asked, output = (
            self._folder / f"{batch_id}{ending}" for ending in (".jsonl", ".output.jsonl")
        )
        if not asked.is_file() and not output.is_file():
            return BatchState("failed", problem=f"there is no file {asked}")
        answered = _lines(output) if output.is_file() else 0
        if answered and answered >= _lines(asked):
            return BatchState("completed", (output.name,))
        return BatchState(f"{answered} lines answered in {output}")

    async def content(self, file: str) -> bytes:
        """Read the file."""
        return (self._folder / file).read_bytes()


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)
