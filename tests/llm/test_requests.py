"""What requests hold where a model's entry departs from the usual form."""

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chat_servers import completion, question, serving
from courtroom_runs import configuration, hold, people
from fault_server import FaultServer
from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat, Settings
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress, describe_time_left
from moot.llm.request import Message, request_to
from moot.llm.stand_in import StandIn

PROMPT = (
    Message("system", "You are the judge."),
    Message("user", "The facts."),
    Message("assistant", "Noted."),
    Message("user", "The verdict?"),
)


@pytest.mark.parametrize("endpoint", ["openai", "ollama", "anthropic"])
async def test_a_model_without_a_system_role_gets_its_text_from_the_user(
    endpoint: str, tmp_path: Path
) -> None:
    async def answer(_request: web.BaseRequest, _body: Any) -> web.Response:
        return web.json_response(completion(endpoint, "Yes."))

    async with serving(answer) as server:
        address = server.address(endpoint)
        entry = {"endpoint": endpoint, "model": "test", "base_url": address}
        config = ModelConfig(**entry, system_role="user")
        chat = Chat("test", config, Ledger(str(tmp_path)), Settings(), Progress("test", 1))
        request = request_to(config, PROMPT, max_tokens=20, temperature=0.0, seed=1)
        await chat.ask(request, 0)
        await chat.close()
    [body] = server.bodies
    assert body["messages"] == [
        {"role": "user", "content": "You are the judge.\n\nThe facts."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "The verdict?"},
    ]
    assert "system" not in body


async def test_a_warning_says_once_which_model_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = iter(["test-2026", "test-2026", "other", "test-2026", "other"])

    async def answer(_request: web.BaseRequest, _body: Any) -> web.Response:
        return web.json_response({**completion("openai", "Yes."), "model": next(names)})

    async with serving(answer) as server:
        chat = server.chat(tmp_path)
        with caplog.at_level(logging.WARNING):
            for number in range(5):
                await chat.ask(question(text=str(number)), 0)
        await chat.close()
    [message] = [record.message for record in caplog.records if "answered by" in record.message]
    assert message.startswith("model 'test': expected test-2026, answered by other;")


async def test_a_stand_in_is_not_another_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(open_endpoint=lambda _config, _threads: StandIn())
    config = ModelConfig(model="test", base_url="http://127.0.0.1:9/v1")
    chat = Chat("test", config, Ledger(str(tmp_path)), settings, Progress("test", 1))
    await chat.ask(question(), 0)
    await chat.close()
    assert "answered by" not in caplog.text


def test_a_reply_without_a_stated_limit_is_cut_where_the_server_ends_it(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["truncated"], rate=1.0, max_faulty_attempts=0)
    config = configuration(server.url, tmp_path, {"omit": ["max_tokens"], "attempts": 1})
    transcripts = hold(config, people(tmp_path / "cases.parquet", 2), tmp_path / "out.parquet")
    problems = transcripts.loc[transcripts["kind"] == "verdict", "parse_problem"]
    assert len(problems) == 2 and problems.str.contains(r"cut at max_tokens \d+").all()


def test_a_line_says_how_many_calls_and_seconds_are_left_before_any_debate_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = Progress("trial", debates=50, calls_a_debate=16, new_calls=200, ledger_calls=200)
    monkeypatch.setattr(time, "monotonic", lambda: progress.start_time + 100)
    assert progress.line() == (
        "trial: 400 of about 800 calls, 0 of 50 debates; 200 calls made, 200 from the ledger;"
        " about 200 s left"
    )
    assert describe_time_left(0) == "about 0 s left"
    assert describe_time_left(0.2) == "less than 1 s left"
    assert describe_time_left(9000.4) == "about 9,000 s left"
    progress.debates_done, progress.new_calls = 50, 610
    assert progress.line().startswith(
        "trial: 810 calls, 50 of 50 debates; 610 calls made, 200 from the ledger; 100 s"
    )
    longer = Progress("longer", debates=2, calls_a_debate=1, new_calls=420)
    assert "of about 420 calls" in longer.line()
