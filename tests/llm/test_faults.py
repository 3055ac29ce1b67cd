"""What a run does about every fault of a server: as the table in docs/faults.md says, and nothing
lost.
"""

import asyncio
import gc
import json
import re
import resource
import ssl
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from certificates import self_signed
from courtroom_runs import EXPERIMENT, PROJECT, configuration, hold, people
from fault_kinds import CONTENT, KINDS, SLOW, TRANSIENT
from fault_server import FaultServer
from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError, UserError
from moot.core.model_config import ModelConfig
from moot.jobs.predictions import write_predictions
from moot.llm import waiting
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.endpoints.anthropic import AnthropicEndpoint
from moot.llm.endpoints.failures import read_retry_after
from moot.llm.endpoints.logprobs import label_logprobs
from moot.llm.ledger.ledger import Ledger
from moot.llm.parsing.plain_text import fold_text
from moot.llm.progress import Progress
from moot.llm.redaction import read_key, redacted, server_name
from moot.llm.request import Message, Reply, Request
from moot.plan.plan import Plan

SCHEMA = {
    "type": "object",
    "properties": {
        "prediction": {"enum": ["YES", "NO"]},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["prediction", "confidence"],
    "additionalProperties": False,
}
DECIDED = dict(
    re.findall(
        r"^\| `(\w+)` \|.*\| ([\w ]+) \|$",
        (PROJECT / "docs/faults.md").read_text("utf-8"),
        re.MULTILINE,
    )
)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "FIRST_BACKOFF_SECONDS", 0.01)


def chat_with(server: FaultServer, folder: Path, endpoint: str = "openai", **model: Any) -> Chat:
    address = server.url if endpoint == "openai" else server.host
    config = ModelConfig(
        **{"endpoint": endpoint, "model": "test", "base_url": address, "timeout": 60.0, **model}
    )
    return Chat("test", config, Ledger(str(folder)), Settings(), Progress("test", 1))


def request(
    text: str = "Will it rain? YES or NO.", endpoint: str = "openai", **fields: Any
) -> Request:
    return Request(
        endpoint, "test", (Message("user", text),), {"max_tokens": 50, "seed": 1}, **fields
    )


async def ask(chat: Chat, request: Request) -> Reply:
    try:
        return (await chat.ask(request, 0))[1]
    finally:
        await chat.close()


async def action(server: FaultServer, folder: Path, kind: str, endpoint: str) -> str:
    """What moot does about a server that fails in one way, twice or for ever; asserts what goes
    with it.
    """
    server.reset(
        faults=[kind], rate=1.0, max_faulty_attempts=2, hang=10.0, slow=6.0, retry_after=0.05
    )
    chat = chat_with(server, folder, endpoint, timeout=1.5 if kind in SLOW else 60.0)
    waits = []
    wait_as_asked = chat._client._wait_as_asked

    async def record_wait(error: Any, failed: Any) -> None:
        waits.append(error.retry_after)
        await wait_as_asked(error, failed)

    chat._client._wait_as_asked = record_wait
    try:
        reply = await ask(chat, request(endpoint=endpoint, schema=SCHEMA))
    except CallFailedError:
        assert server.stats()["requests"] == 1
        return "fail the call"
    except RunStoppedError as stop:
        assert server.stats()["requests"] == 1
        assert "test" in str(stop)
        return "end the run"
    assert (
        kind in SLOW or reply.attempts == server.stats()["requests"]
    )  # a busy machine may be slow as well
    assert Ledger(str(folder)).read_totals().calls == 1
    assert kind in SLOW or reply.attempts in (1, 3)
    if waits:
        assert waits == ([0.05, 0.05] if kind.endswith("retry_after") else [None, None])
        return "wait"
    return "keep" if reply.attempts == 1 else "try again"


def test_table_names_every_fault() -> None:
    assert list(DECIDED) == sorted(DECIDED, key=list(DECIDED).index)
    assert set(DECIDED) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
async def test_openai_compatible_server(kind: str, server: FaultServer, tmp_path: Path) -> None:
    assert await action(server, tmp_path, kind, "openai") == DECIDED[kind]


# Ollama says that a quota is used up in words only, and ends without saying that a filter did it.
OLLAMA = {**DECIDED, "insufficient_quota": "wait", "content_filter": "try again"}


