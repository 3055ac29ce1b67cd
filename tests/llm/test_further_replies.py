"""Replies of further forms: tables, emojis, tags, two steps, second thoughts, repeated orders."""

import json

import pytest

from answer_labels import (
    DISPUTES,
    LABEL_SETS,
    LETTERS,
    check_labels,
    check_no_label,
    fill_frames,
    label_of,
)
from moot.core.cases import Task
from moot.llm.parsing.ladder import parse_reply
from moot.protocols.reply_schemas import prediction_schema

READ = [
    "✅ {0}", "❌ {0}", "👉 Final answer: **{0}** ⚖️", "**Answer:** ✅ **{0}**", "Answer → {0}",
    "{1}/{0}: {0}", "Overall: {0}", "It has two sides. Overall: {0}", "So: {0}", "Winner: {0}",
    "<answer>{0}</answer>", "<label>{0}</label><reason>the rent</reason>",
    "Step 1: the lease ended.\nStep 2: he paid.\nAnswer: {0}",
    'You wrote: "Answer with {0} or {1}." My answer: {0}',
    "Answer with exactly one word: {0} or {1}.\n\n{0}",
    "| Label | Points |\n|---|---|\n| {1} | 2 |\n| {0} | 7 |\n\n**Verdict: {0}**",
    "### Answer\n\n{0}\n\n### Explanation\n\nThe lease had ended.", "```\n{0}\n```",
    "我认为答案是{0}。", "判断结果：{0}", r"\[\boxed{{\text{{{0}}}}}\]", "{0}!!!", "({0})",
]  # fmt: skip
NOT_READ = [
    "| {0} | {1} |\n|---|---|\n| strong | weak |", "| Option | Reason |\n|---|---|\n| {0} | paid |",
    "Answer with one of {0}, {1}.", "{0}/{1}:", "First answer: {0}. Second answer: {1}.",
    "{0} and {1}", "1. {0}\n2. {1}", "Not {0}", "Answer: {0}. Wait, let me think again.",
    "{0} is right. Hmm, wait.", "Answer: {0}\nHold on. The lease ended before.",
    "The answer is not {0}.", "✅ {0} ❌ {1}", "<answer>{0} or {1}</answer>", "答案：{0}或{1}",
    r"\boxed{{{0}}} is wrong; \boxed{{{1}}}", "It may be {0} or {1}.",
]  # fmt: skip


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_a_clear_reply_is_read(labels: tuple[str, ...]) -> None:
    check_labels(fill_frames(READ, labels), labels)


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_a_reply_that_chooses_nothing_is_not_read(labels: tuple[str, ...]) -> None:
    check_no_label((reply for reply, _ in fill_frames(NOT_READ, labels)), labels)


@pytest.mark.parametrize("frame", READ + NOT_READ)
@pytest.mark.parametrize("labels", LABEL_SETS)
def test_further_replies_do_not_change_their_answer_if_cut(
    frame: str, labels: tuple[str, ...]
) -> None:
    for text, _ in fill_frames([frame], labels):
        full_label = label_of(text, labels)
        for share in (0.4, 0.5, 0.6, 0.7, 0.8):
            part = text[: round(share * len(text))]
            for is_cut in (False, True):
                cut_label = label_of(part, labels, is_cut=is_cut)
                assert None in (full_label, cut_label) or cut_label == full_label, part


CHINESE = [
    "本案属于{0}，不属于{1}。", "{0}，而不是{1}", "综上，本案应认定为{0}。",
    "**{0}**\n\n理由：有合同。", "类别：{0}，并非{1}。",
]  # fmt: skip


def test_a_denied_chinese_label_is_not_a_second_answer() -> None:
    check_labels(fill_frames(CHINESE, DISPUTES), DISPUTES)
    assert label_of(f"可能是{DISPUTES[0]}，也可能是{DISPUTES[1]}。", DISPUTES) is None
    assert label_of(f"不是{DISPUTES[0]}", DISPUTES) is None


@pytest.mark.parametrize("label", LETTERS)
def test_a_letter_is_answered_with_the_text_of_its_option(label: str) -> None:
    other_label = next(letter for letter in LETTERS if letter != label)
    assert label_of(f"Answer: {label}) arson", LETTERS) == label
    assert label_of(f"The correct answer is {label}) arson.", LETTERS) == label
    assert label_of(f"Answer: {label}) arson or {other_label}) theft", LETTERS) is None
    assert label_of(f"{label}) arson\n{other_label}) theft", LETTERS) is None


def test_a_label_that_is_an_emoji_is_kept() -> None:
    thumbs = ("👍", "👎")
    assert [label_of(thumb, thumbs) for thumb in thumbs] == list(thumbs)
    assert label_of("Answer: 👎", thumbs) == "👎"
    assert label_of("🤷", thumbs) is None


@pytest.mark.parametrize("separator", [" ", "  ", ", ", "\n", "; ", " | "])
def test_two_fields_on_one_line_are_read(separator: str) -> None:
    form = prediction_schema(Task("case", "Who won?", ("lost", "won")), reasoning=False)
    value = parse_reply(f"Prediction: WON{separator}Confidence: 70", form).value
    assert value == {"prediction": "WON", "confidence": 70}
    quotation = 'He said: "the answer is WON". Confidence: 70'
    assert parse_reply(quotation, form).value is None
    dumped = json.dumps({"prediction": "✅ WON", "confidence": 70}, ensure_ascii=False)
    assert parse_reply(dumped, form).value == {"prediction": "WON", "confidence": 70}
