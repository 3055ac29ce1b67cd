"""The stand-in answers each request from its schema or labels, and every protocol runs with it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from courtroom_runs import EXPERIMENT, configuration, hold, people
from messages import refusal
from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case
from moot.llm.request import Message, Request
from moot.llm.stand_in import MARK, StandIn
from moot.studies.appellate.data_opinions import TASK as APPEAL

FORM = {
    "type": "object",
    "properties": {"prediction": {"enum": ["NO", "YES"]}, "confidence": {"type": "integer"}},
}


def request(number: int, **fields: Any) -> Request:
    message = Message("user", f"Is it so, in file {number}?")
    return Request("simulated", "m", (message,), {"max_tokens": 50}, **fields)


async def test_unusable_replies_come_in_their_shares_and_equal_requests_get_equal_replies() -> None:
    shares = {"empty": 0.1, "refused": 0.1, "malformed": 0.2, "cut": 0.1}
    stand_in = StandIn(1, shares=shares)
    replies = [await stand_in.complete(request(number, schema=FORM)) for number in range(2000)]
    kinds = [
        [reply.text == "" for reply in replies],
        [reply.finish_reason == "refusal" for reply in replies],
        [reply.text.endswith(",,") for reply in replies],
        [reply.finish_reason == "length" for reply in replies],
    ]
    assert np.mean(kinds, axis=1) == pytest.approx([0.1, 0.1, 0.2, 0.1], abs=0.03)
    assert await StandIn(1, shares=shares).complete(request(7, schema=FORM)) == replies[7]


async def test_without_a_seed_a_reply_is_the_longest_with_the_first_label() -> None:
    reply = await StandIn().complete(request(0, schema=FORM))
    assert (reply.text, reply.completion_tokens) == ('{"prediction": "NO", "confidence": 0}', 50)
    scored = await StandIn().complete(request(0, choices=("YES", "NO")))
    assert scored.text == max(scored.logprobs, key=lambda word: scored.logprobs[word]) == "YES"


APPEALS = [
    Case(f"a{n}", "people", "test", f"Appeal {n}.", APPEAL.labels[n % 2], APPEAL.labels)
    for n in range(14)
]
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("zero_shot", {}),
    ("self_consistency", {"k": 3}),
    ("courtroom", {"strategy": "inline"}),
    ("feedback", {"sides": "free", "answer": "likelihood"}),
    ("four_step_cot", {}),
    ("reflexion", {}),
    ("stance", {}),
    ("polarity", {"answer": "json"}),
    ("panel", {}),
    ("synthetic_panel", {"reply": "json"}),
]


@pytest.mark.parametrize(("protocol", "params"), RUNS)
def test_debates_with_the_stand_in_reach_answers(
    protocol: str, params: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts, ledger, parsing and conclusions are the real ones."""
    monkeypatch.chdir(tmp_path)
    cases = tmp_path / "cases.parquet"
    if "panel" in protocol:
        write_cases(cases, APPEALS, APPEAL, describe())
    else:
        people(cases, 14)
    config = configuration(
        "http://nowhere.invalid",
        tmp_path,
        {"reasoning": True, "structured": "prompted"},
        experiment={"protocol": protocol, "params": params},
        rehearsal=True,
    )
    rows = hold(config, cases, tmp_path / "transcripts.parquet")
    concluded = rows[rows["kind"] == "conclusion"]
    valid = concluded["parsed"].str.contains('"status": "valid"')
    unreadable = rows.loc[rows["parse_status"] == "invalid", ["kind", "text"]]
    assert valid.mean() >= 0.85, unreadable.head().to_dict("records")
    assert len(set(concluded.loc[valid, "prediction"])) > 1
    statements = rows[(rows["source"] == "model") & (rows["kind"] == "statement")]
    if protocol == "panel":
        assert statements["text"].str.startswith(MARK).all()


def test_outside_of_a_rehearsal_it_refuses(tmp_path: Path) -> None:
    config = configuration("http://nowhere.invalid", tmp_path, {"endpoint": "simulated"})
    with refusal():
        hold(config, people(tmp_path / "cases.parquet", 2), tmp_path / f"{EXPERIMENT}.parquet")
