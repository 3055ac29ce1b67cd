"""Connections: absent servers, proxies, odd responses and certificates."""

import asyncio
import gc
import json
import re
import shlex
import ssl
import subprocess
from pathlib import Path

import pytest

from fault_server import FaultServer
from messages import refusal
from moot.core.errors import CallFailedError, RunStoppedError, UserError
from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.endpoints import ENDPOINTS
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from single_calls import ask, chat_with, make_request, open_chat

pytestmark = pytest.mark.usefixtures("short_pauses")


def self_signed(folder: Path) -> tuple[str, str]:
    """Return a certificate of desk.example.org and 127.0.0.1, and its key."""
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = shlex.split("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=desk")
    names = ["-addext", "subjectAltName=DNS:desk.example.org,IP:127.0.0.1"]
    files = ["-out", cert, "-keyout", key]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return cert, key


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_a_server_that_was_never_there_ends_the_run(endpoint: str, tmp_path: Path) -> None:
    model = ModelConfig(endpoint=endpoint, model="test", base_url="http://127.0.0.1:9/v1")
    chat = open_chat(model, tmp_path)
    with pytest.raises(RunStoppedError, match="no server answers") as caught:
        await ask(chat, make_request(endpoint=endpoint))
    assert endpoint == "ollama" or "(Connection refused)" in str(caught.value)


async def test_a_server_that_goes_away_is_waited_for(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=[])
    chat = chat_with(server, tmp_path, waits={"max_outage": 0.1})
    await chat.ask(make_request("before"), 0)
    chat._client._endpoint._address = "http://127.0.0.1:9/v1/chat/completions"
    with pytest.raises(RunStoppedError, match=r"gave up after \d+ attempts .*: Connection refused"):
        await ask(chat, make_request("after"))


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
        return open_chat(ModelConfig(**elsewhere), tmp_path / name)

    monkeypatch.setenv("http_proxy", server.host)
    assert (await ask(chat("proxy"), make_request())).text
    assert server.stats()["headers"]["Host"] == "model.invalid"
    monkeypatch.setenv("no_proxy", "model.invalid")
    with pytest.raises(RunStoppedError, match=r"no server answers at http://model\.invalid"):
        await ask(chat("exempt"), make_request())
    monkeypatch.setenv("no_proxy", "::1")
    elsewhere["base_url"] = "http://[::1]:9/v1"
    with pytest.raises(RunStoppedError, match=r"no server answers at http://\[::1\]"):
        await ask(chat("exempt"), make_request())
    monkeypatch.delenv("no_proxy")
    assert (await ask(chat_with(server, tmp_path / "own"), make_request())).text
    assert server.stats()["headers"]["Host"] != "model.invalid", "loopback needs no exemption"
    elsewhere["base_url"] = "http://model.invalid/v1"
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with refusal():
        await ask(chat("socks"), make_request())


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
        chat = open_chat(model, tmp_path)
        with pytest.raises(RunStoppedError, match=r"the proxy of HTTP_PROXY.*407.*NO_PROXY"):
            await ask(chat, make_request(endpoint=endpoint))
    (head,) = heads
    assert head.startswith(b"CONNECT model.invalid:443")
    assert b"sk-not-for-proxies" not in head


@pytest.mark.parametrize(
    ("answer", "expected_message"),
    [
        (b"302 Found\r\n", "HTTP 302: Found"),
        (
            b"302 Found\r\nlocation: https://other.example/v1\r\n",
            r"redirected to https://other\.example/v1",
        ),
        (b"407 Proxy Authentication Required\r\n", "HTTP 407"),
        (b"200 OK\r\nNo colon\r\n", "ClientResponseError: Invalid header token"),
        (
            b"200 OK\r\nPolicy: CUT",
            r": the connection was closed before the response was complete",
        ),
    ],
    ids=["found", "redirected", "proxy", "no colon", "closed in mid-headers"],
)
async def test_unusual_answers_are_described_in_plain_words(
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
        waits = {"max_outage": 0.1}
        model = ModelConfig(model="test", base_url=address, waits=waits)
        with pytest.raises((RunStoppedError, CallFailedError), match=expected_message):
            await ask(open_chat(model, tmp_path), make_request())


async def test_connections_are_closed_where_batches_of_an_earlier_run_cannot_be_looked_up(
    tmp_path: Path,
) -> None:
    answers = [
        b'200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\n{"id":"f"}',
        *[b""] * 3,  # aiohttp itself repeats a GET once
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
        model = ModelConfig(model="test", base_url=address, waits={"max_outage": 0.001}, batch={})
        for expected_part in ("gave up after 2 attempts", "HTTP 401"):
            with pytest.raises(RunStoppedError, match=expected_part):
                async with open_chats(
                    {"test": model}, Ledger(str(tmp_path)), Settings(), Progress("test", 1)
                ) as chats:
                    await chats["test"].ask(make_request(), 0)
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
            return open_chat(model, tmp_path)

        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(
            RunStoppedError, match=r"self-signed certificate.*; SSL_CERT_FILE can name"
        ):
            await ask(chat(), make_request())
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        assert (await ask(chat(), make_request())).text == "It will."


@pytest.mark.parametrize("endpoint", ["openai", "ollama", "anthropic"])
def test_certificates_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    certificates = tmp_path / "own.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates))
    config = ModelConfig(endpoint=endpoint, model="test", base_url="http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"SSL_CERT_FILE .*No such file"):
        ENDPOINTS[endpoint](config, 1)
    certificates.write_text("no certificate")
    with pytest.raises(UserError, match=r"SSL_CERT_FILE .*certificate"):
        ENDPOINTS[endpoint](config, 1)
