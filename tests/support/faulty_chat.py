"""The chat server of `fault_server`: its settings, counts, faults and replies."""

import asyncio
import contextlib
import json
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

import anthropic_server as anthropic
import echoes
from batch_server import BatchAPI
from fault_kinds import CONTENT, ENDLESS, packed, refusal, text_of
from invented_replies import Reply, digest_of, likelihoods, reply_to, spoilt


@dataclass(slots=True)
class Settings:
    """Kinds of fault, their share of the requests, the seed, and times in seconds."""

    faults: list[str] = field(default_factory=list)
    rate: float = 0.3
    seed: int = 0
    latency: float = 0.0
    hang: float = 3600.0
    slow: float = 5.0
    retry_after: float = 0.1
    context: int = 8192
    max_faulty_attempts: int = 0
    speech: str = ""
    fingerprints: int = 0  # versions that serve in turn; 0: replies carry no fingerprint
    alternatives: int = 0  # tokens in a list of log-probabilities; 0: only the labels
    # "given"; "left out" of replies; "refused" with status 400; "forbidden" with status 403
    logprobs: str = "given"
    content: str = ""  # the content of every reply; empty: invented
    times: int = 1  # repetitions of the content in a reply
    name_override: str = ""  # the value of every name in a reply (id, model, provider ...)
    endless: int = 1_500_000_000  # bytes of an `endless` reply, or of one `packed` by gzip
    redirect: str = ""  # the server to which every request is redirected
    max_calls: int = 0  # the next call ends the server with status 124
    echo: str = ""  # how the server repeats the key that it was sent: one of echoes.WAYS


@dataclass(slots=True)
class Stats:
    """Counts of the requests, replies and faults of the server."""

    requests: Counter[str] = field(default_factory=Counter)
    replies: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    arrivals: list[tuple[float, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)  # of the last request
    in_flight: int = 0
    peak: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "requests": self.requests.total(),
            "distinct": len(self.requests),
            "replies": self.replies.total(),
            "by_digest": dict(self.requests),
            "replies_by_digest": dict(self.replies),
            "faults": dict(self.faults),
            "arrivals": self.arrivals,
            "peak": self.peak,
            "headers": self.headers,
        }


