"""A model server that a job starts for itself, and ends."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import RunStoppedError
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.serve_config import PORT, ServeConfig
from moot.llm.redaction import redacted

LOGS = Path("results/logs/servers")
_LOOK_SECONDS = 0.5
_GRACE_SECONDS = 10.0
_TAIL_LINES = 15
_TAIL_BYTES = 8_192
_END_WITH_US = (
    'exec 3<&0 </dev/null; (read -r _ <&3; trap "" TERM; kill -TERM 0; sleep 10; kill -KILL 0) &'
    " exec 3<&-\n"
)
"""Ends the server's process group when the job's end of the pipe closes, even if it is killed."""


class ModelServer:
    """A running server, which writes its output to `log`."""

    def __init__(self, name: str, serve: ServeConfig) -> None:
        self._name, self._serve = name, serve
        port = serve.port or _free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = LOGS / f"{name}-{socket.gethostname()}-{os.getpid()}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                [  # noqa: S607 - the shell of the user
                    "bash",
                    "-c",
                    _END_WITH_US + serve.command.replace(PORT, str(port)),
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise `RunStoppedError` if the server has ended."""
        status = self._process.poll()
        if status is not None:
            raise RunStoppedError(
                f"model '{self._name}': its server ended with status {status}.{self._tail()}"
            )

    def _tail(self) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").splitlines()[-_TAIL_LINES:]
        text = "\n".join(f"  {redacted(line)}" for line in lines) or "  (nothing)"
        return f" Correct `serve.command` and run again. The end of {self.log}:\n{text}"

    async def ready(self) -> None:
        """Wait until the server answers.

        Raises:
            RunStoppedError: it ended first, or does not answer in time.
        """
        started_at = time.monotonic()
        while not await asyncio.to_thread(self._answers):
            self.check()
            if time.monotonic() - started_at > self._serve.timeout:
                raise RunStoppedError(
                    f"model '{self._name}': its server does not answer at"
                    f" {self.url}{self._serve.health_path} within {self._serve.timeout:g} s"
                    f" (`serve.timeout`).{self._tail()}"
                )
            await asyncio.sleep(_LOOK_SECONDS)
        self.check()  # another server may answer at the same port
        LOG.info(
            "model '%s': its server at %s was ready after %.0f s",
            self._name,
            self.url,
            time.monotonic() - started_at,
        )

    def _answers(self) -> bool:
        import httpx  # a replay must not load it

        try:
            return httpx.get(
                self.url + self._serve.health_path,
                timeout=5,
                trust_env=False,
                follow_redirects=True,
            ).is_success
        except (httpx.HTTPError, httpx.InvalidURL):
            return False

    async def close(self) -> None:
        """End the server and its child processes; kill them if they do not end."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        try:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
                self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            LOG.info("model '%s': its server does not end; it is killed", self._name)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdin:
                self._process.stdin.close()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


async def serve(
    name: str, config: ModelConfig, options: ServeConfig
) -> tuple[ModelServer, ModelConfig]:
    """Start the server of a model's entry and wait until it is ready.

    Returns:
        The server, and the entry with its address.
    """
    server = await asyncio.to_thread(ModelServer, name, options)
    try:
        await server.ready()
    except BaseException:
        await server.close()
        raise
    path = endpoint_traits(config.endpoint).served_path
    return server, config.model_copy(update={"base_url": server.url + path})
