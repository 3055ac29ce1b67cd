"""A debate whose calls failed: its reason, and what it costs."""

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from moot.jobs.debates import missing_answer_reason
from moot.jobs.predictions import debate_costs
from moot.protocols.utterances import Utterance

CALLS = [
    "call_id",
    "finish_reason",
    "attempts",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
]


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_statements_that_a_failed_call_leaves_out_cost_nothing(missing: object) -> None:
    cost = json.dumps({"cost_usd": 0.25})
    rows = [("d", "", "failed", cost), *[("d", "", "failed", missing)] * 3]
    transcripts = pd.DataFrame(rows, columns=["debate_id", "call_id", "parse_status", "parsed"])
    transcripts["kind"] = "vote"
    costs = debate_costs(transcripts, pd.DataFrame(columns=[*CALLS, "seconds", "cost_usd"]))
    assert costs.loc["d", "cost_usd"] == 0.25
    assert costs.loc["d", "retries"] == 1


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
