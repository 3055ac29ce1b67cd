"""Debate-Feedback: Algorithm 1, the assistant, and the reasoning methods."""

import json
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import skops.io

from moot.core.cases import Case
from moot.core.errors import LogprobsUnavailableError, UserError
from moot.llm.request import Request
from moot.protocols.reply_schemas import find_position
from moot.studies.feedback.protocol import (
    STATED_CONFIDENCE,
    TOKEN_PROBABILITIES,
    FeedbackParams,
    debate_feedback,
)
from moot.studies.feedback.protocol_reasoning import (
    ReasoningParams,
    ReflexionParams,
    four_step_chain_of_thought,
    reflexion,
)
from moot.studies.feedback.reliability import (
    OPINION_COLUMNS,
    Assistant,
    debater_opinions,
    load_assistant,
    save_assistant,
    train_assistant,
)
from scripted_model import ARTICLES, WINNER, ScriptedModel, make_debate

# Algorithm 1


def script_judge(shares: Sequence[float]) -> ScriptedModel:
    """Debaters speak freely; the judge's probability of the plaintiff runs through `shares`."""
    remaining_shares = iter(shares)

    def answer(request: Request, _: int) -> Any:
        if request.choices:
            share = next(remaining_shares)
            return {"PLAINTIFF": math.log(share), "DEFENDANT": math.log(1 - share)}
        if request.schema and "statement" in request.schema["properties"]:
            return {"statement": "The horse was lame.", "prediction": "PLAINTIFF"}
        return "In short, the horse was lame."

    return ScriptedModel(answer)


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


@pytest.mark.parametrize(
    ("changes", "score"),
    [({"weight": 0.0}, 0.2), ({"smoothing": False}, 0.6), ({"weight": 1.0}, 0.6)],
)
async def test_the_weight_sets_the_share_of_the_latest_outlook(
    changes: dict[str, Any], score: float
) -> None:
    params = FeedbackParams(debaters=1, rounds=2, **changes)
    answer = await debate_feedback(
        make_debate(script_judge([0.2, 0.8, 0.6]), params, WINNER), params
    )
    assert answer and answer.score == pytest.approx(score)


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
    opposed = FeedbackParams(sides="opposed")
    with pytest.raises(UserError, match="sides: free"):
        await debate_feedback(make_debate(voice, opposed, ARTICLES), opposed)


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
        (
            (
                "I expect the court to rule in favor of the plaintiff, A. The defendant's receipt"
                " limits little."
            ),
            "plaintiff",
        ),
        ("It is likely that the plaintiff, A, would prevail.", "plaintiff"),
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
        ("The likelihood of the plaintiff prevailing is low.", None),
        ("There is a slim chance of the plaintiff winning.", None),
        ("The court will give judgment for the defendant.", "defendant"),
        ("The judgment is affirmed for the appellee.", None),
    ],
)
def test_a_debaters_position_is_read_from_its_sentences(text: str, label: str | None) -> None:
    assert find_position(text, WINNER) == label


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("本案应当适用《中华人民共和国刑法》第二百六十四条。", "264"),
        ("被告人构成盗窃罪（第264条），并构成贩卖毒品罪（第347条）。", "264;347"),
        ("不应适用第347条，因为没有公共秩序的问题。应适用刑法第264条。", "264"),
        ("Article 264 applies.", "264"),
        ("第3条第264款", None),
        ("被告人应当从轻处罚。", None),
    ],
)
def test_a_debater_names_articles_in_prose(text: str, labels: str | None) -> None:
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


# The assistant


def court_cases(count: int = 24, dataset: str = "toy") -> list[Case]:
    """Return cases that plaintiffs win if goods were broken.

    Of each eight, four are for training, two for validation and two for the test.
    """
    splits = ["train", "train", "train", "train", "validation", "validation", "test", "test"]
    stories = [
        "broken crates of glass, which the carrier dropped",
        "late payment, which the buyer had never promised",
    ]
    return [
        Case(
            f"c{n}",
            dataset,
            splits[n % 8],
            f"Matter {n} of {n * 7} sacks: {stories[n % 2]}; witness {n * 13} and clerk {n * 17}"
            " were heard.",
            "plaintiff" if n % 2 == 0 else "defendant",
            WINNER.labels,
        )
        for n in range(count)
    ]


