"""Full opinions to CaseLaw cases: summaries, settlements, outcome phrases."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from files_of_cases import MakeContext, load
from moot.core.artifacts import describe, write_rows
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.studies.feedback.protocol_summaries import (
    KIND,
    SummaryParams,
    case_summary,
    write_summaries,
)
from scripted_model import ScriptedModel, make_debate


async def test_a_summary_keeps_the_verdict_apart() -> None:
    summary = {
        "background": "Low sold a horse.",
        "claim": "The price.",
        "defence": "It was lame.",
        "outcome": "PLAINTIFF",
    }
    labels = ("plaintiff", "defendant", "settlement", "dismissed", "not known")
    task = Task("the opinion", "How did the case end?", labels)
    params = SummaryParams()
    voice = ScriptedModel(lambda *_: summary)
    answer = await case_summary(make_debate(voice, params, task), params)
    assert answer and answer.prediction == "plaintiff"
    assert "NOT KNOWN" not in voice.prompts[0] and "SETTLEMENT" in voice.prompts[0]


@pytest.mark.parametrize(
    ("clean_reply", "usable"), [(2, ["invalid", "strict"]), (9, ["invalid"] * 3)]
)
async def test_a_summary_with_a_name_or_an_outcome_is_asked_for_again(
    clean_reply: int, usable: list[str]
) -> None:
    replies: list[str] = []

    def reply(*_: object) -> dict[str, str]:
        replies.append(
            "Low sold a horse." if len(replies) < clean_reply - 1 else "He sold a horse."
        )
        parts = {"background": replies[-1], "claim": "The price.", "defence": "It was lame."}
        return {**parts, "outcome": "PLAINTIFF"}

    text = (
        "PETER LOW, Plaintiff, v. HANS HIGH, Defendant.\n\nOPINION\nMr. Low sold a horse. Affirmed."
    )
    params, voice = SummaryParams(), ScriptedModel(reply)
    case = Case("1", "toy", "test", text, "plaintiff", ("plaintiff",))
    debate = make_debate(voice, params, Task("the opinion", "How?", ("plaintiff",)), case)
    answer = await case_summary(debate, params)
    assert [utterance.parse_status for utterance in debate.utterances] == usable
    assert bool(answer) == (usable[-1] == "strict")
    assert "these words: Low." in voice.prompts[1]


def write_case_summaries(tmp_path: Path, *outcomes: str) -> Path:
    parts = {"claim": "He asks\tfor the price.", "defence": "It was lame."}
    rows = [
        {
            "background": f"Matter {n} of {n * 11} sacks and {n * 13} tubs.",
            **parts,
            "outcome": outcome,
        }
        for n, outcome in enumerate(outcomes)
    ]
    utterances = [
        {"case_id": str(n), "kind": KIND, "parse_status": "strict", "parsed": json.dumps(row)}
        for n, row in enumerate(rows)
    ]
    write_rows(tmp_path / "0.parquet", "transcripts", utterances, describe())
    output = tmp_path / "results" / "summaries" / "from-opinions" / "gpt.jsonl"
    write_summaries([tmp_path / "0.parquet"], output)
    return output


def test_summaries_become_cases_and_settlements_are_set_aside(
    tmp_path: Path, load_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    summaries_file = write_case_summaries(
        tmp_path, *(["PLAINTIFF", "DEFENDANT"] * 6), "SETTLEMENT", "DISMISSED"
    )
    context = replace(load_context("caselaw"), artifacts={"summaries": summaries_file})
    loaded = load(context, source="summaries", summaries="from-opinions/gpt")
    assert len(loaded.cases) == 12 and loaded.cleaning["settled or dismissed (left out)"] == 2
    assert (
        loaded.cases[0].text
        == "Matter 0 of 0 sacks and 0 tubs.\tHe asks for the price.\tIt was lame."
    )
    with pytest.raises(ValidationError, match="go together"):
        load(load_context("caselaw"), source="summaries")


def test_no_usable_summary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of 0 utterances"):
        write_case_summaries(tmp_path)
