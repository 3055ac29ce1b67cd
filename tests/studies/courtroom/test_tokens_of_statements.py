"""Figure 3's x: a median of medians over the statements of a debate."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from moot.studies.courtroom.papers import tokens_of_statement


def test_the_median_over_places_of_median_tokens() -> None:
    """Worked by hand: the places have 110, 220 and 330 tokens; the judge has none."""
    prompts = {"a": [100, 200, 300], "b": [90, 200, 300], "c": [900, 200, 300]}
    replies = {"a": [10, 20, 30], "b": [10, 90, 30], "c": [10, 0, 30]}
    speakers = ["prosecutor", "defense", "prosecutor", "judge"]
    parts = []
    for name, counts in prompts.items():
        columns = {
            "debate_id": name,
            "speaker": speakers,
            "call_id": [f"{name}{place}" for place in range(4)],
            "prompt_tokens": [*counts, 9999],
            "completion_tokens": [*replies[name], 9999],
        }
        parts.append(pd.DataFrame(columns))
    rows = pd.concat(parts)
    statements = rows[["debate_id", "speaker", "call_id"]]
    calls = rows[["call_id", "prompt_tokens", "completion_tokens"]]
    results = SimpleNamespace(
        public_statements=lambda columns, model: [statements],
        calls_of=lambda model: [calls[:5], calls[5:]],
    )
    run: Any = SimpleNamespace(results=results, model="m")
    assert tokens_of_statement(run) == 220
