"""The inputs of the reliability assistant, also as a fine-tuned transformer.

They are several runs, statements or their summaries, and opinions without a position.
"""

import json
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from test_assistant import court_cases

from moot.core.cases import Case
from moot.core.errors import UserError
from moot.llm.request import Request
from moot.studies.feedback import reliability
from moot.studies.feedback.protocol import debate_feedback
from moot.studies.feedback.protocol_params import FeedbackParams
from moot.studies.feedback.reliability import (
    SUMMARIES,
    debater_opinions,
    load_assistant,
    opinion_source,
    save_assistant,
    train_assistant,
)
from scripted_model import WINNER, ScriptedModel, make_debate

LABELS = ("plaintiff", "defendant")
CASES = court_cases(32)


def transcript(
    cases: Sequence[Case], runs: int = 1, summaries: bool = False, unread: int = 0
) -> pd.DataFrame:
    """Two debaters for opposite sides in every case and run; `unread` rebuttals name no side."""
    rows: list[dict[str, Any]] = []
    for case in cases:
        for run in range(runs):
            shared = {"debate_id": f"{case.case_id}#{run}", "case_id": case.case_id, "round": 1}
            for label in LABELS:
                opinion = {
                    **shared,
                    "speaker": f"for {label}",
                    "kind": "rebuttal",
                    "text": f"Clearly the {label}.",
                    "prediction": label,
                    "parse_status": "",
                    "parsed": None,
                }
                if unread:
                    opinion["prediction"], unread = None, unread - 1
                rows.append(opinion)
                if summaries:
                    summary = {"kind": "statement summary", "speaker": "judge", "prediction": None}
                    parsed = json.dumps({"debater": opinion["speaker"]})
                    text = f"In short, {label}."
                    rows.append({**opinion, **summary, "text": text, "parsed": parsed})
    return pd.DataFrame(rows)


def learnable(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.split != "test"]


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_debates_of_every_run_are_used_for_training(runs: int) -> None:
    cases = learnable(CASES)
    frame = transcript(cases, runs)
    opinions = debater_opinions(frame, cases)
    assert len(opinions) == 2 * runs * len(cases)
    source = opinion_source(frame)
    card = train_assistant(opinions, CASES, WINNER, source=source).card
    assert (card.runs, card.reads, card.unread) == (runs, "statements", 0)
    assert card.opinions == 2 * runs * len([case for case in cases if case.split == "train"])


@pytest.mark.parametrize("summaries", [False, True])
@pytest.mark.parametrize("positionless", [0, 1, 7])
def test_opinions_without_a_position_are_counted(summaries: bool, positionless: int) -> None:
    cases = learnable(CASES)
    frame = transcript(cases, summaries=summaries, unread=positionless)
    assert opinion_source(frame).unread == positionless
    assert len(debater_opinions(frame, cases)) == 2 * len(cases) - positionless


def test_a_summary_takes_the_place_and_the_position_of_statements() -> None:
    cases = learnable(court_cases(8))
    frame = transcript(cases, summaries=True)
    opinions = debater_opinions(frame, cases)
    assert opinion_source(frame).reads == SUMMARIES
    expected = [f"In short, {position}." for position in opinions["position"]]
    assert len(opinions) == 2 * len(cases) and list(opinions["opinion"]) == expected
    targets = {case.case_id: case.target for case in cases}
    assert list(opinions["right"]) == list(opinions["position"] == opinions["case_id"].map(targets))


def test_the_log_counts_opinions_that_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cases = CASES
    frame = transcript(learnable(cases), 2, unread=3)
    monkeypatch.setattr(reliability, "read_cases", lambda _: (cases, WINNER))
    monkeypatch.setattr(reliability, "read_frames", lambda _: frame)
    with caplog.at_level(logging.INFO):
        reliability.write_assistant(Path("c"), [Path("s")], "tfidf", 0, tmp_path / "a.skops")
    assert "at most 2 debates a case" in caplog.text
    assert "3 opinions name no position and are not used" in caplog.text
    assert load_assistant(tmp_path / "a.skops").card.unread == 3


# The summary in a debate


def voice_of(summary: Any = "Expert in short.") -> ScriptedModel:
    def answer(request: Request, _: int) -> Any:
        if request.choices:
            return {"PLAINTIFF": math.log(0.7), "DEFENDANT": math.log(0.3)}
        if "this one expert" in request.messages[-1].content:
            return summary
        return "The plaintiff wins."

    return ScriptedModel(answer)


@pytest.mark.parametrize("rounds", [1, 2])
async def test_the_judge_summarises_each_debaters_statements_of_a_round(rounds: int) -> None:
    params = FeedbackParams(debaters=3, rounds=rounds, statement_summaries=True)
    voice = voice_of()
    debate = make_debate(voice, params, WINNER)
    assert await debate_feedback(debate, params)
    summaries = [item for item in debate.utterances if item.kind == "statement summary"]
    debaters = [f"debater {seat}" for seat in (1, 2, 3)]
    assert [item.round for item in summaries] == sorted([*range(1, rounds + 1)] * 3)
    assert [(item.parsed or {})["debater"] for item in summaries] == debaters * rounds
    assert {item.visibility for item in summaries} == {"judge"}
    prompts = [prompt for prompt in voice.prompts if "this one expert" in prompt]
    assert len(prompts) == 3 * rounds
    assert all(prompt.count("<opinion>\n") == 2 for prompt in prompts)


async def test_without_the_option_nothing_more_is_sent() -> None:
    params = FeedbackParams(debaters=2, rounds=1)
    voice = voice_of()
    await debate_feedback(make_debate(voice, params, WINNER), params)
    assert not any("this one expert" in prompt for prompt in voice.prompts)


async def test_the_assistant_reads_the_summary_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "assistant.skops"
    frame = transcript(learnable(CASES), summaries=True)
    opinions = debater_opinions(frame, CASES)
    assistant = train_assistant(opinions, CASES, WINNER, source=opinion_source(frame))
    save_assistant(assistant, path)
    texts: list[str] = []

    def of_opinion(_: object, facts: str, position: str, opinion: str) -> float:
        texts.append(opinion)
        return 0.6

    monkeypatch.setattr(reliability.Assistant, "of_opinion", of_opinion)
    case = next(case for case in CASES if case.split == "test")
    params = FeedbackParams(debaters=2, rounds=1, assistant="a", statement_summaries=True)
    await debate_feedback(
        make_debate(voice_of(), params, WINNER, case, {"assistant": path}), params
    )
    assert texts == ["Expert in short."] * 2
    texts.clear()
    debate = make_debate(voice_of(None), params, WINNER, case, {"assistant": path})
    await debate_feedback(debate, params)
    assert not texts and not any(utterance.kind == "reliability" for utterance in debate.utterances)


@pytest.mark.parametrize(("is_trained", "is_requested"), [(True, False), (False, True)])
async def test_an_assistant_of_another_form_of_opinions_is_refused(
    is_trained: bool, is_requested: bool, tmp_path: Path
) -> None:
    path = tmp_path / "assistant.skops"
    frame = transcript(learnable(CASES), summaries=is_trained)
    opinions = debater_opinions(frame, CASES)
    save_assistant(train_assistant(opinions, CASES, WINNER, source=opinion_source(frame)), path)
    params = FeedbackParams(debaters=1, rounds=1, assistant="a", statement_summaries=is_requested)
    case = next(case for case in CASES if case.split == "test")
    debate = make_debate(voice_of(), params, WINNER, case, {"assistant": path})
    with pytest.raises(UserError, match="the same `statement_summaries`"):
        await debate_feedback(debate, params)
