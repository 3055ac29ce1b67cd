"""Full opinions to CaseLaw cases: both formats of the Caselaw Access Project, summaries,
settlements, outcome phrases.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from moot.core.artifacts import describe, write_rows
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.studies.feedback.protocol_summaries import (
    KIND,
    SummaryParams,
    case_summary,
    write_summaries,
)
from scripted_model import ScriptedModel, make_debate

MakeContext = Callable[..., LoadContext]
RECORD = {"name_abbreviation": "Low v. High", "decision_date": "1901-05-03"}


def write_opinions(folder: Path, *bodies: Any) -> None:
    (folder / "opinions").mkdir(exist_ok=True)
    lines = [json.dumps({"id": n, **RECORD, "casebody": body}) for n, body in enumerate(bodies)]
    (folder / "opinions" / "cap_illinois_sample.jsonl").write_text("\n".join(lines) + "\n")


def load(context: LoadContext, loader: str, **options: Any) -> Loaded:
    entry = LOADERS[loader]
    return entry.load(entry.options(**options), context)


def test_both_formats_of_the_project_are_read(tmp_path: Path, load_context: MakeContext) -> None:
    write_opinions(
        tmp_path,
        {"status": "ok", "data": "<casebody><p>Low &amp; Co. sued.</p></casebody>"},
        {"status": "ok", "data": {"opinions": [{"text": "High answered."}]}},
        {"opinions": [{"text": "One."}, {"text": "Two."}]},
    )
    cases = load(load_context("cap"), "cap", source="local").cases
    assert [case.text for case in cases] == ["Low & Co. sued.", "High answered.", "One.\n\nTwo."]
    write_opinions(tmp_path, {"status": "error"})
    with pytest.raises(UserError, match="row 1, field 'casebody'"):
        load(load_context("cap"), "cap", source="local")


def test_the_ten_real_opinions(shared_data: Path, load_context: MakeContext) -> None:
    loaded = load(load_context("cap", data_root=shared_data), "cap", source="local")
    assert len(loaded.cases) == 10 and all("<" not in case.text[:500] for case in loaded.cases)
    assert loaded.cleaning["opinions cut to 12000 characters"] > 5


async def test_a_summary_keeps_the_verdict_apart() -> None:
    summary = {
        "background": "Low sold a horse.",
        "claim": "The price.",
        "defence": "It was lame.",
        "prediction": "PLAINTIFF",
    }
    task = LOADERS["cap"].load.__globals__["TASK"]
    params = SummaryParams()
    voice = ScriptedModel(lambda *_: summary)
    answer = await case_summary(make_debate(voice, params, task), params)
    assert answer and answer.prediction == "plaintiff"
    assert "NOT KNOWN" not in voice.prompts[0] and "SETTLEMENT" in voice.prompts[0]


def write_case_summaries(tmp_path: Path, *outcomes: str) -> Path:
    parts = {"claim": "He asks\tfor the price.", "defence": "It was lame."}
    rows = [
        {
            "background": f"Matter {n} of {n * 11} sacks and {n * 13} tubs.",
            **parts,
            "prediction": outcome,
        }
        for n, outcome in enumerate(outcomes)
    ]
    utterances = [
        {"kind": KIND, "parse_status": "strict", "parsed": json.dumps(row)} for row in rows
    ]
    write_rows(tmp_path / "0.parquet", "transcripts", utterances, describe())
    output = tmp_path / "results" / "summaries" / "from-cap" / "gpt.jsonl"
    write_summaries([tmp_path / "0.parquet"], output)
    return output


def test_summaries_become_cases_and_settlements_are_set_aside(
    tmp_path: Path, load_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    summaries_file = write_case_summaries(
        tmp_path, *(["PLAINTIFF", "DEFENDANT"] * 6), "SETTLEMENT", "DISMISSED"
    )
    context = replace(load_context("caselaw-cap"), artifacts={"summaries": summaries_file})
    loaded = load(context, "caselaw", source="cap", summaries="from-cap/gpt")
    assert len(loaded.cases) == 12 and loaded.cleaning["settled or dismissed (left out)"] == 2
    assert (
        loaded.cases[0].text
        == "Matter 0 of 0 sacks and 0 tubs.\tHe asks for the price.\tIt was lame."
    )
    with pytest.raises(ValidationError, match="go together"):
        load(load_context("caselaw-cap"), "caselaw", source="cap")


def test_no_usable_summary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of 0 utterances"):
        write_case_summaries(tmp_path)
