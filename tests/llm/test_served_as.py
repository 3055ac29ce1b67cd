"""The server is part of the key of a reply.

Two servers never share a reply, and a server that moves keeps its replies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import EXPERIMENT, configuration, hold, people
from declared_jobs import declared_jobs
from fault_server import FaultServer
from moot.core.errors import RunStoppedError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints.openai import OpenAIEndpoint, _read_origin
from moot.llm.identity import served_as
from moot.llm.request import Message, request_to
from moot.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("short_pauses")

PROJECT = Path(__file__).resolve().parents[2]
FIRST, SECOND = "As the first server says.", "The second server says otherwise."
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def first() -> Iterator[FaultServer]:
    with FaultServer(speech=FIRST) as running:
        yield running


@pytest.fixture(scope="module")
def second() -> Iterator[FaultServer]:
    with FaultServer(speech=SECOND) as running:
        yield running


@pytest.mark.parametrize(
    ("keys", "identity"),
    [
        ({"base_url": "http://localhost:8000/v1"}, "http://localhost:8000/v1"),
        ({"served_as": "HTTPS://me:secret@Host:443/v1/?key=secret#x"}, "https://host/v1"),
        ({"base_url": "http://[::1]:80/v1"}, "http://[::1]/v1"),
        ({}, "https://api.openai.com/v1"),
        ({"endpoint": "ollama"}, "http://localhost:11434"),
        ({"endpoint": "ollama", "base_url": "gpu-3"}, "http://gpu-3:11434"),
        ({"endpoint": "embedded"}, ""),
        ({"base_url": "http://b/v1", "served_as": "http://a/v1/"}, "http://a/v1"),
        ({"base_url": "http://b/v1", "served_as": "vllm-fp16"}, "vllm-fp16"),
    ],
)
def test_the_identity_is_declared_or_the_address(
    keys: dict[str, Any], identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    assert served_as(ModelConfig(model="test", **keys)) == identity


async def test_the_address_that_is_called_is_the_one_that_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere:8000/v1")
    endpoint = OpenAIEndpoint(ModelConfig(model="test"), 1)
    assert str(endpoint.client.base_url) == "http://elsewhere:8000/v1/"
    assert served_as(ModelConfig(model="test")) == "http://elsewhere:8000/v1"
    await endpoint.close()


def test_two_servers_of_one_model_share_no_replies_and_a_moved_server_keeps_its_replies(
    first: FaultServer, second: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 2)
    first_config = configuration(first.url, tmp_path)
    statements = hold(first_config, cases, tmp_path / "first.parquet")["text"]
    assert statements.str.contains(FIRST).any()
    second_config = configuration(second.url, tmp_path)
    statements = hold(second_config, cases, tmp_path / "second.parquet")["text"]
    assert statements.str.contains(SECOND).any() and not statements.str.contains(FIRST).any()
    with pytest.raises(RunStoppedError, match=f"no server answers at {NOWHERE}"):
        hold(configuration(NOWHERE, tmp_path), cases, tmp_path / "third.parquet")
    request_counts = first.count(), second.count()
    moved = configuration(NOWHERE, tmp_path, {"served_as": f"{first.url}/"})
    hold(moved, cases, tmp_path / "moved.parquet")
    assert (tmp_path / "moved.parquet").read_bytes() == (tmp_path / "first.parquet").read_bytes()
    assert (first.count(), second.count()) == request_counts


def test_the_digest_of_a_debate_names_its_server(tmp_path: Path) -> None:
    def digest(**model: str) -> str:
        plan = Plan.from_yaml(configuration("http://a/v1", tmp_path, model), PROJECT)
        return declared_jobs(plan).of("run_debates", experiment=EXPERIMENT, model="test").options

    assert digest() != digest(base_url="http://b/v1")
    assert digest() == digest(base_url="http://b/v1", served_as="http://a/v1")


def test_a_model_file_that_moves_keeps_its_replies() -> None:
    """A model inside the process is known by its file.

    Where that moves, `served_as` says where it was.
    """

    def server_id(**keys: str) -> str:
        config = ModelConfig(endpoint="embedded", **keys)
        return request_to(
            config, (Message("user", "x"),), max_tokens=1, temperature=0.0, seed=1
        ).to_json()

    assert (
        server_id(model="/new/a.gguf", served_as="/old/a.gguf")
        == server_id(model="/old/a.gguf")
        != server_id(model="/new/a.gguf")
    )
    on_hub = {"model": "hf:org/repo:a.gguf"}
    assert server_id(**on_hub, revision=40 * "a") != server_id(**on_hub, revision=40 * "b")


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("/home/me/models/some.gguf", "some.gguf"),
        (r"C:\models\some.gguf", "some.gguf"),
        ("org/some-model", "org/some-model"),
        ("some.gguf", "some.gguf"),
        ("./models/some.gguf", "./models/some.gguf"),
        ("", ""),
    ],
)
def test_a_served_model_names_no_folder_of_the_servers_disk(name: str, served: str) -> None:
    assert _read_origin({"model": name})["served_model"] == served