class ChatServer:
    """The handler of all paths, with its counts."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stats = Stats()
        self.batches = BatchAPI(self)
        self.paths: dict[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]] = {
            "/v1/chat/completions": self.chat,
            "/v1/messages": self.messages,
            "/openai/v1/chat/completions": self.azure,
            "/api/chat": self.chat,
            "/v1/models": self.models,
            "/api/tags": self.models,
            "/api/show": self.show,
            "/api/version": self.version,
            "/stats": self.report,
            "/count": self.count,
            "/reset": self.reset,
        }

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        response = await (self.paths.get(request.path) or self.batches)(request)
        return self.echo_key(request, response) if self.settings.echo else response

    def echo_key(
        self, request: web.BaseRequest, response: web.StreamResponse
    ) -> web.StreamResponse:
        """Repeat the key in all texts and headers of a response."""
        key, way = echoes.key_of(request), self.settings.echo
        if not key or response.prepared or not isinstance(response, web.Response):
            return response
        body = response.body if isinstance(response.body, bytes) else b""
        of_batches = request.path.startswith(("/v1/files", "/v1/batches"))
        try:
            lines = [
                json.loads(line)
                for line in (body.splitlines() if request.path.endswith("/content") else [body])
            ]
        except ValueError:
            return echoes.with_headers(response, key)
        values = [echoes.repeat_key(line, key, way, of_batches) for line in lines]
        response.body = b"".join(echoes.as_bytes(line, key, way) + b"\n" for line in values)
        return echoes.with_headers(response, key)

    async def messages(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a call of Anthropic's API, which rejects unknown fields."""
        body = json.loads(await request.read())
        if problem := anthropic.problem_of(request, body):
            return problem
        return await self.chat(request)

    async def azure(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a call of Azure, which takes a key under one of two headers."""
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if request.headers.get("api-key") or bearer.startswith("a-key"):
            return await self.chat(request)
        error = {"message": "Access denied due to invalid subscription key", "code": "401"}
        return web.json_response({"error": error}, status=401)

    async def models(self, _request: web.BaseRequest) -> web.StreamResponse:
        models = [
            {"id": "test", "object": "model", "name": "test", "model": "test", "digest": "0" * 64}
        ]
        return web.json_response({"object": "list", "data": models, "models": models})

    async def show(self, _request: web.BaseRequest) -> web.StreamResponse:
        information = {"general.architecture": "test", "test.context_length": self.settings.context}
        return web.json_response({"details": {"family": "test"}, "model_info": information})

    async def version(self, _request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"version": "0.12.0"})

    async def report(self, _request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({**self.stats.as_json(), "batches": self.batches.as_json()})

    async def count(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the number of requests, as soon as there are `at_least` so many."""
        at_least = int(request.query.get("at_least", 0))
        while self.stats.requests.total() < at_least:
            await asyncio.sleep(0.01)
        return web.Response(text=str(self.stats.requests.total()))

    async def reset(self, request: web.BaseRequest) -> web.StreamResponse:
        """Reset the counts, and change the settings that the body names.

        Settings of batches begin with `batch_`; with `anew`, all others are those of the start.
        """
        settings = json.loads(await request.read() or b"{}")
        if settings.pop("anew", False):
            self.settings, self.batches.settings = Settings(), type(self.batches.settings)()
        if not settings.pop("keep", False):
            self.stats = Stats()
            self.batches.forget()
        for name, value in settings.items():
            of_batches = name.startswith("batch_")
            setattr(
                self.batches.settings if of_batches else self.settings,
                name.removeprefix("batch_"),
                value,
            )
        return web.json_response({})

    def fault(self, digest: str, attempt: int) -> str:
        """Return the kind of fault for this attempt, or "" for none."""
        settings = self.settings
        if not settings.faults or (
            settings.max_faulty_attempts and attempt > settings.max_faulty_attempts
        ):
            return ""
        draw = random.Random(f"{settings.seed}/{digest}/{attempt}")
        return draw.choice(settings.faults) if draw.random() < settings.rate else ""

    async def chat(self, request: web.BaseRequest) -> web.StreamResponse:
        stats = self.stats
        stats.headers = dict(request.headers)
        if self.settings.redirect:
            raise web.HTTPTemporaryRedirect(self.settings.redirect + request.path)
        body = json.loads(await request.read())
        digest = digest_of(body)
        stats.requests[digest] += 1
        if 0 < self.settings.max_calls < stats.requests.total():
            os._exit(124)
        kind = self.fault(digest, stats.requests[digest])
        if kind:
            stats.faults[kind] += 1
        stats.arrivals.append((time.monotonic(), kind))
        stats.in_flight += 1
        stats.peak = max(stats.peak, stats.in_flight)
        try:
            if self.settings.latency:
                await asyncio.sleep(self.settings.latency)
            answer = self.endless if kind in ENDLESS else self.answer
            return await answer(request, body, digest, kind)
        finally:
            stats.in_flight -= 1

    async def answer(
        self, request: web.BaseRequest, body: dict[str, Any], digest: str, kind: str
    ) -> web.StreamResponse:
        if body.get("stream"):
            return web.json_response(
                {"error": {"message": "this server does not stream"}}, status=400
            )
        if body.get("logprobs") and self.settings.logprobs in ("refused", "forbidden"):
            kind = f"logprobs_{self.settings.logprobs}"
        error = refusal(request, kind, self.settings.retry_after)
        if error is not None:
            return error
        payload = self.payload(request.path, body, digest, kind)
        if kind in ("dropped_before", "hang"):
            await asyncio.sleep(self.settings.hang if kind == "hang" else 0)
            return self.hang_up(request)
        if kind == "dropped_midway":
            response = await self.start_response(request, len(payload))
            await response.write(payload[: len(payload) // 2])
            return self.hang_up(request)
        if kind == "slow_stream":
            response = await self.start_response(request, len(payload))
            for start in range(0, len(payload), max(1, len(payload) // 10)):
                await response.write(payload[start : start + max(1, len(payload) // 10)])
                await asyncio.sleep(self.settings.slow / 10)
            self.stats.replies[digest] += 1
            return response
        if kind == "out_of_order":
            await asyncio.sleep(
                random.Random(digest).random() * max(0.05, 4 * self.settings.latency)
            )
        self.stats.replies[digest] += 1
        return web.Response(body=payload, content_type="application/json")

    async def endless(
        self, request: web.BaseRequest, body: dict[str, Any], digest: str, kind: str
    ) -> web.StreamResponse:
        payload = self.payload(request.path, body, digest, kind)
        if kind == "packed":
            return web.Response(
                body=packed(payload, self.settings.endless), headers={"Content-Encoding": "gzip"}
            )
        response = await self.start_response(request, self.settings.endless)
        with contextlib.suppress(ConnectionError):
            for _ in range(self.settings.endless >> 20):
                await response.write(payload[:1] * 2**20)
        return response

    async def start_response(self, request: web.BaseRequest, length: int) -> web.StreamResponse:
        headers = {"Content-Type": "application/json", "Content-Length": str(length)}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        return response

    def hang_up(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.transport:
            request.transport.abort()
        return web.Response()

    def payload(self, path: str, body: dict[str, Any], digest: str, kind: str) -> bytes:
        """Return the reply as the bytes of a body, in the form that belongs to the path."""
        reply = reply_to(body, digest, self.settings.speech)
        reply.content = (self.settings.content or reply.content) * self.settings.times
        if kind in CONTENT:
            reply = spoilt(reply, kind)
        form = {"/api/chat": self.ollama, "/v1/messages": anthropic.message}.get(path, self.openai)
        content = form(reply, body, digest)
        if self.settings.name_override:
            names = dict.fromkeys(
                ("id", "model", "provider", "system_fingerprint", "done_reason"),
                self.settings.name_override,
            )
            content |= {name: text for name, text in names.items() if name in content}
            for choice in content.get("choices", ()):
                choice["finish_reason"] = self.settings.name_override
        payload = json.dumps(content, ensure_ascii=False).encode()
        if kind == "broken_body":
            payload = payload[: len(payload) // 2] + b'", ]'
        if kind == "invalid_utf8":
            start = text_of(payload)
            payload = payload[:start] + b"\xff\xfe\xc3(" + payload[start:]
        return payload

    def openai(self, reply: Reply, body: dict[str, Any], digest: str) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": reply.content},
            "finish_reason": reply.finish,
            "logprobs": self.likelihoods(body, digest),
        }
        usage = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": 0},
        }
        name = {
            "id": f"chatcmpl-{digest[:12]}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
        }
        if not self.settings.fingerprints:
            return {**name, "choices": [choice], "usage": usage}
        choice["message"]["reasoning"] = "Thinking."
        usage["completion_tokens_details"] = {"reasoning_tokens": 3}
        version = self.stats.requests.total() % self.settings.fingerprints
        served = {
            "system_fingerprint": f"fp_{version}",
            "provider": "Somebody",
            "service_tier": "default",
        }
        return {**name, **served, "choices": [choice], "usage": usage}

    def likelihoods(self, body: dict[str, Any], digest: str) -> dict[str, Any] | None:
        if not body.get("logprobs") or self.settings.logprobs != "given":
            return None
        return likelihoods(body, random.Random(digest), self.settings.alternatives)

    def ollama(self, reply: Reply, body: dict[str, Any], _digest: str) -> dict[str, Any]:
        """Return a reply in Ollama's form, which silently cuts a prompt longer than num_ctx."""
        window = (body.get("options") or {}).get("num_ctx", 2048)
        return {
            "model": body.get("model"),
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": reply.content},
            "done": True,
            "done_reason": "stop" if reply.finish == "content_filter" else reply.finish,
            "total_duration": 1,
            "prompt_eval_count": min(reply.prompt_tokens, window),
            "eval_count": reply.completion_tokens,
        }
