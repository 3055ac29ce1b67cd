"""Who was asked is part of the question: two servers never share a reply, and one that moves keeps its own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import EXPERIMENT, configuration, hold, people
from fault_server import FaultServer
from moot.commands.preview import PreviewLedger
from moot.core.errors import RunStoppedError
from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat, Settings
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.identity import served_as
from moot.llm.ledger.ledger import VERSION, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Message, Request, request_to
from moot.plan.plan import Plan
from moot.workflow.digests import Stages

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


def model_at(address: str, **keys: Any) -> ModelConfig:
    return ModelConfig(model="test", base_url=address, **keys)


async def said_by(
    ledger: str, name: str, models: dict[str, ModelConfig], opened_as: type[Ledger] = Ledger, **job: Any
) -> str:
    """What the ledger, or else the model's server, says to a question of the ledger of version 1."""
    config, opened, text = models[name], opened_as(ledger), job.pop("text", "Will it rain?")
    chat = Chat(name, config, opened, Settings(models=models, **job), Progress("test", 1))
    parameters = {"max_tokens": 50, "seed": 1} | ({"context": 8192} if config.endpoint == "ollama" else {})
    try:
        return (await chat.ask(Request(config.endpoint, config.model, (Message("user", text),), parameters), 0))[1].text
    finally:
        await chat.close()
        opened.close()


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


async def test_the_address_that_is_called_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere:8000/v1")
    endpoint = OpenAIEndpoint(ModelConfig(model="test"), 1)
    assert endpoint._root == "http://elsewhere:8000/v1"
    assert served_as(ModelConfig(model="test")) == "http://elsewhere:8000/v1"
    await endpoint.close()


def test_two_servers_of_one_model_share_nothing_and_one_that_moves_keeps_its_own(
    first: FaultServer, second: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 2)
    one = configuration(first.url, tmp_path)
    statements = hold(one, cases, tmp_path / "first.parquet")["text"]
    assert statements.str.contains(FIRST).any()
    other = configuration(second.url, tmp_path)
    statements = hold(other, cases, tmp_path / "second.parquet")["text"]
    assert statements.str.contains(SECOND).any() and not statements.str.contains(FIRST).any()
    with pytest.raises(RunStoppedError, match=f"no server answers at {NOWHERE}"):
        hold(configuration(NOWHERE, tmp_path), cases, tmp_path / "third.parquet")
    asked = first.count(), second.count()
    moved = configuration(NOWHERE, tmp_path, {"served_as": f"{first.url}/"})
    hold(moved, cases, tmp_path / "moved.parquet")
    assert (tmp_path / "moved.parquet").read_bytes() == (tmp_path / "first.parquet").read_bytes()
    assert (first.count(), second.count()) == asked


def test_a_debate_between_two_servers_of_one_model(first: FaultServer, second: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 1)
    seats = {"experiment": {"params": {"seats": {"prosecutor": "other"}}}}
    config = configuration(first.url, tmp_path, **seats)
    config["models"]["other"] = {**config["models"]["test"], "base_url": second.url}
    said = hold(config, cases, tmp_path / "out.parquet")
    said = said[said["kind"].isin(["opening", "interrogation", "rebuttal", "closing"])]
    assert set(said.loc[said["speaker"] == "prosecutor", "text"]) <= {SECOND}
    assert SECOND not in set(said.loc[said["speaker"] != "prosecutor", "text"])


def test_the_digest_of_a_debate_names_its_server(tmp_path: Path) -> None:
    def digest(**model: str) -> str:
        plan = Plan.from_yaml(configuration("http://a/v1", tmp_path, model), PROJECT)
        return Stages(plan).of("run_debates", experiment=EXPERIMENT, model="test").options

    assert digest() != digest(base_url="http://b/v1")
    assert digest() == digest(base_url="http://b/v1", served_as="http://a/v1")


def test_a_model_file_that_moves_keeps_its_replies() -> None:
    """A model inside the process is known by its file; where that moves, `served_as` says where it was."""

    def asked(**keys: str) -> str:
        config = ModelConfig(endpoint="embedded", **keys)
        return request_to(config, (Message("user", "x"),), max_tokens=1, temperature=0.0, seed=1).to_json()

    assert (
        asked(model="/new/a.gguf", served_as="/old/a.gguf") == asked(model="/old/a.gguf") != asked(model="/new/a.gguf")
    )
    on_hub = {"model": "hf:org/repo:a.gguf"}
    assert asked(**on_hub, revision=40 * "a") != asked(**on_hub, revision=40 * "b")


# Ledgers that did not tell servers apart


@pytest.fixture
def earlier(tmp_path: Path) -> str:
    """A ledger that version 1 of its format was written to: two questions to each of two servers by a model 'mine'."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        connection.executescript((PROJECT / "tests" / "data" / "ledger_version_1.sql").read_text("utf-8"))
    return str(folder)


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_an_earlier_ledger_answers_the_model_that_filled_it(endpoint: str, earlier: str) -> None:
    models = {"mine": model_at(NOWHERE, endpoint=endpoint)}
    assert await said_by(earlier, "mine", models) == FIRST
    assert await said_by(earlier, "mine", models, text="Will it snow?", replay=True) == FIRST


async def test_an_earlier_ledger_answers_one_server_alone(
    earlier: str, second: FaultServer, caplog: pytest.LogCaptureFixture
) -> None:
    models = {"other": model_at(second.url), "mine": model_at(NOWHERE)}
    assert await said_by(earlier, "other", models) == SECOND
    assert "replies that model 'mine' stored before servers were told apart" in caplog.text
    assert await said_by(earlier, "mine", models) == FIRST
    assert await said_by(earlier, "other", models) == SECOND
    moved = {"mine": model_at(second.url)}
    assert await said_by(earlier, "mine", moved) == SECOND
    back = {"mine": model_at(second.url, served_as=NOWHERE)}
    assert await said_by(earlier, "mine", back) == FIRST


async def test_names_of_one_server_share_an_earlier_ledger(earlier: str) -> None:
    models = {"mine": model_at(NOWHERE), "alias": model_at(f"{NOWHERE}/")}
    assert await said_by(earlier, "alias", models) == FIRST
    with pytest.raises(RunStoppedError, match="no server answers"):
        await said_by(earlier, "stranger", {"stranger": model_at("http://127.0.0.1:8/v1")})
    with pytest.raises(RunStoppedError, match=r"no reply .* 'stranger' served as http://127"):
        await said_by(earlier, "stranger", {"stranger": model_at("http://127.0.0.1:8/v1")}, replay=True)


async def test_an_earlier_moot_does_not_open_a_ledger_that_it_cannot_read(earlier: str) -> None:
    Ledger(earlier).close()
    with closing(sqlite3.connect(Path(earlier) / "ledger.sqlite")) as connection:
        assert connection.execute("SELECT value FROM meta WHERE name = 'version'").fetchone() == (str(VERSION),)
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (4,)
    assert Ledger(earlier).spent().calls == 4


async def test_a_preview_claims_nothing(earlier: str) -> None:
    assert await said_by(earlier, "mine", {"mine": model_at(NOWHERE)}, PreviewLedger) == FIRST
    assert await said_by(earlier, "mine", {"mine": model_at("http://127.0.0.1:8/v1")}) == FIRST
