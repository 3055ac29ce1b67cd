"""How long a call waits after a failure, and when a run ends because a server has gone."""

import asyncio
import logging
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError, RateLimitedError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.core.wait_config import WaitConfig
from moot.llm import waiting
from moot.llm.waiting import Outage, backoff_seconds, rate_limit_seconds

NO_WAIT = [
    {},
    {"Retry-After": "0"},
    {"Retry-After": "-5"},
    {"Retry-After": "soon"},
    {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
    {"retry-after-ms": "0", "Retry-After": "0"},
    {"retry-after-ms": "-500"},
]


@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize("headers", NO_WAIT, ids=str)
async def test_a_server_that_names_no_wait_is_asked_less_and_less_often(
    status: int, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        error = {"error": {"message": "tokens of this minute are used up"}}
        return web.json_response(error, status=status, headers=headers)

    caplog.set_level(logging.INFO, "moot")
    async with serving(answer) as server:
        task = asyncio.create_task(ask_once(server, "openai"))
        while not server.bodies:
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert len(server.bodies) in (2, 3)  # after half a second and a second
    assert "as the server asks" not in caplog.text
    assert "tokens of this minute are used up" in caplog.text
    assert any(getattr(record, "progress", False) for record in caplog.records)


async def test_a_wait_that_the_server_requests_is_observed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    statuses = [503, 429, 529, 200]

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        status, body = statuses.pop(0), completion("openai", "It will.")
        return web.json_response(body, status=status, headers={"Retry-After": "0.01"})

    caplog.set_level(logging.INFO, "moot")
    async with serving(answer) as server:
        reply = await ask_once(server, "openai", attempts=1)
    assert (reply.text, reply.attempts) == ("It will.", 4)
    assert caplog.text.count("as the server asks") == 3


async def test_a_call_fails_when_its_waits_are_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "FIRST_BACKOFF_SECONDS", 0.05)

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({"error": "busy"}, status=429)

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match=r"`waits.max_total`\): HTTP 429 busy"):
            await ask_once(server, "openai", waits={"max_total": 0.3, "max_backoff": 0.1})
    assert 3 <= len(server.bodies) <= 7


@pytest.mark.parametrize(
    ("requested", "seconds"), [(0.5, 0.5), (60, 60), (299, 299), (301, 300), (3599, 300)]
)
def test_waits_that_the_server_names_have_a_maximum(requested: float, seconds: float) -> None:
    error = RateLimitedError("busy", requested)
    assert rate_limit_seconds("m", error, 1, WaitConfig(max_requested=300)) == seconds


def test_a_server_that_asks_for_too_long_a_wait_ends_the_run() -> None:
    waits = WaitConfig(max_total=1800)
    with pytest.raises(RunStoppedError, match=r"wait 86400 s .*`waits.max_total` is 1800 s"):
        rate_limit_seconds("m", RateLimitedError("busy", 86_400), 1, waits)


def test_waits_double_up_to_their_maximum() -> None:
    for failures, seconds in [(1, 0.5), (2, 1.0), (5, 8.0), (8, 60.0), (5000, 60.0)]:
        waits = [backoff_seconds(failures) for _ in range(50)]
        assert all(0.75 * seconds <= wait <= min(1.25 * seconds, 60.0) for wait in waits)
        assert len(set(waits)) > 1
    assert ModelConfig(model="m", waits={"max_backoff": 2}).waits.max_requested == 600


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    time_cell = [1000.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: time_cell[0])
    return time_cell


@pytest.mark.parametrize(
    ("failures", "seconds_apart", "ends"),
    [(29, 60.0, False), (30, 5.0, False), (30, 10.4, True), (200, 1.0, False), (302, 1.0, True)],
)
def test_a_run_ends_after_minutes_and_many_failures(
    clock: list[float], failures: int, seconds_apart: float, ends: bool
) -> None:
    outage = Outage()
    for _ in range(failures):
        started_at = clock[0]
        clock[0] += seconds_apart
        outage.add_failure(started_at)
    if not ends:
        outage.check("m", RateLimitedError("the day's quota is used up"), 300.0)
        return
    with pytest.raises(RunStoppedError, match=r"the day's quota is used up\. Check the server"):
        outage.check("m", RateLimitedError("the day's quota is used up"), 300.0)


def test_calls_that_fail_together_are_one_failure(clock: list[float]) -> None:
    outage = Outage()
    for _ in range(40):
        started_at = clock[0]
        clock[0] += 20.0
        for _call in range(64):
            outage.add_failure(started_at)
    assert outage.failures == 40
    outage.add_success()
    outage.add_failure(clock[0])
    assert outage.failures == 1


async def test_a_quota_of_the_day_ends_the_run_with_the_words_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in [
        ("FIRST_BACKOFF_SECONDS", 0.001),
        ("MIN_OUTAGE_FAILURES", 5),
    ]:
        monkeypatch.setattr(waiting, name, value)

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        error = {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "Daily requests are used up",
        }
        return web.json_response([{"error": error}], status=429)

    async with serving(answer) as server:
        with pytest.raises(RunStoppedError, match="RESOURCE_EXHAUSTED Daily requests are used up"):
            await ask_once(
                server, "openai", question(), waits={"max_backoff": 0.05, "max_outage": 0.1}
            )
