"""A chat server that fails on purpose, OpenAI-compatible and Ollama-native.

It is deterministic, and faster than its clients. The reply to a request depends on the request's
digest alone, and whether it fails on the seed, the digest and how often the request came before.
`FaultServer(...)` is a context manager, which runs it as a process of its own.

`GET /stats` tells what was asked: requests in all and by digest, faults by kind, whole replies, the
second at which each request came with its fault, and the most in flight.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web

import forks
from faulty_chat import ChatServer, Settings
from patience import PATIENCE


async def serve(settings: Settings, port: int) -> None:
    """Serve until killed; the address is the first line of the output."""
    runner = web.ServerRunner(web.Server(ChatServer(settings), access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=4096)
    await site.start()
    print(runner.addresses[0][1], flush=True)  # noqa: T201 - the parent process reads it
    await asyncio.Event().wait()


class FaultServer:
    """The server as a process of its own, for tests and benchmarks.

    >>> with FaultServer(faults=["server_error"], rate=0.3, seed=1) as server:  # doctest: +SKIP
    ...     server.url, server.stats()["requests"]
    """

    def __init__(self, port: int = 0, **settings: Any) -> None:
        python, variables = forks.python_of_a_helper()
        self._process = subprocess.Popen(
            [python, str(Path(__file__).resolve()), str(port), json.dumps(settings)],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    @property
    def url(self) -> str:
        """The base address for OpenAI's clients; Ollama's take `host`."""
        return f"{self.host}/v1"

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.host}/stats", timeout=PATIENCE) as response:
            return json.load(response)

    def count(self) -> int:
        """Return the number of requests."""
        with urllib.request.urlopen(f"{self.host}/count", timeout=PATIENCE) as response:
            return int(response.read())

    def reset(self, **settings: Any) -> None:
        """Reset the counts and change settings (`faults` is a list of kinds)."""
        request = urllib.request.Request(
            f"{self.host}/reset", data=json.dumps(settings).encode(), method="POST"
        )
        urllib.request.urlopen(request, timeout=PATIENCE).close()

    def wait_for(self, requests: int, seconds: float = PATIENCE) -> None:
        """Wait until the server has had `requests` requests."""
        address = f"{self.host}/count?at_least={requests}"
        try:
            urllib.request.urlopen(address, timeout=seconds).close()
        except TimeoutError as error:
            raise TimeoutError(f"fewer than {requests} requests in {seconds} s") from error

    def close(self) -> None:
        """Kill the server, and wait until its port is free."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            while True:  # a fork ends after the program that started it
                socket.create_connection(("127.0.0.1", self.port)).close()
                time.sleep(0.01)
        if self._process.stdout:
            self._process.stdout.close()

    def __enter__(self) -> "FaultServer":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


if __name__ == "__main__":
    asyncio.run(serve(Settings(**json.loads(sys.argv[2])), int(sys.argv[1])))