def make_opinions(cases: Sequence[Case]) -> pd.DataFrame:
    """Return an opinion for each label on each case."""
    rows = [
        (
            case.case_id,
            case.case_id,
            case.split,
            case.text,
            label,
            f"Clearly the {label}.",
            case.target == label,
        )
        for case, label in product(cases, WINNER.labels)
    ]
    return pd.DataFrame(rows, columns=list(OPINION_COLUMNS))


@pytest.fixture(scope="module")
def assistant() -> Assistant:
    cases = court_cases(48)
    frame = make_opinions(cases)
    return train_assistant(
        frame[frame["split"] != "test"], cases, WINNER, features="tfidf-crossed", seed=1
    )


def test_the_assistant_learns_correct_opinions(assistant: Assistant) -> None:
    test = make_opinions([case for case in court_cases(48) if case.split == "test"])
    reliability = assistant.reliability(test)
    assert reliability[test["right"]].min() > reliability[~test["right"]].max()
    assert ((reliability > 0) & (reliability < 1)).all()


def test_the_assistant_is_not_trained_on_test_cases_or_copies() -> None:
    cases = court_cases(48)
    tested = next(case for case in cases if case.split == "test")
    twin = Case("twin", "toy", "train", tested.text + " Also.", tested.target, tested.labels)
    frame = make_opinions([*cases, twin])
    assistant = train_assistant(frame[frame["split"] != "test"], [*cases, twin], WINNER)
    assert assistant.card.left_out == ("twin",)
    test_ids = {case.case_id for case in cases if case.split == "test"}
    assert not ({"twin"} | test_ids) & {*assistant.card.trained_on, *assistant.card.calibrated_on}
    with pytest.raises(UserError, match="opinions over the test case"):
        train_assistant(frame, [*cases, twin], WINNER)


@pytest.mark.parametrize(
    ("split_name", "is_correct"), [("train", True), ("train", False), ("validation", True)]
)
def test_opinions_of_one_class_are_an_error(split_name: str, is_correct: bool) -> None:
    frame = make_opinions(court_cases())
    frame = frame[
        (frame["split"] != "test")
        & ((frame["split"] != split_name) | (frame["right"] == is_correct))
    ]
    with pytest.raises(
        UserError,
        match=f"opinions over {split_name} cases are all {'right' if is_correct else 'wrong'}",
    ):
        train_assistant(frame, court_cases(), WINNER)


def test_one_validation_case_is_enough() -> None:
    cases = court_cases(8)
    frame = make_opinions([case for case in cases if case.split == "train"] + [cases[4]])
    assert train_assistant(frame, cases, WINNER).card.calibrated_on == (cases[4].case_id,)


def test_a_stored_assistant_gives_the_same_reliabilities(
    assistant: Assistant, tmp_path: Path
) -> None:
    save_assistant(assistant, tmp_path / "a.skops")
    loaded = load_assistant(tmp_path / "a.skops")
    assert loaded.card == assistant.card and len(loaded.card.trained_on) == 24
    test = make_opinions(court_cases())
    assert (loaded.reliability(test) == assistant.reliability(test)).all()


def test_an_invalid_file_of_an_assistant_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text.skops").write_text("hello")
    skops.io.dump({"about": Path("x")}, tmp_path / "foreign.skops")
    with pytest.raises(UserError, match="no model that moot stored"):
        load_assistant(tmp_path / "text.skops")
    with pytest.raises(UserError, match="holds the type"):
        load_assistant(tmp_path / "foreign.skops")
    with pytest.raises(UserError, match="no such file"):
        load_assistant(tmp_path / "none.skops")


async def test_a_low_reliability_falls_back_to_the_first_outlook(
    assistant: Assistant, tmp_path: Path
) -> None:
    path = tmp_path / "assistant.skops"
    save_assistant(assistant, path)
    case = next(
        case for case in court_cases(48) if case.split == "test" and case.target == "defendant"
    )
    params = FeedbackParams(
        debaters=1, rounds=1, assistant="training", opinions="form"
    )  # the debater argues for the plaintiff: wrong
    debate = make_debate(script_judge([0.2, 0.8]), params, WINNER, case, {"assistant": path})
    answer = await debate_feedback(debate, params)
    assert answer and answer.score == pytest.approx(0.2) and answer.prediction == "defendant"
    believed = next(utterance for utterance in debate.utterances if utterance.kind == "reliability")
    assert believed.parsed and believed.parsed["reliability"] < 0.5
    trusting = params.model_copy(update={"threshold": 0.0})
    voice = script_judge([0.2, 0.8])
    answer = await debate_feedback(
        make_debate(voice, trusting, WINNER, case, {"assistant": path}), trusting
    )
    assert answer and answer.score == pytest.approx(0.5)
    assert any("How reliable their opinions are" in prompt for prompt in voice.prompts)


