"""How long a call waits after a fault, and when calls end because a server has gone or refuses."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    RunStoppedError,
    ServerFaultError,
    TransientError,
)
from moot.core.model_config import WaitConfig
from moot.llm import waiting
from moot.llm.waiting import Patience, backoff_seconds

NO_WAIT = [{}, {"Retry-After": "0"}, {"retry-after-ms": "-500"}]
SHORT_WAITS = {"max_backoff": 0.05, "max_outage": 0.3}


class Scripted:
    """A server that answers with one status and body after the other, the last one for ever."""

    def __init__(self, *answers: tuple[int, Any], **headers: str) -> None:
        self.answers, self.headers = list(answers), headers

    async def __call__(self, _request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return web.json_response(body, status=status, headers=self.headers)


OK = (200, completion("openai", "It will."))


@pytest.mark.parametrize("headers", NO_WAIT, ids=str)
async def test_a_server_that_names_no_wait_is_asked_less_and_less_often(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "moot")
    busy = Scripted((429, {"error": {"message": "tokens of this minute are used up"}}), **headers)
    async with serving(busy) as server:
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


async def test_a_wait_that_the_server_requests_is_observed_after_any_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults = [(status, {}) for status in (408, 409, 425, 429, 500, 502, 503, 520, 529)]
    caplog.set_level(logging.INFO, "moot")
    async with serving(Scripted(*faults, OK, **{"Retry-After": "0.01"})) as server:
        reply = await ask_once(server, "openai", attempts=1)
    assert (reply.text, reply.attempts) == ("It will.", len(faults) + 1)
    assert caplog.text.count("as the server asks") == len(faults)


def test_pauses_reach_what_waits_says() -> None:
    for failures, seconds in [(1, 0.5), (2, 1.0), (5, 8.0), (8, 60.0), (5000, 60.0)]:
        waits = [backoff_seconds(failures) for _ in range(50)]
        assert all(0.75 * seconds <= wait <= min(1.25 * seconds, 60.0) for wait in waits)
        assert len(set(waits)) > 1


def test_a_call_waits_until_an_outage_has_lasted_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: clock[0])
    patience, pauses = Patience(WaitConfig(), attempts=6), []
    while (pause := patience.pause_after(ServerFaultError("HTTP 503"))) is not None:
        pauses.append(pause)
        clock[0] += pause
    assert max(pauses) > 45 and sum(pauses) == pytest.approx(600)
    assert Patience(WaitConfig(), 6).pause_after(ServerFaultError("busy", 599)) == 599
    patience = Patience(WaitConfig(), 6)
    assert patience.pause_after(error := ServerFaultError("busy", 86_400)) is None
    assert "asks to wait 86400 s; `waits.max_outage` is 600 s: busy" in patience.describe(error)


def test_a_reply_that_cannot_be_used_is_asked_for_some_times() -> None:
    patience = Patience(WaitConfig(), attempts=3)
    pauses = [patience.pause_after(TransientError("the reply is empty")) for _ in range(3)]
    assert [pause is None for pause in pauses] == [False, False, True]


async def test_a_quota_of_the_day_ends_the_run_with_the_words_of_the_server() -> None:
    error = {"code": 429, "message": "Daily requests are used up"}
    async with serving(Scripted((429, [{"error": error}]))) as server:
        with pytest.raises(RunStoppedError, match="HTTP 429: Daily requests are used up"):
            await ask_once(server, "openai", waits=SHORT_WAITS)


END_MESSAGE = [
    (401, {"error": "no such key"}, "model 'test': HTTP 401: no such key"),
    (402, {"message": "top up"}, "model 'test': HTTP 402: top up"),
    (404, {"detail": "no such model"}, "HTTP 404: no such model"),
    (403, {"error": {"code": "insufficient_quota", "message": "used up"}}, "HTTP 403: used up"),
    (200, {"error": {"code": 402, "message": "no credit"}}, "HTTP 402: no credit"),
]


@pytest.mark.parametrize(("status", "body", "words"), END_MESSAGE)
async def test_a_refused_account_or_unknown_model_ends_the_calls(
    status: int, body: Any, words: str
) -> None:
    async with serving(Scripted((status, body))) as server:
        with pytest.raises(RunStoppedError, match=words):
            await ask_once(server, "openai")
    assert len(server.bodies) == 1


async def test_a_later_404_is_waited_for(tmp_path: Path) -> None:
    answers = Scripted(OK, (404, {"error": "no such model"}), OK)
    async with serving(answers) as server:
        chat = server.chat(tmp_path, waits=SHORT_WAITS)
        for text in ("a", "b"):
            _, reply = await chat.ask(question(text=text), 0)
        await chat.close()
    assert reply.attempts == 2


REFUSAL_MESSAGE = [
    (400, {"error": {"message": "seed: not permitted"}}, "HTTP 400: seed: not permitted"),
    (403, {"error": "forbidden"}, "HTTP 403: forbidden"),
    (413, {}, "HTTP 413: {}"),
    (422, {"detail": "too long"}, "HTTP 422: too long"),
    (200, {"error": "Unexpected endpoint"}, "HTTP 400: Unexpected endpoint"),
    (200, {"error": {"code": 413, "message": "too long"}}, "HTTP 413: too long"),
]


@pytest.mark.parametrize(("status", "body", "words"), REFUSAL_MESSAGE)
async def test_a_refused_request_fails_and_many_in_a_row_end_the_calls(
    status: int, body: Any, words: str, tmp_path: Path
) -> None:
    refusals = [(status, body)]
    answers = Scripted(*refusals * 4, OK, *refusals * 5)
    async with serving(answers) as server:
        chat = server.chat(tmp_path, concurrency=1)
        for number in range(4):
            with pytest.raises(CallFailedError, match=words):
                await chat.ask(question(text=str(number)), 0)
        await chat.ask(question(text="answered"), 0)
        results = await asyncio.gather(
            *(chat.ask(question(text=f"{number} again"), 0) for number in range(6)),
            return_exceptions=True,
        )
        await chat.close()
    stops = [result for result in results if isinstance(result, RunStoppedError)]
    assert len(stops) == 2 and "refused 5 requests in a row: " + words in str(stops[0])
    assert len(server.bodies) == 10


async def test_replies_to_other_requests_do_not_hide_a_refused_schema(tmp_path: Path) -> None:
    refusal = (400, {"error": {"message": "response_format is not served"}})
    remedy = "if the server takes no schema, write `structured: prompted`"
    async with serving(Scripted(*[OK, refusal] * 9)) as server:
        chat = server.chat(tmp_path, concurrency=1)
        for number in range(4):
            await chat.ask(question(text=f"speech {number}"), 0)
            with pytest.raises(CallFailedError, match=remedy):
                await chat.ask(question(text=f"verdict {number}", schema={"type": "object"}), 0)
        await chat.ask(question(text="speech"), 0)
        with pytest.raises(RunStoppedError, match=remedy):
            await chat.ask(question(text="verdict", schema={"type": "object"}), 0)
        await chat.close()


async def test_an_account_without_credit_at_anthropic_ends_the_calls(tmp_path: Path) -> None:
    error = {"type": "invalid_request_error", "message": "Your credit balance is too low"}
    refusal = (400, {"type": "error", "error": error})
    async with serving(Scripted(*[refusal] * 9)) as server:
        chat = server.chat(tmp_path, "anthropic", concurrency=2)
        requests = [question("anthropic", str(number)) for number in range(9)]
        results = await asyncio.gather(
            *(chat.ask(request, 0) for request in requests), return_exceptions=True
        )
        await chat.close()
    kinds = [isinstance(result, RunStoppedError) for result in results]
    assert kinds == [False] * 4 + [True] * 5 and len(server.bodies) <= 6
    assert "HTTP 400: Your credit balance is too low" in str(results[0])


async def test_a_refusal_of_the_first_request_for_probabilities_names_them() -> None:
    refusal = (400, {"error": {"message": "top_logprobs: at most 5"}})
    async with serving(Scripted(refusal)) as server:
        with pytest.raises(LogprobsUnavailableError, match=r"no log-probabilities .*at most 5"):
            await ask_once(server, "openai", question(choices=("YES", "NO")))


async def test_a_filter_of_the_provider_is_a_refusal_of_the_case() -> None:
    error = {"code": "content_filter", "message": "The prompt was filtered"}
    async with serving(Scripted((400, {"error": error}))) as server:
        reply = await ask_once(server, "openai")
    assert (reply.text, reply.finish_reason, len(server.bodies)) == ("", "content_filter", 1)


async def test_thinking_beside_the_counted_output_is_billed() -> None:
    body = completion("openai", "It will.")
    body["usage"] = {"prompt_tokens": 36, "completion_tokens": 10, "total_tokens": 736}
    async with serving(Scripted((200, body))) as server:
        reply = await ask_once(server, "openai", price={"output": 1e6})
    assert (reply.completion_tokens, reply.cost_usd) == (700, 700)