@pytest.mark.parametrize("kind", KINDS)
async def test_ollama(kind: str, server: FaultServer, tmp_path: Path) -> None:
    assert await action(server, tmp_path, kind, "ollama") == OLLAMA[kind]


@pytest.mark.parametrize("kind", KINDS)
async def test_anthropic(kind: str, server: FaultServer, tmp_path: Path) -> None:
    assert await action(server, tmp_path, kind, "anthropic") == DECIDED[kind]


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
            request(endpoint="anthropic", choices=("YES", "NO")),
        )


@pytest.mark.parametrize(
    ("name", "expected_message"),
    [("no-deployment", "DeploymentNotFound"), ("filters", "content_filter")],
)
async def test_azure_is_an_openai_compatible_server(
    name: str,
    expected_message: str,
    server: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.reset(faults=[])
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "a-key-of-azure")
    at = {"base_url": f"{server.host}/openai/v1/", "api_key_env": "AZURE_OPENAI_API_KEY"}
    reply = await ask(chat_with(server, tmp_path, **at), request(schema=SCHEMA))
    assert set(json.loads(reply.text)) == {"prediction", "confidence"}
    config = ModelConfig(model=name, **at)
    chat = Chat(name, config, Ledger(str(tmp_path)), Settings(), Progress("test", 1))
    with pytest.raises((CallFailedError, RunStoppedError), match=expected_message):
        await ask(chat, Request("openai", name, (Message("user", "Rain?"),), {"max_tokens": 50}))


@pytest.mark.parametrize("endpoint", ["openai", "ollama", "anthropic"])
async def test_a_call_fails_after_its_attempts_and_is_asked_again_by_a_later_run(
    endpoint: str, server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["bad_gateway"], rate=1.0, max_faulty_attempts=0)
    with pytest.raises(CallFailedError, match="gave up after 4 attempts: HTTP 502"):
        await ask(chat_with(server, tmp_path, endpoint, attempts=4), request(endpoint=endpoint))
    assert server.stats()["requests"] == 4
    server.reset(faults=[])
    reply = await ask(chat_with(server, tmp_path, endpoint), request(endpoint=endpoint))
    assert reply.attempts == 1


async def test_after_the_run_is_stopped_no_further_call_is_made(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["insufficient_quota"], rate=1.0, max_faulty_attempts=0)
    chat = chat_with(server, tmp_path, concurrency=1)
    results = await asyncio.gather(
        *(chat.ask(request(f"{n}"), 0) for n in range(20)), return_exceptions=True
    )
    assert all(isinstance(result, RunStoppedError) for result in results)
    assert server.stats()["requests"] == 1
    await chat.close()


async def test_a_wait_that_the_server_asked_for_holds_back_other_calls(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(
        faults=["rate_limited_retry_after"], rate=1.0, max_faulty_attempts=1, retry_after=30.0
    )
    chat = chat_with(server, tmp_path, concurrency=4)
    first = asyncio.create_task(chat.ask(request("first"), 0))
    while chat._client._limits._paused_until <= time.monotonic():
        await asyncio.sleep(0.01)
    second = asyncio.create_task(chat.ask(request("second"), 0))
    await asyncio.sleep(0.2)
    assert server.stats()["requests"] == 1
    for task in (first, second):
        task.cancel()
    await chat.close()


async def test_identical_requests_wait_for_one_call(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=[], latency=0.1)
    chat = chat_with(server, tmp_path)
    replies = await asyncio.gather(*(chat.ask(request("same"), 0) for _ in range(10)))
    assert len({reply.text for _, reply in replies}) == 1
    assert server.stats()["requests"] == 1
    await chat.close()
    server.reset(latency=0.0)


async def test_ollama_truncation_is_an_error(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=[])
    chat = chat_with(server, tmp_path, "ollama", context=256)
    long_request = Request(
        "ollama", "test", (Message("user", "word " * 2000),), {"max_tokens": 50, "context": 256}
    )
    with pytest.raises(CallFailedError, match="cut to the context of 256 tokens"):
        await ask(chat, long_request)


async def test_likelihoods_come_from_both_servers_alike(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=[])
    reply = await ask(chat_with(server, tmp_path), request(choices=("YES", "NO")))
    assert set(reply.logprobs) == {"YES", "NO"}
    assert all(value < 0 for value in reply.logprobs.values())
    logprobs, last = label_logprobs({" Yes": -1.0, "N": -2.0, "so": -3.0}, ("yes", "no"))
    assert (logprobs, last) == (pytest.approx({"yes": -1.0, "no": -2.0}), -3.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "0", "retry-after": "0"}, None),
        ({"retry-after-ms": "-500"}, None),
        ({"retry-after-ms": "0", "retry-after": "7"}, 7),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
    ],
)
def test_retry_after_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_retry_after_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert read_retry_after({"retry-after": later}) == pytest.approx(30, abs=2)