async def test_an_assistant_of_other_data_or_of_this_case_is_an_error(
    assistant: Assistant, tmp_path: Path
) -> None:
    path = tmp_path / "other.skops"
    save_assistant(assistant, path)
    params = FeedbackParams(debaters=1, rounds=1, assistant="training")
    for case, message in [
        (court_cases(8, dataset="justice")[6], "trained on data set 'toy'"),
        (court_cases(8)[0], "trained the assistant"),
    ]:
        debate = make_debate(script_judge([0.2, 0.8]), params, WINNER, case, {"assistant": path})
        with pytest.raises(UserError, match=message):
            await debate_feedback(debate, params)


def test_opinions_are_read_off_transcripts() -> None:
    cases = court_cases(8)
    transcripts = pd.DataFrame(
        [
            ("c0#0", "c0", "opening", "", "plaintiff", "Broken!"),
            ("c0#0", "c0", "rebuttal", "failed", "plaintiff", ""),
            ("c1#0", "c1", "rebuttal", "strict", "plaintiff", "Owed!"),
            ("c1#0", "c1", "summary", "", None, "In short"),
        ],
        columns=["debate_id", "case_id", "kind", "parse_status", "prediction", "text"],
    )
    frame = debater_opinions(transcripts, cases)
    assert list(frame["opinion"]) == ["Broken!", "Owed!"] and list(frame["right"]) == [True, False]


# Reasoning


async def test_four_steps_then_the_answer() -> None:
    steps = ["facts", "rule", "sides", "conclusion"]
    voice = ScriptedModel(lambda *_: {"steps": steps, "prediction": "PLAINTIFF", "confidence": 70})
    params = ReasoningParams()
    answer = await four_step_chain_of_thought(make_debate(voice, params, WINNER), params)
    assert answer and answer.prediction == "plaintiff" and answer.score == pytest.approx(0.85)
    assert len(voice.requests) == 1 and "four steps" in voice.prompts[0]
    three_steps = ScriptedModel(
        lambda *_: {"steps": steps[:3], "prediction": "PLAINTIFF", "confidence": 70}
    )
    answer = await four_step_chain_of_thought(make_debate(three_steps, params, WINNER), params)
    assert answer and answer.prediction == "plaintiff", (
        "the number of steps is no condition of an answer"
    )


async def test_likelihood_after_reasoning() -> None:
    voice = ScriptedModel(
        lambda request, _: (
            {"PLAINTIFF": -2.0, "DEFENDANT": -1.0} if request.choices else "1. He asks."
        )
    )
    params = ReasoningParams(answer="likelihood")
    answer = await four_step_chain_of_thought(make_debate(voice, params, WINNER), params)
    assert answer and answer.prediction == "defendant" and "1. He asks." in voice.prompts[1]


@pytest.mark.parametrize(
    ("stands", "calls"), [([True], 2), ([False, True], 4), ([False, False], 5)]
)
async def test_reflexion_reads_only_its_own_criticism(stands: list[bool], calls: int) -> None:
    verdicts = iter(stands)

    def answer(request: Request, _: int) -> Any:
        if request.schema and "stands" in request.schema["properties"]:
            return {"criticism": "Look at the receipt.", "stands": next(verdicts)}
        return {"steps": ["a", "b", "c", "d"], "prediction": "DEFENDANT", "confidence": 50}

    params = ReflexionParams(reflections=2)
    voice = ScriptedModel(answer)
    case = Case(
        "c1",
        "toy",
        "test",
        "A sold B a lame horse.",
        "plaintiff",
        WINNER.labels,
        {"secret": "GOLD"},
    )
    result = await reflexion(make_debate(voice, params, WINNER, case), params)
    assert result and result.prediction == "defendant"
    assert len(voice.requests) == calls
    assert sum("Look at the receipt." in prompt for prompt in voice.prompts) == sum(
        not stand for stand in stands
    )
    assert not any("GOLD" in prompt for prompt in voice.prompts)
    assert json.dumps([request.schema for request in voice.requests])  # schemas can be sent


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
