"""The Batch API of the fault server: /files and /batches, with delays, expiry and faulty lines.

The fault of a line depends on the seed, the line and how often it came; `lines` names kinds of
`LINE_FAULTS`.
"""

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from invented_replies import digest_of

if TYPE_CHECKING:
    from faulty_chat import ChatServer

LINE_FAULTS = [
    "expired",
    "server_error",
    "rate_limited",
    "missing",
    "duplicate",
    "duplicate_error",
    "unreadable",
]


@dataclass(slots=True)
class BatchSettings:
    """Faults of the Batch API, and times in seconds."""

    # how many batches have ended when they are polled: the first ones; None for all
    ends: int | None = None
    # before the nth upload is answered
    upload_delay: list[float] = field(default_factory=list)
    # before the nth creation is answered; the batch exists already
    create_delay: list[float] = field(default_factory=list)
    create_late: float = 0.0  # before a batch is created, even if the client no longer waits
    keeps_files: bool = False  # files are neither listed nor deleted
    lines: list[str] = field(default_factory=list)  # kinds of faults of lines
    rate: float = 0.2
    # the final status; "expired" and "cancelled" batches answer half of their lines
    status: str = "completed"
    # of "files", "batches": their connection is dropped once, after the work is done
    drops: list[str] = field(default_factory=list)
    refusal_status: int = 0  # the HTTP status of every creation; 0: they succeed


def nth(delays: list[float], count: int) -> float:
    """Return the delay of call number `count`, or 0 beyond the end of the list."""
    return delays[count - 1] if count <= len(delays) else 0.0


