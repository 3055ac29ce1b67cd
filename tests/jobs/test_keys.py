"""No file of a run holds a key, and a key is sent only to the server of its own entry."""

import json
import logging
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from ollama import ListResponse
from pydantic import ValidationError

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people, start_job
from fault_server import FaultServer
from messages import refusal
from moot.core.errors import CallFailedError, RunStoppedError, UserError
from moot.core.log import job_log
from moot.core.model_config import ModelConfig
from moot.jobs.predictions import write_predictions
from moot.llm import redaction, waiting
from moot.llm.batches.providers import OpenAIBatches
from moot.llm.chat import Settings, open_chats
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.ollama import OllamaEndpoint
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.ledger.database import DamagedError
from moot.llm.ledger.ledger import Ledger, decompress
from moot.llm.progress import Progress
from moot.llm.redaction import REMOVED
from moot.llm.request import Message, Request
from moot.plan.plan import Plan
from moot.scores.results import ExperimentResults
from patience import PATIENCE
from single_calls import ask, chat_with, make_request

KEY = "sk-planted-0123456789abcdef"
VARIABLE = "PLANTED_KEY"


def texts_of(path: Path) -> Iterator[str]:
    """Yield the name and all contents of a file: as bytes, and decoded."""
    yield path.name
    yield path.read_bytes().decode("utf-8", "replace")
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        yield str(table.schema.metadata)
        yield json.dumps(table.to_pylist(), default=str, ensure_ascii=False)
    elif path.suffix == ".sqlite":
        with sqlite3.connect(path) as ledger:
            for (name,) in list(
                ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ):
                for row in ledger.execute(f"SELECT * FROM {name}"):
                    for value in row:
                        yield str(value)
                        with suppress(DamagedError, TypeError):
                            yield decompress(value)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as members:
            for member in members.namelist():
                yield member
                yield members.read(member).decode("utf-8", "replace")


def decode_key(text: str) -> str:
    """Return a text with hidden and escaped spellings of the key made plain."""
    escapes = "".join(f"\\u{ord(character):04x}" for character in KEY)
    return text.replace("\u200b", "").replace(r"\u200b", "").replace(escapes, KEY)


