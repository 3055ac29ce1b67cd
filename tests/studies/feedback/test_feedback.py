"""Debate-Feedback: Algorithm 1, its outlooks and its decisions."""

import math
from typing import Any

import pytest

from judge_scripts import script_judge
from moot.core.errors import LogprobsUnavailableError
from moot.llm.request import Request
from moot.protocols.reply_schemas import find_position
from moot.protocols.smoothing import STATED_CONFIDENCE, TOKEN_PROBABILITIES
from moot.studies.feedback.protocol import debate_feedback, find_misfit
from moot.studies.feedback.protocol_params import FeedbackParams
from scripted_model import ARTICLES, WINNER, ScriptedModel, make_debate


async def test_the_debate_follows_the_algorithm() -> None:
    params = FeedbackParams(debaters=2, rounds=2)
    debate = make_debate(script_judge([0.2, 0.8, 0.6]), params, WINNER)
    answer = await debate_feedback(debate, params)
    assert answer and answer.prediction == "plaintiff"
    assert answer.score == pytest.approx(0.55)  # by hand, above
    kinds = [
        (utterance.round, utterance.kind)
        for utterance in debate.utterances
        if utterance.source == "model"
    ]
    one_round = ["opening"] * 2 + ["rebuttal"] * 2 + ["summary", "prediction"]
    assert kinds == [
        (0, "prediction"),
        *((1, kind) for kind in one_round),
        *((2, kind) for kind in one_round),
    ]
    recorded = [utterance.parsed for utterance in debate.utterances if utterance.kind == "smoothed"]
    assert [step["smoothed"]["plaintiff"] for step in recorded if step] == pytest.approx(
        [0.2, 0.5, 0.55]
    )
    assert {step["probability"] for step in recorded if step} == {TOKEN_PROBABILITIES}


async def test_only_rebuttals_read_the_other_debaters() -> None:
    params = FeedbackParams(debaters=2, rounds=2, sides="opposed")
    voice = script_judge([0.5, 0.5, 0.5])
    debate = make_debate(voice, params, WINNER)
    await debate_feedback(debate, params)
    openings = [prompt for prompt in voice.prompts if "Give your reasons" in prompt]
    rebuttals = [prompt for prompt in voice.prompts if "Answer them" in prompt]
    assert len(openings) == len(rebuttals) == 4
    assert all("<opinion>\n" not in prompt for prompt in openings)
    assert all(prompt.count("<opinion>\n") == 2 for prompt in rebuttals)
    assert ["<summary>\n" in prompt for prompt in openings] == [
        False,
        False,
        True,
        True,
    ]  # the second round's
    sides = [utterance.prediction for utterance in debate.utterances if utterance.kind == "opening"]
    assert sides == ["plaintiff", "defendant"] * 2


async def test_the_judge_of_the_authors_code_reads_the_last_opening_twice() -> None:
    params = FeedbackParams(debaters=2, rounds=1, weight=1, judge_reads="last_opening")
    voice = script_judge([0.2, 0.8])
    debate = make_debate(voice, params, WINNER)
    answer = await debate_feedback(debate, params)
    assert answer and answer.score == pytest.approx(0.8)
    last_opening = [said.text for said in debate.utterances if said.kind == "opening"][-1]
    read = voice.prompts[-1].partition("<summary>\n")[2].partition("\n</summary>")[0]
    assert read == f"{last_opening}\n\n{last_opening}"
    assert not any("Sum up" in prompt for prompt in voice.prompts)


async def test_debaters_share_the_beginning_of_their_prompts() -> None:
    params = FeedbackParams(debaters=2, rounds=1, sides="opposed")
    voice = script_judge([0.5, 0.5])
    await debate_feedback(make_debate(voice, params, WINNER), params)
    start = voice.prompts[0].split("You are")[0]
    assert "lame horse" in start and all(prompt.startswith(start[:200]) for prompt in voice.prompts)


async def test_the_stated_confidence_replaces_missing_token_probabilities() -> None:
    def answer(request: Request, _: int) -> Any:
        if request.schema and "confidence" in request.schema["properties"]:
            return {"prediction": "DEFENDANT", "confidence": 60}
        return {"statement": "x", "prediction": "DEFENDANT"} if request.schema else "summary"

    params = FeedbackParams(debaters=1, rounds=1)
    voice = ScriptedModel(answer, token_probabilities=False)
    debate = make_debate(voice, params, WINNER)
    result = await debate_feedback(debate, params)
    assert result and result.prediction == "defendant" and result.score == pytest.approx(0.2)
    recorded = [
        utterance.parsed["probability"]
        for utterance in debate.utterances
        if utterance.kind == "smoothed" and utterance.parsed
    ]
    assert recorded == [STATED_CONFIDENCE, STATED_CONFIDENCE]
    assert sum(bool(request.choices) for request in voice.requests) == 1  # asked once, then known
    strict = FeedbackParams(debaters=1, rounds=1, answer="likelihood")
    with pytest.raises(LogprobsUnavailableError):
        await debate_feedback(
            make_debate(ScriptedModel(answer, token_probabilities=False), strict, WINNER), strict
        )


