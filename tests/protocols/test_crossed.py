"""Protocols on other data: panels on other labels, Debate-Feedback on three, matched samples."""

from pathlib import Path
from typing import Any

import pytest

from messages import refusal
from moot.core.artifacts import describe, write_rows
from moot.core.cases import Task
from moot.llm.request import Request
from moot.protocols.debate import Debate
from moot.protocols.prompting import SelfConsistencyParams, self_consistency
from moot.studies.appellate.protocol_panel import human_panel, panel, synthetic_panel
from moot.studies.appellate.protocol_panel_params import (
    HumanPanelParams,
    PanelParams,
    SyntheticParams,
)
from moot.studies.feedback.protocol import debate_feedback
from moot.studies.feedback.protocol_params import FeedbackParams
from scripted_model import ScriptedModel, make_debate

WINNER = Task(
    noun="the case", question="Who wins?", labels=("defendant", "plaintiff"), positive="plaintiff"
)
STANCE = Task(noun="the text", question="Which side?", labels=("con", "neutral", "pro"))


TASKS = [
    WINNER,
    STANCE,
    Task(noun="the claim", question="Is it true?", labels=("true", "false"), positive=""),
    Task(noun="the post", question="Which?", labels=("a b", "c", "d", "e"), multilabel=True),
]


def vote_for(label: str, task: Task) -> dict[str, Any]:
    word = label.upper()
    return {"prediction": [word] if task.multilabel else word, "confidence": 70}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.noun)
async def test_a_panel_votes_by_generation_on_any_labels(task: Task) -> None:
    first, last = task.labels[0], task.labels[-1]
    votes = iter([first, first, last, last, last, first])

    def answer(request: Request, _: int) -> Any:
        return vote_for(next(votes), task) if request.schema else "It was clear. Confidence: 80"

    params = PanelParams(judges=3, rounds=2)
    voice = ScriptedModel(answer)
    debate = make_debate(voice, params, task)
    result = await panel(debate, params)
    assert result and result.prediction == last, "the last round decides"
    assert result.probability == pytest.approx(2 / 3)
    ballots = [utterance for utterance in debate.utterances if utterance.kind == "vote"]
    assert [vote.round for vote in ballots] == [1] * 3 + [2] * 3
    assert all(vote.visibility == vote.speaker for vote in ballots), "no judge reads them"
    assert not any("AFFIRM" in prompt for prompt in voice.prompts)
    assert not any(request.choices for request in voice.requests), "no log-probability is needed"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.noun)
async def test_one_model_votes_for_all_judges_on_any_labels(task: Task) -> None:
    first, last = (vote_for(task.labels[place], task)["prediction"] for place in (0, -1))

    def answer(request: Request, _: int) -> Any:
        if not request.schema:
            return "Judge 1: Well. Judge 2: No."
        return {"judge_1": last, "judge_2": first, "judge_3": last}

    params = SyntheticParams(judges=3, rounds=1)
    voice = ScriptedModel(answer)
    debate = make_debate(voice, params, task)
    result = await synthetic_panel(debate, params)
    assert result and result.prediction == task.labels[-1]
    assert not any("AFFIRM" in prompt for prompt in voice.prompts)


async def test_unusable_and_tied_votes_give_no_decision() -> None:
    params = PanelParams(judges=2, rounds=1)
    replies = iter([{"prediction": "CON"}, {"prediction": "PRO"}])
    voice = ScriptedModel(lambda request, _: next(replies) if request.schema else "text")
    assert await panel(make_debate(voice, params, STANCE), params) is None
    voice = ScriptedModel(lambda request, _: "perhaps" if request.schema else "text")
    debate = make_debate(voice, params, STANCE)
    assert await panel(debate, params) is None
    assert not any(utterance.usable for utterance in debate.utterances if utterance.kind == "vote")


async def test_the_sample_has_statements_only_on_appeals() -> None:
    params = HumanPanelParams(judges=3, rounds=1)
    with refusal():
        await human_panel(make_debate(ScriptedModel(lambda *_: "text"), params, WINNER), params)


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
    with refusal():
        await self_consistency(
            make_debate(ScriptedModel(lambda *_: "text"), params, WINNER, artifacts=files), params
        )
