"""Models of the Hugging Face Hub are pinned and downloaded once.

The ledger knows them by commit and checksum.
"""

import hashlib
import importlib.util
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from courtroom_runs import EXPERIMENT, MODEL, configuration, hold, people
from messages import refusal
from moot.commands.preview import preview
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.read_config import parse_config
from moot.llm.endpoints.embedded import PACKAGED, model_path
from moot.plan.plan import Plan

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
        if request.path.startswith("/org/repo/resolve/"):
            revision, _, file = request.path.removeprefix("/org/repo/resolve/").partition("/")
            if revision != COMMIT:
                _refuse(request, 404, "RevisionNotFound")
            elif file not in self.files:
                _refuse(request, 404, "EntryNotFound")
            else:
                content, digest = self.files[file]
                _send(request, content, {"X-Repo-Commit": COMMIT, "ETag": f'"{digest}"'})
        else:
            _refuse(request, 401, "RepoNotFound")


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


PROJECT = Path(__file__).resolve().parents[2]
NAME = "hf:org/repo:small.gguf"

needs_hub = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None,
    reason="huggingface_hub is not installed (the extra `hub`)",
)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelHub]:
    """A hub with the packaged model and one more file, and a cache that is empty at first."""
    packaged = model_path(ModelConfig(endpoint="embedded", model=PACKAGED)).read_bytes()
    files = {"small.gguf": packaged, "other.gguf": b"no model", "README.md": b""}
    with ModelHub(files) as running, pytest.MonkeyPatch.context() as patch:
        forget_library()
        patch.setenv("HF_ENDPOINT", running.url)
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("cache")))
        yield running
        forget_library()


def forget_library() -> None:
    """Have the library imported anew: it reads the environment once."""
    for module in [name for name in sys.modules if name.partition(".")[0] == "huggingface_hub"]:
        del sys.modules[module]


def on_hub(model: str = NAME, **keys: Any) -> ModelConfig:
    return ModelConfig(endpoint="embedded", model=model, **({"revision": COMMIT} | keys))


def asking(tmp_path: Path, **keys: Any) -> dict[str, Any]:
    """A configuration of one experiment in which a model of the hub scores labels."""
    model = {"endpoint": "embedded", "model": NAME, "base_url": None, "context": 1024, **keys}
    experiment = {"protocol": "zero_shot", "params": {"answer": "likelihood"}}
    return configuration("", tmp_path, model, experiment=experiment)


@needs_hub
def test_a_model_is_fetched_at_its_first_call_and_once(hub: ModelHub, tmp_path: Path) -> None:
    cases = people(tmp_path / "results" / "cases" / "people.parquet", 2)
    config = asking(tmp_path, revision=COMMIT)
    hub.requests.clear()
    rows = preview(Plan.from_yaml(config, PROJECT), tmp_path / "results")
    assert rows.set_index("experiment").loc[EXPERIMENT, "calls_to_make"] == 2
    assert not hub.requests
    transcripts = hold(config, cases, tmp_path / "first.parquet")
    assert transcripts["prediction"].isin(["yes", "no"]).all()
    assert hub.requests.count(f"GET /org/repo/resolve/{COMMIT}/small.gguf") == 1
    fetched = len(hub.requests)
    assert model_path(on_hub()).name == "small.gguf"
    hold(config, cases, tmp_path / "again.parquet")
    assert len(hub.requests) == fetched
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "first.parquet").read_bytes()


def test_a_model_without_a_commit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"{MODEL}\.revision: this key is missing.*/commits/main"):
        Plan.from_yaml(asking(tmp_path), PROJECT)
    with refusal():
        Plan.from_yaml(asking(tmp_path, revision="main"), PROJECT)


@needs_hub
@pytest.mark.parametrize(
    "keys", [{"model": "hf:org/repo:smal.gguf"}, {"revision": 40 * "a"}], ids=["file", "commit"]
)
def test_what_the_hub_does_not_have_is_named(hub: ModelHub, keys: dict[str, Any]) -> None:
    with refusal():
        model_path(on_hub(**keys))


@needs_hub
def test_without_a_network_the_cache_is_all(hub: ModelHub, monkeypatch: pytest.MonkeyPatch) -> None:
    model_path(on_hub())
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert model_path(on_hub()).is_file()
    with refusal():
        model_path(on_hub("hf:org/repo:third.gguf"))


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with refusal():
        model_path(on_hub())


def test_only_a_name_of_the_hub_has_a_commit() -> None:
    model = {"endpoint": "embedded", "model": PACKAGED, "revision": COMMIT}
    raw = {"seed": 1, "models": {"m": model}, "datasets": {}, "experiments": {}}
    with refusal():
        parse_config(raw)
    parse_config({**raw, "models": {"m": {"model": "hf:org/served-by-name"}}})