class BatchAPI:
    """Uploaded files, batches, and counts of requests."""

    def __init__(self, chat: "ChatServer") -> None:
        self.chat = chat
        self.settings = BatchSettings()
        self.forget()

    def forget(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.lines: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        self.sizes: list[int] = []
        self.uploads = self.polls = self.creation_requests = self.created = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "uploads": self.uploads,
            "polls": self.polls,
            "creation_requests": self.creation_requests,
            "created": self.created,
            "bytes": list(self.sizes),
            "batches": len(self.batches),
            "sizes": [batch["request_counts"]["total"] for batch in self.batches.values()],
            "lines": dict(self.lines),
        }

    async def __call__(  # noqa: PLR0911 - one a path
        self, request: web.BaseRequest
    ) -> web.StreamResponse:
        parts = request.path.removeprefix("/v1/").split("/")
        match request.method, *parts:
            case "POST", "files":
                return await self.upload(request)
            case "POST", "batches":
                return await self.create(request)
            case "GET", "batches":
                newest_first = list(reversed(self.batches.values()))
                return self.list_page(request, list(map(self.describe_batch, newest_first)))
            case "GET", "files" if not self.settings.keeps_files:
                uploaded = [
                    {"id": name, "filename": self.names[name]}
                    for name in self.files
                    if name in self.names
                ]
                return self.list_page(request, uploaded[::-1])
            case "DELETE", "files", name if name in self.files and not self.settings.keeps_files:
                del self.files[name]
                return web.json_response({"id": name, "object": "file", "deleted": True})
            case "GET", "batches", name if name in self.batches:
                self.polls += 1
                return web.json_response(self.describe_batch(self.batches[name]))
            case "GET", "files", name, "content" if name in self.files:
                return web.Response(body=self.files[name], content_type="application/jsonl")
        return web.json_response(
            {"error": {"message": f"no {request.path}", "code": "not_found"}}, status=404
        )

    def drop_connection(self, kind: str, request: web.BaseRequest) -> bool:
        if kind not in self.settings.drops:
            return False
        self.settings.drops.remove(kind)
        self.chat.hang_up(request)
        return True

    async def upload(self, request: web.BaseRequest) -> web.StreamResponse:
        form = await request.clone(client_max_size=10**9).post()
        assert form["purpose"] == "batch"
        content = form["file"].file.read()
        name = f"file-{self.uploads}"
        self.files[name], self.names[name] = content, str(form["file"].filename)
        self.sizes.append(len(content))
        self.uploads += 1
        await asyncio.sleep(nth(self.settings.upload_delay, self.uploads))
        if self.drop_connection("files", request):
            return web.Response()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def create(self, request: web.BaseRequest) -> web.StreamResponse:
        creation = json.loads(await request.read())
        if self.settings.refusal_status:
            error = {"message": "batches are not for you", "code": "no_batches"}
            return web.json_response({"error": error}, status=self.settings.refusal_status)
        assert (
            creation["endpoint"] == "/v1/chat/completions"
            and creation["completion_window"] == "24h"
        )
        self.creation_requests += 1
        await asyncio.sleep(self.settings.create_late)
        self.created += 1
        if creation["input_file_id"] not in self.files:
            error = {"message": f"no file {creation['input_file_id']}", "code": "invalid_request"}
            return web.json_response({"error": error}, status=400)
        calls = [json.loads(line) for line in self.files[creation["input_file_id"]].splitlines()]
        assert len({call["custom_id"] for call in calls}) == len(calls)
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "created_at": int(time.time()),
            "metadata": creation.get("metadata"),
            "request_counts": {"total": len(calls)},
            "calls": calls,
            "number": len(self.batches),
        }
        self.batches[batch["id"]] = batch
        self.lines.update(call["custom_id"] for call in calls)
        await asyncio.sleep(nth(self.settings.create_delay, len(self.batches)))
        if self.drop_connection("batches", request):
            return web.Response()
        return web.json_response(self.describe_batch(batch))

    def list_page(
        self, request: web.BaseRequest, newest_first: list[dict[str, Any]]
    ) -> web.StreamResponse:
        last_id = request.url.query.get("after")
        ids = [entry["id"] for entry in newest_first]
        start = ids.index(last_id) + 1 if last_id in ids else 0
        page = newest_first[start : start + 2]  # short pages, whatever limit the request has
        return web.json_response(
            {"object": "list", "data": page, "has_more": start + 2 < len(newest_first)}
        )

    def describe_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        has_ended = self.settings.ends is None or batch["number"] < self.settings.ends
        if has_ended and "status" not in batch:
            self.end(batch)
        public = {name: batch[name] for name in batch if name not in ("calls", "number")}
        return {"status": "in_progress", **public}

    def end(self, batch: dict[str, Any]) -> None:
        batch["status"] = status = self.settings.status
        if status == "failed":
            error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
            batch["errors"] = {"object": "list", "data": [error]}
            return
        output, errors = [], []
        for number, call in enumerate(batch["calls"]):
            has_expired = status != "completed" and number % 2 == 1
            kind = "expired" if has_expired else self.fault(call["custom_id"])
            self.answer(call, kind, output, errors)
        random.Random(batch["id"]).shuffle(output)
        for name, lines in (("output_file_id", output), ("error_file_id", errors)):
            if lines:
                batch[name] = f"{batch['id']}-{name}"
                self.files[batch[name]] = b"\n".join(lines) + b"\n"

    def fault(self, call_id: str) -> str:
        draw = random.Random(f"{call_id}/{self.lines[call_id]}")
        if self.settings.lines and draw.random() < self.settings.rate:
            return draw.choice(self.settings.lines)
        return ""

    def answer(
        self, call: dict[str, Any], kind: str, output: list[bytes], errors: list[bytes]
    ) -> None:
        """Add the lines of one call to the provider's two files."""
        body = call["body"]
        identity = {"id": f"req-{call['custom_id'][:8]}", "custom_id": call["custom_id"]}
        failed = {
            "status_code": 500,
            "body": {"error": {"message": "The server had an error", "code": "server_error"}},
        }
        lines = {
            "expired": {
                "response": None,
                "error": {"code": "batch_expired", "message": "not executed in time"},
            },
            "server_error": {"response": failed, "error": None},
            "rate_limited": {
                "response": {"status_code": 429, "body": {"error": {"message": "slow down"}}},
                "error": None,
            },
            "duplicate_error": {"response": failed, "error": None},
        }
        if kind in lines:
            errors.append(json.dumps({**identity, **lines[kind]}).encode())
        if kind in ("expired", "server_error", "rate_limited", "missing"):
            return
        digest = digest_of(body)
        self.chat.stats.requests[digest] += 1
        self.chat.stats.replies[digest] += 1
        reply = json.loads(self.chat.payload("/v1/chat/completions", body, digest, ""))
        line = json.dumps(
            {**identity, "response": {"status_code": 200, "body": reply}, "error": None}
        ).encode()
        output += [line, line] if kind == "duplicate" else [line]
        if kind == "unreadable":
            output[-1] = line[: len(line) // 2]