def files_with(text: str, folder: Path) -> list[str]:
    """Return the files below a folder that contain a text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if text in "\n".join(map(decode_key, texts_of(path)))]


@pytest.fixture(autouse=True)
def plant_key(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setattr(redaction, "_WARNED", [])
    monkeypatch.setattr(waiting, "FIRST_BACKOFF_SECONDS", 0.01)
    server.reset(faults=[], fingerprints=1, batch_ends=None)
    yield
    server.reset(faults=[], fingerprints=0, echo="", max_faulty_attempts=0)


def write_everything(config: dict[str, Any], folder: Path, cases: Path) -> ExperimentResults:
    """Write the results of a run from debates to exports into a folder."""
    results = folder / "results"
    shard = results / "transcripts" / EXPERIMENT / MODEL / "0.parquet"
    shard.parent.mkdir(parents=True)
    (results / "cases").mkdir()
    cases_file = results / "cases" / "people.parquet"
    cases_file.write_bytes(cases.read_bytes())
    with job_log(folder / "job.log"):
        hold(config, cases_file, shard)
    plan = Plan.from_yaml(config, PROJECT)
    predictions, calls = (
        results / kind / EXPERIMENT / f"{MODEL}.parquet" for kind in ("predictions", "calls")
    )
    write_predictions(
        plan.config, plan.experiments[EXPERIMENT], cases_file, [shard], predictions, calls
    )
    return ExperimentResults(results, EXPERIMENT, plan.view(EXPERIMENT), 1)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people(tmp_path_factory.mktemp("cases") / "people.parquet", 2)


HOST_ENDPOINTS = ("ollama", "anthropic")
MODELS = {
    "openai": {},
    "openai in batches": {"batch": {"poll_seconds": 0.02}},
    "ollama": {"endpoint": "ollama"},
    "anthropic": {"endpoint": "anthropic"},
}


@pytest.mark.parametrize(
    ("model_name", "way"),
    [
        *(("openai", way) for way in ("plain", "escaped", "hidden")),
        *((name, "plain") for name in MODELS if name != "openai"),
    ],
)
def test_a_key_that_a_server_repeats_is_in_no_file(
    model_name: str, way: str, server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    server.reset(echo=way)
    model = {
        "api_key_env": VARIABLE,
        "base_url": server.host if model_name in HOST_ENDPOINTS else server.url,
        **MODELS[model_name],
    }
    config = configuration(server.url, tmp_path, model)
    experiment = write_everything(config, tmp_path, cases)
    assert files_with(KEY, tmp_path) == []
    assert files_with("person-0000", tmp_path), "the search itself works"
    openings = experiment.transcripts[experiment.transcripts["kind"] == "opening"]["text"]
    assert openings.str.contains(REMOVED, regex=False).all() and len(openings) == 4
    calls = experiment.calls
    assert calls["reply"].str.contains(REMOVED, regex=False).all()
    columns = [
        "served_model",
        "provider",
        "system_fingerprint",
        "service_tier",
        "response_id",
        "finish_reason",
    ]
    assert model_name == "ollama" or calls["served_model"].str.contains("***", regex=False).all()
    assert (
        calls[columns].map(lambda value: len(value) <= 200 and value.isprintable()).all(axis=None)
    )
    assert f"a reply's text says {REMOVED}" in (tmp_path / "job.log").read_text()
    with pytest.MonkeyPatch.context() as environment:  # the ledger holds no key
        environment.delenv(VARIABLE)
        replayed = hold({**config, "replay": True}, cases, tmp_path / "again.parquet")
    assert list(replayed["text"]) == list(experiment.transcripts["text"])


@pytest.mark.parametrize(
    ("endpoint", "kind"),
    [
        *product(["openai"], ["server_error", "rate_limited", "invalid_key"]),
        ("ollama", "context_length"),
        ("anthropic", "model_not_found"),
    ],
)
def test_a_key_in_a_servers_error_is_in_no_file(
    endpoint: str, kind: str, server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    attempts = 3 if kind == "rate_limited" else 0
    server.reset(echo="escaped", faults=[kind], rate=1.0, max_faulty_attempts=attempts)
    waits = {"max_outage": 2.0 if kind == "rate_limited" else 0.05}
    model = {"endpoint": endpoint, "api_key_env": VARIABLE, "waits": waits}
    model |= {"base_url": server.host if endpoint in HOST_ENDPOINTS else server.url}
    config = configuration(server.url, tmp_path, model)
    try:
        write_everything(config, tmp_path, cases)
    except SystemExit:
        assert kind in ("invalid_key", "model_not_found", "server_error", "context_length")
    log = (tmp_path / "job.log").read_text()
    assert "***" in log or REMOVED in log or files_with("***", tmp_path)
    assert files_with(KEY, tmp_path) == []


@pytest.mark.parametrize("endpoint", ["openai", *HOST_ENDPOINTS])
async def test_a_key_in_place_of_a_number_is_in_no_message_and_no_reply(
    endpoint: str, server: FaultServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.reset(echo="numbers")
    address = server.host if endpoint in HOST_ENDPOINTS else server.url
    model = ModelConfig(
        endpoint=endpoint, model="test", base_url=address, api_key_env=VARIABLE, attempts=2
    )
    ledger = Ledger(str(tmp_path))
    request = Request(endpoint, "test", (Message("user", "Rain?"),), {"max_tokens": 5})
    with caplog.at_level(logging.INFO, "moot"):
        async with open_chats({"test": model}, ledger, Settings(), Progress("test", 1)) as chats:
            try:
                outcome = repr(await chats["test"].ask(request, 0))
            except CallFailedError as failure:
                outcome = str(failure)
    ledger.close()
    messages = "".join(record.getMessage() for record in caplog.records if record.name == "moot")
    assert server.count(), "the server's replies had the key in their numbers"
    assert KEY not in outcome + messages
    assert files_with(KEY, tmp_path) == []


def test_a_key_that_a_library_shortens_is_in_no_message() -> None:
    redaction.read_key(ModelConfig(model="test", api_key_env=VARIABLE))
    with pytest.raises(ValidationError) as error:
        ListResponse(id=f"{KEY} {KEY}", object="x" * 100)
    assert KEY[:15] in str(error.value), "pydantic shows the beginning of what it was given"
    assert KEY[:12] not in redaction.redacted(error.value)


def test_the_message_of_a_rejected_batch_contains_no_key(
    server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    server.reset(echo="plain", batch_status="failed")
    model = {"api_key_env": VARIABLE, "batch": {"poll_seconds": 0.02}, "attempts": 2}
    with pytest.raises(
        RunStoppedError, match=r"was refused: token_limit_exceeded \*\*\* Enqueued"
    ) as stop:
        hold(configuration(server.url, tmp_path, model), cases, tmp_path / "out.parquet")
    server.reset(batch_status="completed")
    assert KEY not in str(stop.value)
    assert files_with(KEY, tmp_path) == []


def test_files_in_a_batch_folder_contain_no_key(
    server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    model = {"api_key_env": VARIABLE, "batch": {"folder": str(tmp_path / "files"), "wait": False}}
    hold(configuration(server.url, tmp_path, model), cases, tmp_path / "out.parquet")
    (batch_file,) = (tmp_path / "files").glob("*.jsonl")
    body = {
        "id": KEY,
        "model": f"test {KEY}",
        "system_fingerprint": KEY,
        "provider": {KEY: KEY},
        "usage": {},
    }
    message = {"role": "assistant", "content": f"I was given {KEY}.", "reasoning": KEY}
    body |= {"choices": [{"message": message, "finish_reason": KEY}]}
    calls = [json.loads(line)["custom_id"] for line in batch_file.read_bytes().splitlines()]
    answers = [
        {"custom_id": call, "response": {"status_code": 200, "body": body}} for call in calls
    ]
    answers[-1]["response"] = {"status_code": 400, "body": {"error": {"message": KEY, "code": KEY}}}
    output = batch_file.with_suffix(".output.jsonl")
    output.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    hold(configuration(server.url, tmp_path, model), cases, tmp_path / "out.parquet")
    assert files_with(KEY, tmp_path) == [str(output)], "the user's own command wrote it"
    assert files_with(f"I was given {REMOVED}.", tmp_path)


async def test_a_placeholder_of_a_key_changes_no_reply(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "EMPTY")
    server.reset(content="The record is EMPTY, and none is ours.")
    reply = await ask(chat_with(server, tmp_path, api_key_env=VARIABLE), make_request())
    server.reset(content="")
    assert reply.text == "The record is EMPTY, and none is ours."


@pytest.mark.parametrize("kind", ["none", "invalid_key"])
def test_a_planted_key_is_in_no_file(
    kind: str, server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    server.reset(faults=[] if kind == "none" else [kind], rate=0.5, latency=0.0)
    waits = {"max_outage": 60, "max_backoff": 0.05}
    model = {"api_key_env": VARIABLE, "attempts": 2, "waits": waits}
    config = configuration(server.url, tmp_path, model)
    environment = {VARIABLE: f" {KEY}\n"}
    job = start_job(config, cases, tmp_path / "out.parquet", 10.0, 0, environment)
    job.join(PATIENCE)
    log = (tmp_path / "out.parquet.err").read_text()
    assert job.exitcode == (1 if kind == "invalid_key" else 0), log[-2000:]
    assert server.stats()["requests"] > 0
    assert "DEBUG:asyncio" in log, "all logs are on"
    assert files_with(KEY, tmp_path) == []
    if kind == "invalid_key":
        assert "Incorrect API key provided: ***" in log
    else:
        assert files_with("person-0000", tmp_path), "the search itself works"
        assert "messages" in "".join(texts_of(tmp_path / "ledger" / "ledger.sqlite"))


@pytest.mark.parametrize("endpoint", ["openai", *HOST_ENDPOINTS])
@pytest.mark.parametrize("key", ["sk-planted\n0123456789", "\u201csk-planted-0123456789\u201d"])
def test_an_invalid_key_is_named_by_its_variable_only(
    key: str, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, key)
    model = {"endpoint": endpoint, "model": "test", "api_key_env": VARIABLE}
    plan_config = configuration("", tmp_path, {**model, "base_url": "http://localhost:1"})
    plan = Plan.from_yaml(plan_config, PROJECT)
    with pytest.raises(
        UserError, match=f"{VARIABLE} contains a character that no key has: a line break"
    ) as error:
        ENDPOINTS[endpoint](ModelConfig(**model), 1)
    [missing] = plan.missing_keys([MODEL])
    assert f"models.{MODEL}: the environment variable {VARIABLE} contains a" in missing
    replayed = Plan.from_yaml({**plan_config, "replay": True}, PROJECT)
    assert replayed.missing_keys([MODEL]) == []
    assert "planted" not in str(error.value).replace(VARIABLE, "") + missing.replace(VARIABLE, "")


def test_a_missing_key_is_named() -> None:
    for endpoint in (OpenAIEndpoint, OllamaEndpoint):
        with refusal():
            endpoint(ModelConfig(model="test", api_key_env="NO_SUCH_KEY"), 1)


# Where keys are sent


@pytest.mark.parametrize("endpoint", ["openai", *HOST_ENDPOINTS])
async def test_a_server_receives_only_its_own_key(
    endpoint: str, server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "OLLAMA_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(variable, f"{KEY}-{variable}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"api-key: {KEY}-custom")
    for key, variable in (("", None), (KEY, VARIABLE)):
        server.reset()
        chat = chat_with(server, tmp_path / f"ledger-{variable}", endpoint, api_key_env=variable)
        await ask(chat, make_request(endpoint=endpoint))
        headers = server.stats()["headers"]
        assert any(value in (key, f"Bearer {key}") for value in headers.values()) or not key
        assert not [name for name, value in headers.items() if f"{KEY}-" in value]


async def test_a_batch_file_on_another_server_is_fetched_without_the_key() -> None:
    headers: list[str] = []

    async def stored(request: web.Request) -> web.Response:
        headers.append(str(request.headers))
        return web.Response(text="lines")

    elsewhere = web.Application()
    elsewhere.add_routes([web.get("/stored", stored)])
    async with TestServer(elsewhere) as storage:

        async def content(_: web.Request) -> web.Response:
            raise web.HTTPFound(storage.make_url("/stored"))

        provider = web.Application()
        provider.add_routes([web.get("/v1/files/f/content", content)])
        async with TestServer(provider) as server:
            address = str(server.make_url("/v1"))
            endpoint = OpenAIEndpoint(
                ModelConfig(model="test", base_url=address, api_key_env=VARIABLE), 1
            )
            assert await OpenAIBatches(endpoint).content("f") == b"lines"
            await endpoint.close()
    assert len(headers) == 1 and KEY not in headers[0]


@pytest.mark.parametrize("endpoint", ["openai", *HOST_ENDPOINTS])
async def test_a_redirect_sends_no_key_to_another_server(
    endpoint: str, server: FaultServer, tmp_path: Path
) -> None:
    with FaultServer() as other_server:
        server.reset(redirect=other_server.host)
        chat = chat_with(server, tmp_path, endpoint, api_key_env=VARIABLE, attempts=1)
        with pytest.raises(CallFailedError, match=f"redirected to {other_server.host}"):
            await ask(chat, make_request(endpoint=endpoint))
        server.reset(redirect="")
        assert not other_server.stats()["headers"]
