"""Protocols on other data: panels on other labels, Debate-Feedback on three, matched samples."""

from pathlib import Path
from typing import Any

import pytest

from moot.core.artifacts import describe, write_rows
from moot.core.cases import Task
from moot.core.errors import UserError
from moot.llm.request import Request
from moot.protocols.debate import Debate
from moot.protocols.prompting import SelfConsistencyParams, self_consistency
from moot.studies.appellate.protocol_panel import PanelParams, panel
from moot.studies.feedback.protocol import FeedbackParams, debate_feedback
from scripted_model import ScriptedModel, make_debate

WINNER = Task(
    noun="the case", question="Who wins?", labels=("defendant", "plaintiff"), positive="plaintiff"
)
STANCE = Task(noun="the text", question="Which side?", labels=("con", "neutral", "pro"))


async def test_a_panel_votes_on_the_labels_of_its_data() -> None:
    votes = iter([-1.0, -3.0, -1.0])

    def answer(request: Request, _: int) -> Any:
        if not request.choices:
            return "The receipt was clear. Confidence: 80"
        about_the_case = any("lame horse" in message.content for message in request.messages)
        return {"PLAINTIFF": next(votes) if about_the_case else -2.0, "DEFENDANT": -2.0}

    params = PanelParams(judges=3, rounds=1, votes="likelihood")
    voice = ScriptedModel(answer)
    answer_of_panel = await panel(make_debate(voice, params, WINNER), params)
    assert (
        answer_of_panel
        and answer_of_panel.prediction == "plaintiff"
        and answer_of_panel.score == pytest.approx(2 / 3)
    )
    assert "PLAINTIFF" in voice.prompts[-1] and not any(
        "AFFIRM" in prompt for prompt in voice.prompts
    )


async def test_a_panel_without_votes_needs_the_appellate_question() -> None:
    params = PanelParams(judges=3, rounds=1)
    with pytest.raises(UserError, match="votes: likelihood"):
        await panel(make_debate(ScriptedModel(lambda *_: "text"), params, WINNER), params)


async def test_debate_feedback_on_three_labels() -> None:
    shares = iter(
        [{"CON": -1.0, "NEUTRAL": -2.0, "PRO": -0.5}, {"CON": -0.2, "NEUTRAL": -3.0, "PRO": -3.0}]
    )
    voice = ScriptedModel(lambda request, _: next(shares) if request.choices else "text")
    params = FeedbackParams(debaters=3, rounds=1, sides="opposed")
    debate = make_debate(voice, params, STANCE)
    answer = await debate_feedback(debate, params)
    assert answer and answer.prediction == "con" and answer.score is None
    assert {
        utterance.prediction for utterance in debate.utterances if utterance.kind == "opening"
    } == set(STANCE.labels)


def predictions(
    path: Path, calls: int | None, prompt_tokens: int, completion_tokens: int, price: float = 0.0
) -> Path:
    tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    row = {"calls": calls, **tokens, "cost_usd": price * (prompt_tokens + 4 * completion_tokens)}
    write_rows(path, "predictions", [row, row], describe())
    return path


@pytest.mark.parametrize(
    ("k", "price", "samples"),
    [("matched", 0, 7), ("matched_tokens", 0, 2), ("matched_tokens", 1e-6, 4), (3, 0, 3)],
)
async def test_self_consistency_is_matched_to_calls_or_tokens(
    k: Any, price: float, samples: int, tmp_path: Path
) -> None:
    """A debate has 7 calls, 1800 prompt tokens and 200 generated ones; a sample has 300 and 100.

    This makes two samples by generated tokens, and 2600 / 700 samples if a generated token costs
    four times as much.
    """
    files = {
        "source_experiment": predictions(tmp_path / "debate.parquet", 7, 1800, 200, price),
        "single_prompt_experiment": predictions(tmp_path / "single.parquet", 2, 600, 200, price),
    }
    factors = [{"factor": "x", "weight": "low", "reasoning": "y"}]
    voice = ScriptedModel(
        lambda *_: {"factors": factors, "prediction": "PLAINTIFF", "confidence": 60}
    )
    params = SelfConsistencyParams(
        k=k, source_experiment="debate", single_prompt_experiment="single"
    )
    debate: Debate = make_debate(voice, params, WINNER, artifacts=files)
    answer = await self_consistency(debate, params)
    assert answer and answer.prediction == "plaintiff" and len(voice.requests) == samples


async def test_samples_cannot_be_matched_to_recorded_debates(tmp_path: Path) -> None:
    params = SelfConsistencyParams(k="matched", source_experiment="debate")
    files = {"source_experiment": predictions(tmp_path / "debate.parquet", None, 0, 0)}
    with pytest.raises(
        UserError,
        match=r"the number of calls in the recorded debates of debate is not known\. Set `k`",
    ):
        await self_consistency(
            make_debate(ScriptedModel(lambda *_: "text"), params, WINNER, artifacts=files), params
        )


async def test_single_prompts_ask_about_chinese_cases_in_chinese() -> None:
    task = Task(
        noun="本案",
        question="适用哪些条文？",
        labels=("234", "264"),
        language="zh",
        multilabel=True,
    )
    factors = [{"factor": "x", "weight": "low", "reasoning": "y"}]
    voice = ScriptedModel(
        lambda *_: {"factors": factors, "prediction": ["264", "234"], "confidence": 60}
    )
    params = SelfConsistencyParams(k=2)
    answer = await self_consistency(make_debate(voice, params, task), params)
    assert answer and answer.prediction == "234;264"
    assert all("逐步思考" in prompt for prompt in voice.prompts)
