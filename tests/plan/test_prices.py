"""`price: auto` takes the price of the pinned list and stores it with each call."""

from pathlib import Path

import pytest

from courtroom_runs import MODEL, PROJECT, configuration, hold, people
from fault_server import FaultServer
from moot.core.errors import UserError
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan

OPENAI = "https://api.openai.com/v1"


def make_plan(url: str, folder: Path, **model: object) -> Plan:
    return Plan.from_yaml(configuration(url, folder, model), PROJECT)


def test_the_list_prices_a_model_by_its_server_and_name(tmp_path: Path) -> None:
    price = (
        make_plan(OPENAI, tmp_path, model="gpt-4o-mini", price="auto").config.models[MODEL].price
    )
    assert (price.input, price.cached_input, price.output) == (0.15, 0.075, 0.6)
    assert price.source.startswith("genai-prices ") and price.source.endswith(
        ": openai/gpt-4o-mini"
    )


@pytest.mark.parametrize(
    ("url", "model"), [(OPENAI, "nobody-9"), ("http://localhost:8000/v1", "gpt-4o-mini")]
)
def test_a_model_without_a_price_in_the_list_is_an_error(
    url: str, model: str, tmp_path: Path
) -> None:
    with pytest.raises(
        UserError,
        match=rf"models\.test\.price: found 'auto'.*no price of '{model}'.*State the price",
    ):
        make_plan(url, tmp_path, model=model, price="auto")


def test_each_call_stores_its_price(tmp_path: Path) -> None:
    with FaultServer() as server:
        price = {"input": 2.0, "output": 10.0, "source": "our contract"}
        config = configuration(server.url, tmp_path, {"price": price})
        config["experiments"]["trial"]["protocol"] = "zero_shot"
        transcripts = hold(config, people(tmp_path / "cases.parquet", 2), tmp_path / "out.parquet")
    ledger = Ledger(config["ledger"])
    replies = ledger.replies([call_id for call_id in transcripts["call_id"] if call_id])
    ledger.close()
    assert {reply.price for reply in replies.values()} == {
        "input 2, cached 2, output 10; our contract"
    }