def test_messages_are_short_and_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-secret")
    read_key(ModelConfig(model="test", api_key_env="A_KEY"))
    message = redacted("no\nway: key sk-sec\ue000ret at https://me:pw@host/v1 " + "x" * 5000)
    assert message.startswith("no way: key *** at https://***@host/v1 xxx")
    assert len(message) < 320


def test_long_texts_of_servers_are_not_remembered() -> None:
    tracemalloc.start()
    for nth in range(10):
        for text_function in (redacted, server_name, fold_text):
            text_function(f"{nth} {'x' * 200_000}")
    bytes_in_use, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bytes_in_use < 1_000_000, "bytes"


# Whole experiments


def test_fifty_debates_end_alike_on_a_failing_and_a_healthy_server(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 50)
    server.reset(faults=[], latency=0.0)
    healthy = hold(
        configuration(server.url, tmp_path / "healthy"), cases, tmp_path / "healthy.parquet"
    )
    request_count = server.stats()["requests"]
    transient = [*TRANSIENT, "empty"]
    server.reset(faults=transient, rate=0.3, seed=3, max_faulty_attempts=0, retry_after=0.01)
    config = configuration(server.url, tmp_path / "failing", {"attempts": 12})
    failing = hold(config, cases, tmp_path / "failing.parquet")
    pd.testing.assert_frame_equal(failing, healthy)
    stats = server.stats()
    failures = sum(stats["faults"].values()) - stats["faults"]["out_of_order"]
    assert set(stats["faults"]) == set(transient)
    assert stats["requests"] == request_count + failures
    assert failures > 0.25 * request_count
    ledger = Ledger(config["ledger"])
    ids = [call_id for call_id in failing["call_id"] if call_id]
    assert sum(entry.reply.attempts - 1 for entry in ledger.entries(ids)) == failures
    conclusions = failing[failing["kind"] == "conclusion"]
    assert len(conclusions) == 50
    assert conclusions["prediction"].isin(["yes", "no"]).all()


def test_useless_replies_stay_what_they_are_and_fail_no_shard(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 12)
    server.reset(
        faults=[kind for kind in CONTENT if kind != "empty"],
        rate=0.6,
        seed=5,
        max_faulty_attempts=0,
    )
    config = configuration(server.url, tmp_path)
    transcripts = hold(config, cases, tmp_path / "first.parquet")
    verdicts = transcripts[transcripts["kind"] == "verdict"]
    assert {"strict", "invalid"} <= set(verdicts["parse_status"])
    assert verdicts.loc[verdicts["parse_status"] == "invalid", "prediction"].isna().all()
    request_count = server.stats()["requests"]
    replayed = hold(config, cases, tmp_path / "again.parquet")
    pd.testing.assert_frame_equal(replayed, transcripts)
    assert server.stats()["requests"] == request_count


def test_a_debate_that_fails_leaves_the_others_whole(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 12)
    server.reset(faults=["context_length"], rate=0.05, seed=2, max_faulty_attempts=0)
    config = configuration(server.url, tmp_path)
    transcripts = hold(config, cases, tmp_path / "out.parquet")
    failed = transcripts[transcripts["parse_status"] == "failed"]
    assert len(failed) == server.stats()["faults"]["context_length"] > 0
    assert failed["parsed"].str.contains("maximum context length").all()
    conclusions = transcripts[transcripts["kind"] == "conclusion"]
    assert len(conclusions) == 12
    assert conclusions["prediction"].notna().any()
    outputs = tmp_path / "predictions.parquet", tmp_path / "calls.parquet"
    write_predictions(
        Plan.from_yaml(config, PROJECT), EXPERIMENT, cases, [tmp_path / "out.parquet"], *outputs
    )
    troubled = pq.read_table(outputs[0]).to_pandas().set_index("case_id")["retries"]
    assert dict(troubled[troubled > 0]) == dict(failed["case_id"].value_counts())


