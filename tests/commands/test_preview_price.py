"""The likely price of a preview's calls: by the lengths of stored replies, else as shipped."""

from pathlib import Path

import pytest

from moot.commands.preview_price import ReplyLengths
from moot.core.model_config import ModelConfig
from moot.llm.ledger.ledger import Entry
from moot.llm.request import Reply

PROJECT = Path(__file__).resolve().parents[2]
MODEL = ModelConfig(endpoint="openai", model="m", price={"input": 1.0, "output": 10.0})
QUOTE = "0123456789ab " + "0123 " * 800
"""A longest reply of 800 words of five characters, as a later prompt quotes it."""


def calls(*kinds: str, request: str = "") -> tuple[ReplyLengths, list[Entry]]:
    lengths = ReplyLengths(PROJECT)
    entries = []
    for number, kind in enumerate(kinds):
        lengths.kinds[str(number)] = kind
        reply = Reply("", prompt_tokens=2000, completion_tokens=512)
        entries.append(Entry(str(number), "mine", request, 0, reply))
    return lengths, entries


def store(lengths: ReplyLengths, kind: str, tokens: int, model: str = "mine") -> None:
    call_id = f"stored {kind} {model}"
    lengths.kinds[call_id] = kind
    lengths.add(Entry(call_id, model, "", 0, Reply("", completion_tokens=tokens)))


def test_a_kind_without_stored_replies_has_its_shipped_length() -> None:
    lengths, entries = calls("decision", "opening", "unheard of")
    expected = 3 * 0.002 + 10 * (4 + 270 + 256) / 1e6
    assert lengths.likely_usd(entries, {"mine": MODEL}) == pytest.approx(expected, abs=1e-4)


def test_stored_replies_count_first_of_the_model_then_of_any() -> None:
    lengths, entries = calls("opening")
    store(lengths, "opening", 400, "another")
    assert lengths.likely_usd(entries, {"mine": MODEL}) == pytest.approx(0.006)
    store(lengths, "opening", 100)
    assert lengths.likely_usd(entries, {"mine": MODEL}) == pytest.approx(0.003)
    store(lengths, "opening", 9000)
    ceiling = 0.002 + 10 * 512 / 1e6
    assert lengths.likely_usd(entries, {"mine": MODEL}) == pytest.approx(ceiling, abs=1e-4)


def test_a_prompt_that_quotes_longest_replies_gets_shorter_with_them() -> None:
    lengths, entries = calls("decision", request=QUOTE)
    read = 2000 - (len(QUOTE) - 1) / 4 + 270
    expected = (read + 10 * 4) / 1e6
    assert lengths.likely_usd(entries, {"mine": MODEL}) == pytest.approx(expected, abs=1e-4)


def test_a_free_model_costs_nothing() -> None:
    lengths, entries = calls("decision")
    free = ModelConfig(endpoint="openai", model="m")
    assert lengths.likely_usd(entries, {"mine": free}) == 0
