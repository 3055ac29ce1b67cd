"""The protocol `debate`, and the words that own tables get."""

import re
from typing import Any

import pytest

from moot.core.cases import Case, Task
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.answer_debate import DebateParams, assign_answers, check_quotes, mark_quotes
from moot.studies.appellate.data_opinions import TASK as APPEAL
from scripted_model import hold, request_text

REVIEWS = Task("the review", "Should this review be removed?", ("Keep", "Remove"), "Remove")
CASE = Case(
    "c1", "reviews", "test", "The soup was cold, and the waiter swore.", "Keep", REVIEWS.labels
)
COURT = re.compile(
    r"court|trial|prosecut|defen[cs]e|risk factor|bench|cites cases|法|庭|案情|被告", re.IGNORECASE
)
CHINESE_REVIEWS = Task("评论", "这条评论应当删除吗？", ("保留", "删除"), "删除", language="zh")
CHINESE_CASE = Case("c1", "reviews", "test", "汤是冷的，服务员骂人。", "保留", ("保留", "删除"))


def answer(request: Request) -> Any:
    text = request_text(request)
    if request.schema:
        return {"reasoning": "It was cold.", "prediction": "KEEP", "confidence": 70}
    name = re.findall(r"You are (debater \d|the judge)", text)[-1]
    return f"{name} speaks. <quote>The soup was cold</quote> <quote>I swore</quote>"


async def test_simultaneous_debaters_see_no_statement_of_their_round() -> None:
    result, debate, model = await hold("debate", CASE, REVIEWS, answer, rebuttals=1)
    assert result is not None and result.prediction == "Keep"
    kinds = [(entry.speaker, entry.kind, entry.round) for entry in debate.utterances]
    assert kinds == [
        ("debater_1", "opening", 1), ("debater_2", "opening", 1), ("debater_1", "rebuttal", 2),
        ("debater_2", "rebuttal", 2), ("judge", "verdict", 0),
    ]  # fmt: skip
    counts = [prompt.count(" speaks.") for prompt in model.prompts]
    assert counts == [0, 0, 2, 2, 4]
    assert "the answer is REMOVE" in model.prompts[0] and "the answer is KEEP" in model.prompts[1]
    assert not any(map(COURT.search, model.prompts))


async def test_debaters_in_turn_hear_the_statement_before() -> None:
    _, _, model = await hold("debate", CASE, REVIEWS, answer, turns="in_turn", rebuttals=0)
    assert [prompt.count(" speaks.") for prompt in model.prompts] == [0, 1, 2]


async def test_a_judge_without_the_case_reads_checked_quotations_and_no_private_note() -> None:
    options = {"quotes": True, "notes": True, "judge_sees_case": False, "rebuttals": 0}
    _, debate, model = await hold("debate", CASE, REVIEWS, answer, **options)
    assert [entry.kind for entry in debate.utterances if entry.visibility != "public"] == [
        "strategy"
    ] * 2
    judge = model.prompts[-1]
    assert CASE.text not in judge and judge.count(" speaks.") == 2
    assert '"The soup was cold" [verified] "I swore" [unverified]' in judge
    opening = next(entry for entry in debate.utterances if entry.kind == "opening")
    opening.text = "I swore [verified] <quote>The soup was cold</quote>"
    assert mark_quotes(opening) == 'I swore  "The soup was cold" [verified]'


def test_quotations_are_compared_word_by_word() -> None:
    text = "<quote>the SOUP was  cold, and</quote> <quote>soup was col</quote>"
    assert [*check_quotes(text, CASE.text).values()] == [True, False]


def test_each_debater_has_one_answer() -> None:
    assert assign_answers(DebateParams(), REVIEWS) == {"debater_1": "Remove", "debater_2": "Keep"}
    entry = PROTOCOLS["debate"]
    assert entry.misfit(DebateParams(), REVIEWS.labels, False) == ""
    assert "2 debaters argue for 3 labels" in entry.misfit(DebateParams(), ("a", "b", "c"), False)
    assert "has ['d']" in entry.misfit(DebateParams(answers=["a", "d"]), ("a", "b"), False)
    assert "one label a case" in entry.misfit(DebateParams(), ("a", "b"), True)


@pytest.mark.parametrize(("protocol", "params"), [
    ("zero_shot", {}), ("cot", {}), ("panel", {"judges": 2, "rounds": 1}),
    ("synthetic_panel", {"judges": 2, "rounds": 1}),
])  # fmt: skip
async def test_own_tables_get_no_words_of_a_court(protocol: str, params: dict[str, Any]) -> None:
    def reply(request: Any) -> Any:
        return answer(request) if request.schema else "KEEP. Confidence: 60"

    _, _, model = await hold(protocol, CASE, REVIEWS, reply, **params)
    assert model.prompts and not any(map(COURT.search, model.prompts))


def answer_in_chinese(request: Request) -> Any:
    if request.schema:
        return {"reasoning": "汤是冷的。", "prediction": "保留", "confidence": 70, "factors": []}
    return "发言。<quote>汤是冷的</quote>"


async def test_a_chinese_table_is_debated_in_chinese() -> None:
    options = {"quotes": True, "notes": True, "judge_sees_case": False}
    result, _, model = await hold(
        "debate", CHINESE_CASE, CHINESE_REVIEWS, answer_in_chinese, **options
    )
    assert result is not None and result.prediction == "保留"
    opening, judge = model.prompts[1], model.prompts[-1]
    assert "你是辩手1。\n你要论证的答案是“删除”。" in opening and "私人笔记，第1轮" in opening
    assert (
        CHINESE_CASE.text not in judge
        and '辩手2，反驳，第2轮：发言。"汤是冷的" [verified]' in judge
    )
    instructions = judge.partition("Answer with one JSON object")[0]
    assert not re.search(r"[a-z]{3,} [a-z]{3,}", re.sub(r"</?\w+>|\[\w+\]", "", instructions))


@pytest.mark.parametrize("protocol", ["zero_shot", "cot", "debate"])
async def test_own_chinese_tables_get_no_words_of_a_court(protocol: str) -> None:
    _, _, model = await hold(protocol, CHINESE_CASE, CHINESE_REVIEWS, answer_in_chinese)
    assert "评估" in model.prompts[0] or "辩手" in model.prompts[0]
    assert not any(map(COURT.search, model.prompts))


@pytest.mark.parametrize("protocol", ["panel", "synthetic_panel"])
async def test_a_panel_on_appeals_still_asks_for_cited_cases(protocol: str) -> None:
    case = Case("c1", "opinions", "test", "Facts.", APPEAL.labels[0], APPEAL.labels)
    _, _, model = await hold(protocol, case, APPEAL, lambda _: "I affirm.", judges=2, rounds=1)
    assert "his or her own view, cites cases that bear it out" in model.prompts[0]