def test_a_refused_key_ends_the_run_and_leaves_no_output(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 40)
    server.reset(faults=["invalid_key"], rate=1.0, max_faulty_attempts=0)
    with pytest.raises(RunStoppedError, match="Incorrect API key"):
        hold(
            configuration(server.url, tmp_path, {"concurrency": 8}), cases, tmp_path / "out.parquet"
        )
    assert server.stats()["requests"] <= 8
    assert not list(tmp_path.glob("*out.parquet*"))


def test_an_error_ends_the_run_at_once_and_not_in_turn(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 60)
    server.reset(faults=["insufficient_quota"], rate=0.02, seed=4, max_faulty_attempts=0)
    with pytest.raises(RunStoppedError, match="quota"):
        hold(
            configuration(server.url, tmp_path, {"concurrency": 4}), cases, tmp_path / "out.parquet"
        )
    stats = server.stats()
    assert stats["faults"]["insufficient_quota"] <= 4
    assert Ledger(str(tmp_path / "ledger")).read_totals().calls == stats["replies"]


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_a_server_that_was_never_there_ends_the_run(endpoint: str, tmp_path: Path) -> None:
    model = ModelConfig(endpoint=endpoint, model="test", base_url="http://127.0.0.1:9/v1")
    chat = Chat("test", model, Ledger(str(tmp_path)), Settings(), Progress("test", 1))
    with pytest.raises(RunStoppedError, match="no server answers") as caught:
        await ask(chat, request(endpoint=endpoint))
    assert endpoint == "ollama" or "(Connection refused)" in str(caught.value)


async def test_a_server_that_goes_away_is_waited_for(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=[])
    chat = chat_with(server, tmp_path, attempts=3)
    await chat.ask(request("before"), 0)
    chat._client._endpoint._address = "http://127.0.0.1:9/v1/chat/completions"
    with pytest.raises(CallFailedError, match=r"gave up after 3 attempts: Connection refused"):
        await ask(chat, request("after"))


