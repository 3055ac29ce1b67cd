"""A debate whose calls failed: its reason, and what it costs."""

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from moot.core.types import JsonObject
from moot.core.utterance_kinds import ASKED_AGAIN
from moot.jobs.debates import missing_answer_reason
from moot.jobs.predictions import debate_costs, versions_served
from moot.protocols.utterances import Utterance
from moot.scores.served import ASKED


def utterance(debate_id: str, call_id: str, kind: str = "vote", **columns: object) -> JsonObject:
    base = {"debate_id": debate_id, "call_id": call_id, "kind": kind}
    return {**base, "parse_status": "strict", "parsed": "", **columns}


def test_a_debate_costs_its_calls_and_the_attempts_of_failed_ones() -> None:
    failed = {"parse_status": "failed", "parsed": json.dumps({"cost_usd": 0.25})}
    nothing = [{"parse_status": "failed", "parsed": value} for value in (None, "", float("nan"))]
    rows = [utterance("a", "1"), utterance("a", "1"), utterance("a", "2", ASKED_AGAIN)]
    rows += [utterance("b", "", **columns) for columns in (failed, *nothing)]
    amounts = {"prompt_tokens": 5, "completion_tokens": 7, "cached_tokens": 1, "seconds": 2.0}
    served = {"model": "mine", "provider": None, **amounts, "cost_usd": 0.5}
    first = {"call_id": "1", "served_model": "gpt-4o-2024-08-06", "system_fingerprint": "fp"}
    second = {"call_id": "2", "served_model": "llama", "system_fingerprint": None}
    calls = pd.DataFrame([
        {**served, **first, "finish_reason": "length", "attempts": 3},
        {**served, **second, "finish_reason": "stop", "attempts": 1},
    ])  # fmt: skip
    transcripts = pd.DataFrame(rows)
    amounts_of_both = {name: 2 * amount for name, amount in amounts.items()}
    counts = {"retries": 2, "cut_off": 1, "calls": 2, "asked_again": 1, "cost_usd": 1.0}
    no_amounts = dict.fromkeys([*amounts, *counts], 0)
    assert debate_costs(transcripts, calls).to_dict("index") == {
        "a": {**amounts_of_both, **counts},
        "b": {**no_amounts, "retries": 1, "cost_usd": 0.25},
    }
    versions = [("mine", "gpt-4o-2024-08-06, fp"), ("mine", f"llama{ASKED}gpt-4o)")]
    assert versions_served(transcripts, calls, {"mine": "gpt-4o"}) == {"a": versions}


NO_ANSWER = "the replies came to no answer (a tie, or no judge takes a position)"
REPLY = ("strict", {})
FAILED = ("failed", {"error": "no route"})


@pytest.mark.parametrize(
    ("replies", "status", "reason"),
    [
        ([], "invalid", NO_ANSWER),
        ([REPLY], "invalid", NO_ANSWER),
        ([("invalid", {"problem": "no label"}), REPLY], "invalid", "vote of ann: no label"),
        ([FAILED, ("invalid", None)], "invalid", "vote of ann: the reply cannot be used"),
        ([FAILED, REPLY], "invalid", "a call failed: no route"),
        ([REPLY, FAILED], "failed", "a call failed: no route"),
        ([("failed", None)], "failed", "a call failed: no reason was recorded"),
    ],
)
def test_a_debate_without_an_answer_has_its_last_problem_as_reason(
    replies: list[tuple[str, Any]], status: str, reason: str
) -> None:
    utterances = [
        Utterance(0, 0, "ann", "public", "vote", "", parsed, parse_status)
        for parse_status, parsed in replies
    ]
    of_person = Utterance(0, 0, "bob", "public", "vote", "", None, "failed", source="human")
    debate: Any = SimpleNamespace(utterances=[*utterances, of_person])
    assert missing_answer_reason(debate) == (status, reason)