async def test_several_labels_are_asked_one_by_one_in_chinese() -> None:
    def answer(request: Request, _: int) -> Any:
        if request.choices:
            yes = 0.9 if "“264" in request.messages[-1].content else 0.2
            return {"是": math.log(yes), "否": math.log(1 - yes)}
        return (
            {"statement": "他偷了手机。", "prediction": ["264", "234"]}
            if request.schema
            else "摘要"
        )

    params = FeedbackParams(debaters=2, rounds=1, opinions="form")
    voice = ScriptedModel(answer)
    debate = make_debate(voice, params, ARTICLES)
    result = await debate_feedback(debate, params)
    assert result and result.prediction == "264" and result.logprobs is None
    assert {
        utterance.prediction for utterance in debate.utterances if utterance.kind == "opening"
    } == {"234;264"}
    assert all("你" in prompt for prompt in voice.prompts)
    assert "sides: free" in find_misfit(FeedbackParams(sides="opposed"), (), multilabel=True)


@pytest.mark.parametrize("broken", ["prediction", "statement"])
async def test_an_unusable_reply_leaves_no_answer(broken: str) -> None:
    def answer(request: Request, _: int) -> Any:
        if request.schema and broken in request.schema["properties"]:
            return "PLAINTIFF or DEFENDANT, who knows"
        return {"prediction": "PLAINTIFF", "confidence": 60} if request.schema else "text"

    params = FeedbackParams(debaters=1, rounds=1, answer="generation", opinions="form")
    assert await debate_feedback(make_debate(ScriptedModel(answer), params, WINNER), params) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I find for the defendant. The plaintiff will not prevail.", "defendant"),
        ("The plaintiff prevails on fraud; the defendant prevails on damages.", None),
        ("If the receipt is void, the plaintiff wins.", None),
        ("The horse was lame.", None),
        (
            "I strongly agree regarding the likelihood of the plaintiff, Richard T. Haynes,"
            ' prevailing in "A v. B."',
            "plaintiff",
        ),
        ("The evidence points to the defendant winning this appeal.", "defendant"),
        ("It is likely that the plaintiff, A, would prevail.", None),
        ("The court will give judgment for the defendant.", "defendant"),
        ("The judgment is affirmed for the appellee.", None),
    ],
)
def test_a_debaters_position_is_read_from_its_sentences(text: str, label: str | None) -> None:
    assert find_position(text, WINNER) == label


@pytest.mark.parametrize(("text", "labels"), [
    ('["264", "347"]', "264;347"), ("264", "264"), ("被告人应当从轻处罚。", None),
    ("判处264元罚金。", None),
])  # fmt: skip
def test_a_debater_lists_articles(text: str, labels: str | None) -> None:
    assert find_position(text, ARTICLES) == labels


async def test_debaters_speak_freely_in_the_papers_words_and_their_label_is_read() -> None:
    replies = iter(
        [
            "The plaintiff wins, I say.",
            "It is hard to tell.",
            "Defendant wins.",
            "PLAINTIFF or DEFENDANT?",
        ]
    )

    def answer(request: Request, _: int) -> Any:
        if request.choices:
            return dict.fromkeys(request.choices, -1.0)
        return next(replies, "In short.")

    names = {"plaintiff": "Plaintiff wins", "defendant": "Defendant wins"}
    params = FeedbackParams(debaters=2, rounds=1, label_names=names)
    voice = ScriptedModel(answer)
    debate = make_debate(voice, params, WINNER)
    assert await debate_feedback(debate, params)
    utterances = [item for item in debate.utterances if item.kind in ("opening", "rebuttal")]
    assert [item.prediction for item in utterances] == ["plaintiff", None, "defendant", None]
    assert all(item.usable for item in utterances)
    assert not any(request.schema for request in voice.requests)
    questions = [request for request in voice.requests if request.choices]
    assert {request.choices for request in questions} == {("Defendant wins", "Plaintiff wins")}
    for request in questions:
        assert "Defendant wins or Plaintiff wins" in request.messages[-1].content
    assert not any("PLAINTIFF" in prompt.replace("PLAINTIFF or", "") for prompt in voice.prompts)


@pytest.mark.parametrize("confidences", [(0, 0, 0), (70, 70, 70)])
@pytest.mark.parametrize(("answers", "decision"), [("DDP", "plaintiff"), ("PPD", "defendant")])
async def test_a_tied_debate_ends_with_the_latest_answer(
    answers: str, decision: str, confidences: tuple[int, int, int]
) -> None:
    verdicts = iter(zip(answers, confidences, strict=True))

    def answer(request: Request, _: int) -> Any:
        if request.schema and "confidence" in request.schema["properties"]:
            letter, confidence = next(verdicts)
            return {
                "prediction": {"D": "DEFENDANT", "P": "PLAINTIFF"}[letter],
                "confidence": confidence,
            }
        return {"statement": "x", "prediction": "DEFENDANT"} if request.schema else "summary"

    params = FeedbackParams(debaters=1, rounds=2, answer="generation")
    debate = make_debate(ScriptedModel(answer), params, WINNER)
    result = await debate_feedback(debate, params)
    assert result and result.prediction == decision and result.score == pytest.approx(0.5)
    assert result.logprobs is None, "no threshold is fitted on stated confidences"
    assert [
        utterance.prediction for utterance in debate.utterances if utterance.kind == "smoothed"
    ][-1] == decision


async def test_several_labels_with_confidence_0_are_the_named_labels() -> None:
    def answer(request: Request, _: int) -> Any:
        if request.schema and "confidence" in request.schema["properties"]:
            return {"prediction": ["264"], "confidence": 0}
        return {"statement": "x", "prediction": ["264"]} if request.schema else "摘要"

    params = FeedbackParams(debaters=1, rounds=1, answer="generation")
    result = await debate_feedback(make_debate(ScriptedModel(answer), params, ARTICLES), params)
    assert result and result.prediction == "264"