async def test_a_proxy_of_the_environment_is_asked_unless_the_host_is_exempt(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset(faults=[])
    elsewhere = {
        "endpoint": "openai",
        "model": "test",
        "base_url": "http://model.invalid/v1",
        "attempts": 1,
    }

    def chat(name: str) -> Chat:
        return Chat(
            "test",
            ModelConfig(**elsewhere),
            Ledger(str(tmp_path / name)),
            Settings(),
            Progress("test", 1),
        )

    monkeypatch.setenv("http_proxy", server.host)
    assert (await ask(chat("proxy"), request())).text
    assert server.stats()["headers"]["Host"] == "model.invalid"
    monkeypatch.setenv("no_proxy", "model.invalid")
    with pytest.raises(RunStoppedError, match=r"no server answers at http://model\.invalid"):
        await ask(chat("exempt"), request())
    monkeypatch.setenv("no_proxy", "::1")
    elsewhere["base_url"] = "http://[::1]:9/v1"
    with pytest.raises(RunStoppedError, match=r"no server answers at http://\[::1\]"):
        await ask(chat("exempt"), request())
    monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(UserError, match=r"expected http://\.\.\., found socks5://127.0.0.1:9"):
        await ask(chat("socks"), request())


@pytest.mark.parametrize("endpoint", ["openai", "anthropic"])
async def test_a_proxy_that_refuses_is_named_and_is_not_shown_the_key(
    endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    monkeypatch.setenv("A_KEY", "sk-not-for-proxies")
    elsewhere = {
        "endpoint": endpoint,
        "model": "test",
        "base_url": "https://model.invalid/v1",
        "api_key_env": "A_KEY",
    }
    proxy = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with proxy:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        model = ModelConfig(**elsewhere, attempts=1)
        chat = Chat("test", model, Ledger(str(tmp_path)), Settings(), Progress("test", 1))
        with pytest.raises(RunStoppedError, match="the proxy: Proxy Authentication Required"):
            await ask(chat, request(endpoint=endpoint))
    (head,) = heads
    assert head.startswith(b"CONNECT model.invalid:443")
    assert b"sk-not-for-proxies" not in head


@pytest.mark.parametrize(
    ("answer", "expected_message"),
    [
        (b"302 Found\r\n", r"HTTP 302 Found\. Check `model` and `base_url`"),
        (
            b"302 Found\r\nlocation: https://other.example/v1\r\n",
            "write that address as `base_url`",
        ),
        (b"407 Proxy Authentication Required\r\n", "the password in the proxy's address"),
        (b"200 OK\r\nNo colon\r\n", "ClientResponseError: Invalid header token"),
        (
            b"200 OK\r\nPolicy: CUT",
            r": the connection was closed before the response was complete$",
        ),
    ],
    ids=["found", "redirected", "proxy", "no colon", "closed in mid-headers"],
)
async def test_odd_answers_are_said_in_plain_words(
    answer: bytes, expected_message: str, tmp_path: Path
) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write((b"HTTP/1.1 " + answer + b"Content-Length: 0\r\n\r\n").partition(b"CUT")[0])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        model = ModelConfig(model="test", base_url=address, attempts=1)
        with pytest.raises((RunStoppedError, CallFailedError), match=expected_message):
            await ask(
                Chat("test", model, Ledger(str(tmp_path)), Settings(), Progress("test", 1)),
                request(),
            )


async def test_connections_are_closed_where_batches_of_an_earlier_run_cannot_be_looked_up(
    tmp_path: Path,
) -> None:
    answers = [
        b'200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\n{"id":"f"}',
        b"",
        b"401 No\r\nContent-Length: 0\r\n\r\n",
    ]
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int((re.findall(rb"Content-Length: (\d+)", head) or [0])[0]))
        if answer := answers.pop(0):
            writer.write(b"HTTP/1.1 " + answer)
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        model = ModelConfig(model="test", base_url=address, attempts=1, batch={})
        for expected_part in ("gave up after 1 attempts", "HTTP 401"):
            with pytest.raises(RunStoppedError, match=expected_part):
                async with open_chats(
                    {"test": model}, Ledger(str(tmp_path)), Settings(), Progress("test", 1)
                ) as chats:
                    await chats["test"].ask(request(), 0)
            del chats
        gc.collect()
    assert complaints == []


async def test_a_certificate_of_no_authority_is_refused_and_can_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path)
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(certificate, key)
    reply = {"choices": [{"message": {"content": "It will."}, "finish_reason": "stop"}]}

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(reply).encode())
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0, ssl=secured)
    async with server:
        address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        model = ModelConfig(model="test", base_url=address, attempts=1)

        def chat() -> Chat:
            return Chat("test", model, Ledger(str(tmp_path)), Settings(), Progress("test", 1))

        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(
            RunStoppedError, match=r"self-signed certificate.*; SSL_CERT_FILE can name"
        ):
            await ask(chat(), request())
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        with pytest.raises(UserError, match=r"SSL_CERT_FILE .*No such file"):
            await ask(chat(), request())
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        assert (await ask(chat(), request())).text == "It will."


async def test_half_a_character_in_a_prompt_is_sent_as_a_question_mark(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=[])
    assert (await ask(chat_with(server, tmp_path), request("half \ud800 of one"))).text


async def test_an_answer_far_longer_than_its_limit_fails_in_little_memory(
    server: FaultServer, tmp_path: Path
) -> None:
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for endpoint in ("openai", "ollama"):
        for kind in ("packed", "endless"):
            server.reset(faults=[kind], rate=1.0)
            with pytest.raises(CallFailedError, match=r"the response (has|is)"):
                await ask(chat_with(server, tmp_path / kind, endpoint), request(endpoint=endpoint))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_before < 300_000, "kibibytes"


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_a_reply_too_long_is_not_kept_and_its_tokens_are_counted(
    endpoint: str, server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=[], content="x", times=2_000_000)
    chat = chat_with(server, tmp_path, endpoint, price={"input": 1.0, "output": 2.0})
    with pytest.raises(
        CallFailedError,
        match=r"2000\d\d\d characters; expected at most 1061376 for `max_tokens: 50`",
    ) as failed:
        await ask(chat, request(endpoint=endpoint))
    totals = Ledger(str(tmp_path)).read_totals()
    assert server.stats()["requests"] == 1
    assert totals.tokens > 0 and totals.usd == failed.value.cost_usd > 0
    server.reset(faults=[], content="x", times=900_000)
    reply = await ask(chat_with(server, tmp_path, endpoint), request("Other.", endpoint))
    assert len(reply.text) == 900_000
