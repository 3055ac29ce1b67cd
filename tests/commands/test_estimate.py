"""The likely dollars and hours of a preview's calls: by stored replies, else as shipped."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.commands.estimate import READING_SHARE, Estimate
from moot.core.model_config import ModelConfig
from moot.llm.ledger.ledger import Entry
from moot.llm.request import Reply

PROJECT = Path(__file__).resolve().parents[2]
PRICED = {"mine": ModelConfig(endpoint="openai", model="m", price={"input": 1.0, "output": 10.0})}
QUOTE = "0123456789ab " + "0123 " * 800
"""A longest reply of 800 words of five characters, as a later prompt quotes it."""


def calls(*kinds: str, request: str = "", prompt_tokens: int = 2000) -> list[Entry]:
    """Return a call of each kind, whose id is the kind."""
    reply = Reply("", prompt_tokens=prompt_tokens, completion_tokens=512)
    return [Entry(kind, "mine", request, number, reply) for number, kind in enumerate(kinds)]


def make_estimate(
    models: Mapping[str, ModelConfig],
    stored: Mapping[str, tuple[str, int]] | None = None,
    timed: Sequence[tuple[int, int, float]] = (),
    jobs: int = 1,
) -> Estimate:
    """Return an estimate by stored lengths, and by replies of tokens read, written and seconds."""

    def example_entries(names: Sequence[str], _limit: int) -> Iterable[Entry]:
        entries = []
        for prompt_tokens, reply_tokens, seconds in timed:
            reply = Reply("", seconds=seconds)
            reply = replace(reply, prompt_tokens=prompt_tokens, completion_tokens=reply_tokens)
            entries.append(Entry("", names[0], "", 0, reply))
        return entries

    stored = stored or {}
    kinds = {call_id: call_id.partition(" ")[0] for call_id in stored}
    kinds |= {kind: kind for kind in ("decision", "opening", "unheard of")}
    return Estimate(models, kinds, stored, example_entries, PROJECT, jobs)


def test_a_kind_without_stored_replies_has_its_shipped_length() -> None:
    expected = 3 * 0.002 + 10 * (4 + 270 + 256) / 1e6
    entries = calls("decision", "opening", "unheard of")
    assert make_estimate(PRICED).usd(entries) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("stored", "usd"),
    [
        ({"opening 1": ("another", 400)}, 0.006),
        ({"opening 1": ("another", 400), "opening 2": ("mine", 100)}, 0.003),
        ({"opening 1": ("mine", 9000)}, 0.002 + 10 * 512 / 1e6),
    ],
    ids=["of any model", "of the model first", "at most the ceiling"],
)
def test_stored_replies_of_the_kind_count_first(
    stored: dict[str, tuple[str, int]], usd: float
) -> None:
    assert make_estimate(PRICED, stored).usd(calls("opening")) == pytest.approx(usd, abs=5e-5)


def test_a_prompt_that_quotes_longest_replies_gets_shorter_with_them() -> None:
    prompt_tokens = 2000 - (len(QUOTE) - 1) / 4 + 270
    usd = make_estimate(PRICED).usd(calls("decision", request=QUOTE))
    assert usd == pytest.approx((prompt_tokens + 10 * 4) / 1e6, abs=5e-5)


def model_with(**changes: Any) -> dict[str, ModelConfig]:
    entry = {"model": "m", "base_url": "http://localhost:9", "concurrency": 4}
    return {"mine": ModelConfig.model_validate(entry | changes)}


@pytest.mark.parametrize(
    ("changes", "hours"),
    [
        ({}, 0.2),
        ({"concurrency": 1}, 0.8),
        ({"requests_per_minute": 0.1}, 8 / 6),
        ({"tokens_per_minute": 460.0}, 8 * 1460 / 460 / 60),
        ({"endpoint": "embedded", "base_url": None}, 0.8),
    ],
    ids=["speed", "one at a time", "requests", "tokens", "embedded"],
)
def test_hours_follow_from_speed_concurrency_and_limits(
    changes: dict[str, Any], hours: float
) -> None:
    """Two replies of ten minutes: a call of the same length takes six minutes like them."""
    stored = {"opening 1": ("mine", 460)}
    entries = calls(*["opening"] * 8, prompt_tokens=1000)
    timed = [(1000, 460, 300.0), (1000, 460, 420.0)]
    estimate = make_estimate(model_with(**changes), stored, timed)
    assert estimate.hours(entries, 0) == pytest.approx(hours)


def test_one_timed_reply_weighs_what_is_read_and_what_is_written() -> None:
    """The same model needs long for long prompts with an answer of one word."""
    timed = [(100, 70, 10.0)]
    estimate = make_estimate(model_with(concurrency=1), timed=timed)
    seconds = 3600 * estimate.hours(calls("decision", prompt_tokens=1000), 0)
    assert seconds == pytest.approx(10 * (1000 * READING_SHARE + 4) / (100 * READING_SHARE + 70))


def test_hours_of_the_packaged_model_are_an_estimate_until_it_replied() -> None:
    packaged = {"mine": ModelConfig(endpoint="embedded", model="smollm2-135m")}
    estimate = make_estimate(packaged)
    hours = estimate.hours(calls("opening"), 0)
    assert estimate.is_typical("mine") and 0 < hours < 1
    assert make_estimate(packaged, jobs=2).hours(calls("opening"), 0) == hours / 2
    assert not make_estimate(packaged, timed=[(10, 5, 1.0)]).is_typical("mine")


def test_hours_without_a_speed_are_unknown_and_without_calls_none() -> None:
    estimate = make_estimate(model_with())
    assert math.isnan(estimate.hours(calls("opening"), 0)) and estimate.hours([], 0) == 0
    assert not estimate.is_typical("mine")


def test_a_free_model_costs_nothing() -> None:
    free = {"mine": ModelConfig(endpoint="openai", model="m")}
    assert make_estimate(free).usd(calls("decision")) == 0
