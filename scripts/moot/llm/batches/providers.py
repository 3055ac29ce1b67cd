"""Where batches go: OpenAI's Batch API, or a folder of files that a command of the user's answers.

Such a command is `vllm run-batch`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from moot.core.durable import write_atomically
from moot.core.errors import (
    AccountError,
    CallFailedError,
    NotFoundError,
    RunStoppedError,
    TransientError,
)
from moot.core.log import LOG
from moot.core.types import Json, JsonObject
from moot.llm.endpoints.sdk import SdkEndpoint
from moot.llm.redaction import redacted, remove_keys, server_name

Result = TypeVar("Result")
_COMPLETION_WINDOW = "24h"
"""The only one that the API knows."""
_PAGE_SIZE = 100
_MAX_CLOCK_SKEW_SECONDS = 86_400.0
"""Maximum difference between the clocks of this machine and of the provider."""


class BatchProvider(Protocol):
    """Answers files of calls."""

    async def submit(self, lines: bytes, marker: str) -> str:
        """Submit a file of calls; return the batch's id."""
        ...

    async def find(self, marker: str, since: float, /) -> str:
        """Return the id of the batch submitted with this marker since then, "" without one."""
        ...

    async def withdraw(self, marker: str, since: float, /) -> None:
        """Make sure that no batch with this marker can still be created."""
        ...

    async def state(self, batch_id: str) -> "BatchState":
        """Return how far a batch is."""
        ...

    async def content(self, file: str) -> bytes:
        """Return a file of answered lines."""
        ...


def batch_line(call_id: str, path: str, body: JsonObject) -> bytes:
    """Return one call as a line of a batch's file."""
    line = {"custom_id": call_id, "method": "POST", "url": path, "body": body}
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def _file_name(marker: str) -> str:
    return f"moot-{marker}.jsonl"


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch is.

    Attributes:
        status: the provider's word: in_progress, completed, expired, cancelled, failed, ...
        files: the files of answered lines, for `content`.
        problem: why the whole batch failed.
    """

    status: str
    files: tuple[str, ...] = ()
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether no more replies will come."""
        return self.status in ("completed", "expired", "cancelled", "failed")


