"""A server's statements about itself are stored with each reply.

An empty reply that it counted is paid for.
"""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people
from fault_server import FaultServer
from moot.core.config import Budget
from moot.core.errors import CallFailedError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.jobs.predictions import write_predictions
from moot.llm.chat import Chat, Settings
from moot.llm.ledger.exports import calls_row, entry_from_row
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Message, Reply, Request
from moot.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("short_pauses")


async def ask(
    server: FaultServer, ledger: Ledger, endpoint: str = "openai", **settings: Any
) -> Reply:
    address = server.url if endpoint == "openai" else server.host
    price: Any = {"input": 1e6, "output": 1e6}  # a dollar a token
    config = ModelConfig(endpoint=endpoint, model="test", base_url=address, attempts=3, price=price)
    chat = Chat("test", config, ledger, Settings(**settings), Progress("test", 1))
    try:
        return (
            await chat.ask(
                Request(endpoint, "test", (Message("user", "Rain?"),), {"max_tokens": 50}), 0
            )
        )[1]
    finally:
        await chat.close()


def test_calls_say_who_served_them(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=[], fingerprints=1)
    cases, transcripts, predictions, calls = (
        tmp_path / f"{kind}.parquet" for kind in ("cases", "said", "predictions", "calls")
    )
    config = configuration(server.url, tmp_path)
    hold(config, people(cases, 2), transcripts)
    plan = Plan.from_yaml(config, PROJECT)
    write_predictions(
        plan.config, plan.experiments[EXPERIMENT], cases, [transcripts], predictions, calls
    )
    call = pq.read_table(calls).to_pylist()[0]
    expected = {
        "served_model": "test",
        "provider": "Somebody",
        "service_tier": "default",
        "system_fingerprint": "fp_0",
        "reasoning": "Thinking.",
        "reasoning_tokens": 3,
    }
    assert {name: call[name] for name in expected} == expected
    assert call["response_id"].startswith("chatcmpl-")
    assert len(call["started_at"]) == len("2026-01-01T00:00:00.000+00:00")
    assert call["started_at"] <= call["ended_at"]
    assert json.loads(call["request"])["served_as"] == server.url


def test_exported_calls_come_back_as_they_were() -> None:
    reply = Reply(
        "x",
        logprobs={"YES": -1.0},
        unlisted_logprob=-3.0,
        provider="p",
        unusable_usd=0.5,
        cost_usd=1.0,
    )
    entry = Entry("id", "m", "{}", 0, reply)
    assert entry_from_row(calls_row(entry)) == entry
    older = {
        name: value
        for name, value in calls_row(entry).items()
        if name not in ("provider", "started_at")
    }
    assert entry_from_row(older).reply.provider == ""


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_an_empty_reply_that_was_counted_is_paid_for(
    endpoint: str, server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["empty"], rate=1.0, max_faulty_attempts=2, fingerprints=0)
    with closing(Ledger(str(tmp_path))) as ledger:
        reply = await ask(server, ledger, endpoint)
        tokens = reply.prompt_tokens + reply.completion_tokens
        assert reply.attempts == 3 and reply.unusable_tokens == 2 * reply.prompt_tokens > 0
        assert reply.cost_usd == pytest.approx(tokens + reply.unusable_tokens)
        totals = ledger.read_totals()
        assert (totals.calls, totals.tokens) == (1, tokens + reply.unusable_tokens)
        assert totals.usd == pytest.approx(reply.cost_usd)


async def test_empty_replies_count_towards_the_budget(server: FaultServer, tmp_path: Path) -> None:
    server.reset(faults=["empty"], rate=1.0, max_faulty_attempts=0, fingerprints=0)
    with closing(Ledger(str(tmp_path / "whole"))) as ledger:
        with pytest.raises(
            CallFailedError, match=r"gave up after 3 attempts .*: the reply is empty"
        ):
            await ask(server, ledger)
        totals = ledger.read_totals()
        assert totals.calls == 0 and totals.tokens > 0
    server.reset()
    with closing(Ledger(str(tmp_path / "limited"))) as ledger:
        with pytest.raises(RunStoppedError, match="limit of 52 tokens"):
            await ask(server, ledger, budget=Budget(tokens=52))
        assert 0 < ledger.read_totals().tokens <= 52
    assert server.count() < 3


def test_failed_calls_count_in_the_cost_of_a_debate_and_of_its_replay(
    server: FaultServer, tmp_path: Path
) -> None:
    server.reset(faults=["empty"], rate=1.0, max_faulty_attempts=0, fingerprints=0)
    cases = people(tmp_path / "cases" / "people.parquet", 2)
    config = configuration(server.url, tmp_path)
    config["models"][MODEL] |= {"attempts": 2, "price": {"input": 1e6, "output": 1e6}}
    costs = []
    for replay in (False, True):
        transcripts, predictions, calls = (
            tmp_path / f"{kind}-{replay}.parquet" for kind in ("said", "predictions", "calls")
        )
        config["replay"] = replay
        hold(config, cases, transcripts)
        plan = Plan.from_yaml(config, PROJECT)
        write_predictions(
            plan.config, plan.experiments[EXPERIMENT], cases, [transcripts], predictions, calls
        )
        costs.append(pq.read_table(predictions).column("cost_usd").to_pylist())
    with closing(Ledger(str(tmp_path / "ledger"))) as ledger:
        assert sum(costs[0]) == pytest.approx(ledger.read_totals().usd) != 0
    assert costs[0] == costs[1]
