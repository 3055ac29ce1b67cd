"""A server that speaks the protocol of the Hugging Face Hub, as far as `huggingface_hub` needs it
to fetch a file.

`ModelHub(files)` is a context manager with one public repository, `org/repo`, at one commit, and a
gated one, `org/gated`.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

COMMIT = "c0ffee" + 34 * "0"


class ModelHub:
    """The server; `requests` lists the method and path of each request."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = {
            name: (content, hashlib.sha256(content).hexdigest()) for name, content in files.items()
        }
        self.requests: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                hub._answer(self)

            def do_GET(self) -> None:
                hub._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ModelHub":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append(f"{request.command} {request.path}")
        if request.path.startswith("/api/models/org/repo"):
            self._describe(request, request.path.removeprefix("/api/models/org/repo"))
        elif request.path.startswith("/org/repo/resolve/"):
            revision, _, file = request.path.removeprefix("/org/repo/resolve/").partition("/")
            if revision != COMMIT:
                _refuse(request, 404, "RevisionNotFound")
            elif file not in self.files:
                _refuse(request, 404, "EntryNotFound")
            else:
                content, digest = self.files[file]
                _send(request, content, {"X-Repo-Commit": COMMIT, "ETag": f'"{digest}"'})
        elif request.path.startswith("/org/gated/"):
            _refuse(request, 403, "GatedRepo")
        else:
            _refuse(request, 401, "RepoNotFound")

    def _describe(self, request: BaseHTTPRequestHandler, rest: str) -> None:
        if rest.startswith("/tree/"):
            entries = [{"type": "file", "path": name, "oid": "0", "size": 1} for name in self.files]
            _send(request, json.dumps(entries).encode(), {})
        elif rest in ("/revision/main", f"/revision/{COMMIT}"):
            siblings = [{"rfilename": name} for name in self.files]
            _send(
                request,
                json.dumps({"id": "org/repo", "sha": COMMIT, "siblings": siblings}).encode(),
                {},
            )
        else:
            _refuse(request, 404, "RevisionNotFound")


def _send(
    request: BaseHTTPRequestHandler, content: bytes, headers: Mapping[str, str], status: int = 200
) -> None:
    request.send_response(status)
    for name, value in {
        "Content-Length": str(len(content)),
        "Content-Type": "application/json",
        **headers,
    }.items():
        request.send_header(name, value)
    request.end_headers()
    if request.command == "GET":
        request.wfile.write(content)


def _refuse(request: BaseHTTPRequestHandler, status: int, code: str) -> None:
    _send(request, b"{}", {"X-Error-Code": code, "X-Error-Message": code}, status)
