"""A synthetic panel whose call failed leaves statements without text."""

import json

import pandas as pd
import pytest

from moot.jobs.predictions import debate_costs

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
