"""Responses that a server or a gateway compresses are read, even small ones."""

import json
import zlib

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, serving
from moot.core.errors import RunStoppedError

TEXT = "It will rain, since the barometer falls. " * 40


def _compress(content: bytes, window_bits: int) -> bytes:
    compressor = zlib.compressobj(wbits=window_bits)
    return compressor.compress(content) + compressor.flush()


BODIES = {
    "identity": lambda content: content,
    "gzip": lambda content: _compress(content, 31),
    "x-gzip": lambda content: _compress(content[:99], 31) + _compress(content[99:], 31),
    "deflate": lambda content: _compress(content, 15),
}


@pytest.mark.parametrize("encoding", BODIES)
@pytest.mark.parametrize("endpoint", ["openai", "ollama", "anthropic"])
async def test_a_compressed_reply_is_read(endpoint: str, encoding: str) -> None:
    body = BODIES[encoding](json.dumps(completion(endpoint, TEXT)).encode())

    async def answer(request: web.Request, _body: dict) -> web.Response:
        return web.Response(
            body=body,
            headers={"Content-Encoding": encoding},
            content_type="application/json",
        )

    async with serving(answer) as server:
        assert (await ask_once(server, endpoint)).text == TEXT


@pytest.mark.parametrize(
    ("encoding", "content", "message"),
    [
        ("br", b"....", "cannot be decompressed"),
        ("gzip", b"not gzip at all", "cannot be decompressed"),
        ("gzip", _compress(b"{}" * 999, 31)[:-12], "ends before its compressed body is complete"),
    ],
    ids=["unknown", "broken", "cut"],
)
async def test_a_body_that_cannot_be_decompressed_fails_the_call(
    encoding: str, content: bytes, message: str
) -> None:
    async def answer(request: web.Request, _body: dict) -> web.Response:
        return web.Response(body=content, headers={"Content-Encoding": encoding})

    async with serving(answer) as server:
        with pytest.raises(RunStoppedError, match=message):
            await ask_once(server, "openai", waits={"max_outage": 0.1})