class OpenAIBatches:
    """The Batch API of OpenAI and of servers that speak it.

    Errors are raised as endpoints raise them.
    """

    def __init__(self, endpoint: SdkEndpoint) -> None:
        import httpx2  # a replay must not load clients
        import openai

        self._endpoint, self._client = endpoint, endpoint.client
        self._response_type, self._object_type = httpx2.Response, openai.BaseModel

    async def _call_for_object(self, action: str, operation: Awaitable[Json]) -> Json:
        """Return one of the package's objects; raise `TransientError` for any other response."""
        response = await self._call(action, operation)
        if not isinstance(response, self._object_type):
            raise TransientError(f"{action}: expected an object, found {type(response).__name__}")
        return response

    async def _call(self, action: str, operation: Awaitable[Result]) -> Result:
        """Return the result of an operation of the client; `action` names it in messages."""
        try:
            return await self._endpoint.call(operation)
        except (RunStoppedError, CallFailedError, NotFoundError) as error:
            raise AccountError(
                f"{error} (asked for a batch: {action}). Where the server has no Batch API, or the"
                " batch is another account's, take `batch` out of the model's entry: its calls are"
                " made singly."
            ) from None
        except ValueError as error:  # the package could not read the response
            raise TransientError(redacted(f"{action}: unreadable response: {error}")) from None

    async def submit(self, lines: bytes, marker: str) -> str:
        """Upload the file, then create the batch; return its id."""
        file = (_file_name(marker), lines, "application/jsonl")
        upload = self._client.files.create(file=file, purpose="batch")
        file_id = _field(await self._call_for_object("POST /files", upload), "id")
        if not file_id:
            raise TransientError("POST /files: the response names no file")
        creation = self._client.batches.create(
            input_file_id=file_id,
            endpoint=self._endpoint.batch_path,
            completion_window=_COMPLETION_WINDOW,
            metadata={"moot": marker},
        )
        batch_id = _field(await self._call_for_object("POST /batches", creation), "id")
        if not batch_id:
            raise TransientError("POST /batches: the response names no batch")
        return server_name(batch_id)

    async def find(self, marker: str, since: float, /) -> str:
        """Return the id of the batch submitted with this marker after `since`, "" without one.

        Args:
            marker: in the batch's metadata.
            since: seconds since 1970.
        """
        pages = self._client.batches.list(limit=_PAGE_SIZE)
        async for batch in self._recent("GET /batches", pages, since):
            if (_field(batch, "metadata") or {}).get("moot") == marker:
                return server_name(_field(batch, "id"))
        return ""

    async def withdraw(self, marker: str, since: float) -> None:
        """Delete the uploaded file, without which no batch can be created any more."""
        pages = self._client.files.list(limit=_PAGE_SIZE, purpose="batch")
        try:
            async for file in self._recent("GET /files", pages, since):
                if _field(file, "filename") == _file_name(marker):
                    file_id = _field(file, "id")
                    await self._call("DELETE /files", self._client.files.delete(file_id))
        except RunStoppedError as error:
            LOG.warning(
                "batch %s: its file cannot be deleted, so that it may still be created: %s",
                marker,
                error,
            )

    async def _recent(
        self, action: str, pages: Awaitable[Json], since: float
    ) -> AsyncIterator[Json]:
        """Yield the objects of a list, newest first, down to those created before `since`."""
        page = await self._call_for_object(action, pages)
        while True:
            items = _field(page, "data") or []
            for item in items:
                yield item
            oldest = (_field(items[-1], "created_at") or since) if items else 0.0
            is_last = not _field(page, "has_more") or not page.has_next_page()
            if is_last or oldest < since - _MAX_CLOCK_SKEW_SECONDS:
                return
            page = await self._call_for_object(action, page.get_next_page())

    async def state(self, batch_id: str) -> BatchState:
        """Return how far a batch is."""
        operation = self._client.batches.retrieve(batch_id)
        batch = await self._call_for_object("GET /batches", operation)
        files = [_field(batch, field) for field in ("output_file_id", "error_file_id")]
        errors = _field(_field(batch, "errors"), "data") or []
        problems = [f"{_field(error, 'code')} {_field(error, 'message')}" for error in errors]
        return BatchState(
            server_name(_field(batch, "status")),
            tuple(server_name(file) for file in files if file),
            redacted("; ".join(problems)),
        )

    async def content(self, file: str) -> bytes:
        """Return a file of answered lines.

        It may lie on another server: the package sends no key to the target of a redirect.
        """
        download = self._client.get(
            f"/files/{file}/content",
            cast_to=self._response_type,
            options={"follow_redirects": True},
        )
        response = await self._call("GET /files", download)
        content: bytes = response.content
        return content


def _field(item: Json, field: str) -> Json:
    """Return a field of one of the package's objects without keys; None if a server left it out."""
    return remove_keys(getattr(item, field, None))


class BatchFolder:
    """`{marker}.jsonl` in a folder, answered by a program that writes `{marker}.output.jsonl`."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    async def submit(self, lines: bytes, marker: str) -> str:
        """Write the file, whole or not at all; return the marker, which is the batch's id."""
        await asyncio.to_thread(write_atomically, self._folder / f"{marker}.jsonl", lines.decode())
        return marker

    async def find(self, marker: str, _since: float) -> str:
        """Return the marker if the file was written, "" otherwise."""
        return marker if (self._folder / f"{marker}.jsonl").is_file() else ""

    async def withdraw(self, _marker: str, _since: float) -> None:
        """Do nothing, since a file is written whole or not at all."""

    async def state(self, batch_id: str) -> BatchState:
        """Return how far a batch is; it is complete when all lines are answered."""
        calls = self._folder / f"{batch_id}.jsonl"
        output = self._folder / f"{batch_id}.output.jsonl"
        if not calls.is_file() and not output.is_file():
            return BatchState("failed", problem=f"there is no file {calls}")
        answer_count = _count_lines(output) if output.is_file() else 0
        if answer_count and answer_count >= _count_lines(calls):
            return BatchState("completed", (output.name,))
        return BatchState(f"{answer_count} lines answered in {output}")

    async def content(self, file: str) -> bytes:
        """Return the content of a file of answered lines."""
        return (self._folder / file).read_bytes()


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)
