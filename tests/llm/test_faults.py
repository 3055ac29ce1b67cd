"""moot handles each fault of a server as docs/faults.md documents, and loses no reply."""

import asyncio
import json
import re
import resource
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT
from fault_kinds import KINDS, SLOW
from fault_server import FaultServer
from moot.core.errors import (
    CallFailedError,
    LogprobsUnavailableError,
    RunStoppedError,
    ServerFaultError,
)
from moot.core.model_config import ModelConfig
from moot.llm.endpoints.anthropic import AnthropicEndpoint
from moot.llm.endpoints.faults import read_retry_after
from moot.llm.endpoints.logprobs import label_logprobs
from moot.llm.ledger.ledger import Ledger
from moot.llm.parsing.plain_text import fold_text, shorten
from moot.llm.redaction import read_key, redacted, server_name
from moot.llm.request import Message, Request
from single_calls import ask, chat_with, make_request

pytestmark = pytest.mark.usefixtures("short_pauses")

SCHEMA = {
    "type": "object",
    "properties": {
        "prediction": {"enum": ["YES", "NO"]},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["prediction", "confidence"],
    "additionalProperties": False,
}


DOCUMENTED_ACTIONS = dict(
    re.findall(
        r"^\| `(\w+)` \|.*\| ([\w ]+) \|$",
        (PROJECT / "docs/faults.md").read_text("utf-8"),
        re.MULTILINE,
    )
)


async def observe_action(server: FaultServer, folder: Path, kind: str, endpoint: str) -> str:
    """Return what moot does about a fault that occurs twice or always, and check its effects."""
    server.reset(
        faults=[kind], rate=1.0, max_faulty_attempts=2, hang=10.0, slow=6.0, retry_after=0.05
    )
    chat = chat_with(server, folder, endpoint, timeout=0.7 if kind in SLOW else 60.0)
    errors: list[Exception] = []
    wait = chat._client._wait

    async def record_error(error: Any, patience: Any) -> None:
        errors.append(error)
        await wait(error, patience)

    chat._client._wait = record_error
    try:
        reply = await ask(chat, make_request(endpoint=endpoint, schema=SCHEMA))
    except CallFailedError:
        assert server.stats()["requests"] == 1
        return "fail the call"
    except RunStoppedError as stop:
        assert server.stats()["requests"] == 1
        assert "test" in str(stop)
        return "end the calls"
    assert (
        kind in SLOW or reply.attempts == server.stats()["requests"]
    )  # a busy machine may be slow as well
    assert Ledger(str(folder)).read_totals().calls == 1
    assert kind in SLOW or reply.attempts in (1, 3)
    waits = [error.retry_after for error in errors if isinstance(error, ServerFaultError)]
    if waits:
        assert kind in SLOW or waits == [0.05 if kind.endswith("retry_after") else None] * 2
        return "wait"
    return "keep" if reply.attempts == 1 else "try again"


def test_table_names_every_fault() -> None:
    assert set(DOCUMENTED_ACTIONS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
async def test_actions_for_an_openai_compatible_server(
    kind: str, server: FaultServer, tmp_path: Path
) -> None:
    assert await observe_action(server, tmp_path, kind, "openai") == DOCUMENTED_ACTIONS[kind]


FEWER_KINDS = (
    *("rate_limited_retry_after", "server_error", "dropped_midway", "html_page"),
    *("empty", "content_filter", "packed", "insufficient_quota", "invalid_key", "model_not_found"),
)
"""One or two kinds an action: all endpoints share the code that turns faults into errors."""
# Ollama has no codes, and ends without saying that a filter did it.
OLLAMA = {**DOCUMENTED_ACTIONS, "insufficient_quota": "wait", "content_filter": "try again"}


@pytest.mark.parametrize("kind", FEWER_KINDS)
async def test_actions_for_ollama(kind: str, server: FaultServer, tmp_path: Path) -> None:
    assert await observe_action(server, tmp_path, kind, "ollama") == OLLAMA[kind]


@pytest.mark.parametrize("kind", FEWER_KINDS)
async def test_actions_for_anthropic(kind: str, server: FaultServer, tmp_path: Path) -> None:
    # Anthropic says with status 400 that the credit is used up
    expected = {**DOCUMENTED_ACTIONS, "insufficient_quota": "fail the call"}[kind]
    assert await observe_action(server, tmp_path, kind, "anthropic") == expected


async def test_anthropic_is_asked_in_its_own_words(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset(faults=[])
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    request_sent = Request(
        "anthropic",
        "test",
        (Message("system", "Be brief."), Message("user", "Will it rain? " * 9)),
        {"max_tokens": 50, "seed": 1, "temperature": 0.5, **thinking},
        SCHEMA,
    )
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.host)
    endpoint = AnthropicEndpoint(ModelConfig(endpoint="anthropic", model="test"), 1)
    reply, body = await endpoint.complete(request_sent), endpoint.body(request_sent)
    await endpoint.close()
    assert (body["system"], [message["role"] for message in body["messages"]]) == (
        "Be brief.",
        ["user"],
    )
    assert "org-of-another" not in server.stats()["headers"].values()
    assert set(json.loads(reply.text)) == {"prediction", "confidence"}
    assert (reply.finish_reason, reply.reasoning, reply.served_model) == (
        "stop",
        "Thinking.",
        "test",
    )
    assert 0 < reply.cached_tokens < reply.prompt_tokens
    with pytest.raises(LogprobsUnavailableError, match="Anthropic's API gives none"):
        await ask(
            chat_with(server, tmp_path, "anthropic"),
            make_request(endpoint="anthropic", choices=("YES", "NO")),
        )


@pytest.mark.parametrize("endpoint", ["openai", "ollama", "anthropic"])
async def test_a_server_that_answers_nothing_ends_the_run_and_is_asked_again_by_a_later_run(
    endpoint: str, server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["bad_gateway"], rate=1.0, max_faulty_attempts=0)
    waits = {"max_outage": 0.2, "max_backoff": 0.05}
    with pytest.raises(RunStoppedError, match=r"HTTP 502.*answered nothing else"):
        await ask(
            chat_with(server, tmp_path, endpoint, waits=waits), make_request(endpoint=endpoint)
        )
    assert server.stats()["requests"] >= 4
    server.reset(faults=[])
    reply = await ask(chat_with(server, tmp_path, endpoint), make_request(endpoint=endpoint))
    assert reply.attempts == 1


async def test_after_the_run_is_stopped_no_further_call_is_made(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["insufficient_quota"], rate=1.0, max_faulty_attempts=0)
    chat = chat_with(server, tmp_path, concurrency=1)
    results = await asyncio.gather(
        *(chat.ask(make_request(f"{n}"), 0) for n in range(20)), return_exceptions=True
    )
    assert all(isinstance(result, RunStoppedError) for result in results)
    assert server.stats()["requests"] == 1
    await chat.close()


async def test_a_wait_requested_by_the_server_delays_other_calls(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(
        faults=["rate_limited_retry_after"], rate=1.0, max_faulty_attempts=1, retry_after=30.0
    )
    chat = chat_with(server, tmp_path, concurrency=4)
    first = asyncio.create_task(chat.ask(make_request("first"), 0))
    while chat._client._limits._paused_until <= time.monotonic():
        await asyncio.sleep(0.01)
    second = asyncio.create_task(chat.ask(make_request("second"), 0))
    await asyncio.sleep(0.2)
    assert server.stats()["requests"] == 1
    for task in (first, second):
        task.cancel()
    await chat.close()


async def test_identical_requests_wait_for_one_call(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=[], latency=0.1)
    chat = chat_with(server, tmp_path)
    replies = await asyncio.gather(*(chat.ask(make_request("same"), 0) for _ in range(10)))
    assert len({reply.text for _, reply in replies}) == 1
    assert server.stats()["requests"] == 1
    await chat.close()
    server.reset(latency=0.0)


async def test_likelihoods_come_from_both_servers_alike(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=[])
    reply = await ask(chat_with(server, tmp_path), make_request(choices=("YES", "NO")))
    assert set(reply.logprobs) == {"YES", "NO"}
    assert all(value < 0 for value in reply.logprobs.values())
    logprobs, last = label_logprobs({" Yes": -1.0, "N": -2.0, "so": -3.0}, ("yes", "no"))
    assert (logprobs, last) == (pytest.approx({"yes": -1.0, "no": -2.0}), -3.0)
    logprobs, _ = label_logprobs({"Yes": -1.0, "No": -2.0, "so": None}, ("yes", "no"))
    assert logprobs == pytest.approx({"yes": -1.0, "no": -2.0})
    with pytest.raises(ValueError, match="null as the log-probability of 'No'"):
        label_logprobs({"Yes": -1.0, "No": None}, ("yes", "no"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "0", "retry-after": "0"}, None),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
    ],
)
def test_retry_after_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_retry_after_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert read_retry_after({"retry-after": later}) == pytest.approx(30, abs=2)


def test_messages_are_short_and_contain_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-secret")
    read_key(ModelConfig(model="test", api_key_env="A_KEY"))
    message = redacted("no\nway: key sk-sec\ue000ret at https://me:pw@host/v1 " + "x" * 5000)
    assert message.startswith("no way: key *** at https://***@host/v1 xxx")
    assert len(message) < 320
    assert shorten("two\n words") == "two words" and shorten("w" * 1000).endswith("w…")


def test_long_texts_of_servers_are_not_remembered() -> None:
    tracemalloc.start()
    for nth in range(10):
        for text_function in (redacted, server_name, fold_text):
            text_function(f"{nth} {'x' * 200_000}")
    bytes_in_use, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bytes_in_use < 1_000_000, "bytes"


async def test_half_a_character_in_a_prompt_is_sent_as_a_question_mark(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=[])
    assert (await ask(chat_with(server, tmp_path), make_request("half \ud800 of one"))).text


async def test_an_answer_far_longer_than_its_limit_fails_in_little_memory(
    server: FaultServer, tmp_path: Path
) -> None:
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for endpoint in ("openai", "ollama"):
        for kind in ("packed", "endless"):
            server.reset(faults=[kind], rate=1.0)
            with pytest.raises(CallFailedError, match=r"the response (has|is)"):
                await ask(
                    chat_with(server, tmp_path / kind, endpoint), make_request(endpoint=endpoint)
                )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_before < 300_000, "kibibytes"
