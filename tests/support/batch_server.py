"""The Batch API for the fault server: /files and /batches, with delays, expiry, and files in which
lines go wrong.

What goes wrong with a line depends on the seed, the line and how often it came: `lines` names kinds
of `LINE_FAULTS`.
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
    from fault_server import ChatServer

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
    """Times in seconds and what goes wrong."""

    ends: int | None = (
        None  # how many batches, the first ones, have ended when they are looked at; None for all
    )
    upload_delay: list[float] = field(
        default_factory=list
    )  # seconds before the nth upload is answered
    create_delay: list[float] = field(
        default_factory=list
    )  # the same of the nth creation; the batch exists
    create_late: float = 0.0  # before a batch is created, whoever still waits for it
    keeps_files: bool = False  # files are neither listed nor deleted
    lines: list[str] = field(default_factory=list)  # what goes wrong with lines
    rate: float = 0.2
    status: str = (
        "completed"  # what batches end with; "expired" and "cancelled" answer half of their lines
    )
    drops: list[str] = field(
        default_factory=list
    )  # of "files", "batches": dropped once each, after the work is done
    refused: int = 0  # the HTTP status of every creation


def nth(delays: list[float], count: int) -> float:
    """The delay of the last of `count` calls; none where the list ends before it."""
    return delays[count - 1] if count <= len(delays) else 0.0


class BatchAPI:
    """Uploaded files, batches, and what was seen."""

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
        self.uploads = self.polls = self.asked = self.created = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "uploads": self.uploads,
            "polls": self.polls,
            "asked": self.asked,
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
                return self.listed(request, list(map(self.describe_batch, newest_first)))
            case "GET", "files" if not self.settings.keeps_files:
                uploaded = [
                    {"id": name, "filename": self.names[name]}
                    for name in self.files
                    if name in self.names
                ]
                return self.listed(request, uploaded[::-1])
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

    def dropped(self, kind: str, request: web.BaseRequest) -> bool:
        if kind not in self.settings.drops:
            return False
        self.settings.drops.remove(kind)
        self.chat.hung_up(request)
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
        if self.dropped("files", request):
            return web.Response()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def create(self, request: web.BaseRequest) -> web.StreamResponse:
        asked = json.loads(await request.read())
        if self.settings.refused:
            error = {"message": "batches are not for you", "code": "no_batches"}
            return web.json_response({"error": error}, status=self.settings.refused)
        assert asked["endpoint"] == "/v1/chat/completions" and asked["completion_window"] == "24h"
        self.asked += 1
        await asyncio.sleep(self.settings.create_late)
        self.created += 1
        if asked["input_file_id"] not in self.files:
            error = {"message": f"no file {asked['input_file_id']}", "code": "invalid_request"}
            return web.json_response({"error": error}, status=400)
        calls = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        assert len({call["custom_id"] for call in calls}) == len(calls)
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "created_at": int(time.time()),
            "metadata": asked.get("metadata"),
            "request_counts": {"total": len(calls)},
            "calls": calls,
            "number": len(self.batches),
        }
        self.batches[batch["id"]] = batch
        self.lines.update(call["custom_id"] for call in calls)
        await asyncio.sleep(nth(self.settings.create_delay, len(self.batches)))
        if self.dropped("batches", request):
            return web.Response()
        return web.json_response(self.describe_batch(batch))

    def listed(
        self, request: web.BaseRequest, newest_first: list[dict[str, Any]]
    ) -> web.StreamResponse:
        after = request.url.query.get("after")
        start = next((nth + 1 for nth, one in enumerate(newest_first) if one["id"] == after), 0)
        page = newest_first[start : start + 2]  # short pages, whatever limit is asked for
        return web.json_response(
            {"object": "list", "data": page, "has_more": start + 2 < len(newest_first)}
        )

    def describe_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        if (
            self.settings.ends is None or batch["number"] < self.settings.ends
        ) and "status" not in batch:
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
            kind = (
                "expired" if status != "completed" and number % 2 else self.fault(call["custom_id"])
            )
            self.answer(call, kind, output, errors)
        random.Random(batch["id"]).shuffle(output)
        for name, lines in (("output_file_id", output), ("error_file_id", errors)):
            if lines:
                batch[name] = f"{batch['id']}-{name}"
                self.files[batch[name]] = b"\n".join(lines) + b"\n"

    def fault(self, call_id: str) -> str:
        draw = random.Random(f"{call_id}/{self.lines[call_id]}")
        return (
            draw.choice(self.settings.lines)
            if self.settings.lines and draw.random() < self.settings.rate
            else ""
        )

    def answer(
        self, call: dict[str, Any], kind: str, output: list[bytes], errors: list[bytes]
    ) -> None:
        """The lines for one call, as the provider puts them into its two files."""
        body, named = (
            call["body"],
            {
                "id": f"req-{call['custom_id'][:8]}",
                "custom_id": call["custom_id"],
            },
        )
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
            errors.append(json.dumps({**named, **lines[kind]}).encode())
        if kind in ("expired", "server_error", "rate_limited", "missing"):
            return
        digest = digest_of(body)
        self.chat.stats.requests[digest] += 1
        self.chat.stats.replies[digest] += 1
        reply = json.loads(self.chat.payload("/v1/chat/completions", body, digest, ""))
        line = json.dumps(
            {**named, "response": {"status_code": 200, "body": reply}, "error": None}
        ).encode()
        output += [line, line] if kind == "duplicate" else [line]
        if kind == "unreadable":
            output[-1] = line[: len(line) // 2]
