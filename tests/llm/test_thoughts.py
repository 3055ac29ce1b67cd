"""Thoughts in replies: no word of a thought is an answer, in any template, closed or cut off."""

import pytest
from pydantic import BaseModel

from moot.llm.parsing.ladder import parse_label, parse_reply
from reply_forms import Stance, Verdict

MARKS = [
    ("<think>", "</think>"),
    ("<seed:think>", "</seed:think>"),
    ("<reflection>", "</reflection>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    ("analysis", "assistantfinal"),
]
THOUGHTS = ["YES", "Maybe YES.\nYES", "Prediction: YES\nConfidence: 60", "The answer is YES."]
OBJECT = '{"prediction": "NO", "confidence": 70, "reasoning": "x"}'


@pytest.mark.parametrize(("start", "end"), MARKS)
@pytest.mark.parametrize("thought", THOUGHTS)
def test_an_answer_after_a_thought_is_read(start: str, end: str, thought: str) -> None:
    assert parse_label(f"{start}{thought}{end}NO", ["NO", "YES"]).value == {"prediction": "NO"}
    value = parse_reply(f"{start}{thought}{end}{OBJECT}", Verdict).value
    assert value is not None
    assert (value["prediction"], value["confidence"]) == ("NO", 70)


@pytest.mark.parametrize("start", sorted({start for start, _ in MARKS}))
@pytest.mark.parametrize("thought", THOUGHTS)
def test_a_thought_that_is_cut_off_is_not_an_answer(start: str, thought: str) -> None:
    assert parse_label(f"{start}{thought}", ["NO", "YES"]).status == "invalid"
    assert parse_reply(f"{start}{thought}", Verdict).status == "invalid"
    assert parse_reply(f"{start}Maybe {OBJECT}", Verdict).status == "invalid"


@pytest.mark.parametrize("token", ["</s>", "<eoa>", "<|endoftext|>", "<|im_end|>", "<end_of_turn>"])
def test_an_end_token_is_not_part_of_a_label(token: str) -> None:
    parsed = parse_label(f"NO{token}\n", ["NO", "YES"])
    assert parsed.value == {"prediction": "NO"}


OPENINGS = [
    "Thinking... {0} seems right.", "Hmm, {0} is the better answer here.", "Hmm. The answer is {0}",
    "Let me think. The answer is {0} because of the lease.", "Okay, so let me see. {0} is correct.",
    "Alright, let me think step by step. The answer is {0}.", "Well, let's think. I say {0}.",
    "My first thought: {0}.", "I need to decide. I think the answer is {0}.", "嗯，答案是{0}。",
    "让我想想。答案是{0}。",
]  # fmt: skip
STATEMENTS = ["{0} seems right.", "The answer is {0}.", "{0}.", "{0} wins.\n", "Answer: {0}..."]
REVISIONS = [
    "Wait", "But wait", "Hmm", "Hmm, wait", "Actually,", "But actually,", "On second thought",
    "Oh no, wait", "Hold on", "Let me double-check", "Let me think again", "Correction:",
    "But then again", "Sorry, I meant", "Scratch that", "Actually, let me reconsider",
]  # fmt: skip
FORMS = [(("NO", "YES"), Verdict), (("PRO", "CON", "NEUTRAL"), Stance)]
END = " the other contract counts as well. So the answer is {1}."


def stated_labels(text: str, labels: tuple[str, ...], form: type[BaseModel]) -> set[str]:
    """Return the labels that both readers find in a reply that the server cut off."""
    answers = (parse_label(text, labels, is_cut=True), parse_reply(text, form, is_cut=True))
    return {str(answer.value["prediction"]).upper() for answer in answers if answer.value}


@pytest.mark.parametrize(("labels", "form"), FORMS)
@pytest.mark.parametrize("opening", OPENINGS)
def test_a_thought_without_marks_that_is_cut_off_states_nothing(
    opening: str, labels: tuple[str, ...], form: type[BaseModel]
) -> None:
    text = f"{opening} But wait,{END}".format(*labels)
    for end in range(1, len(text)):
        assert not stated_labels(text[:end], labels, form), text[:end]


@pytest.mark.parametrize(("labels", "form"), FORMS)
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_second_thought_withdraws_an_answer_wherever_it_is_cut(
    revision: str, labels: tuple[str, ...], form: type[BaseModel]
) -> None:
    for statement in STATEMENTS:
        before = statement.format(*labels)
        start = f"{before} {revision}"
        text = start + END.format(*labels)
        for end in range(len(before) + 2, len(text)):
            labels_read = stated_labels(text[:end], labels, form)
            assert labels_read <= ({labels[0]} if end < len(start) else set()), text[:end]


@pytest.mark.parametrize(("labels", "form"), FORMS)
def test_an_answer_before_a_second_thought_is_no_other_answer_if_cut(
    labels: tuple[str, ...], form: type[BaseModel]
) -> None:
    for statement in STATEMENTS:
        text = f"{statement} ".format(*labels)
        for end in range(1, len(text) + 1):
            assert stated_labels(text[:end], labels, form) <= {labels[0]}, text[:end]


@pytest.mark.parametrize(
    "reply",
    [
        "Let me think. He paid.\nAnswer: NO",
        "NO, actually he paid.",
        "NO. He was actually at home.",
        "NO - no proof was found.",
        "Actually, the answer is NO.",
        "Hmm, he paid. The answer is NO.",
    ],
)
def test_a_reply_that_ends_after_a_thought_is_read(reply: str) -> None:
    assert parse_label(reply, ("NO", "YES")).value == {"prediction": "NO"}


def test_an_object_at_the_end_of_a_thought_is_an_answer() -> None:
    thought = f"Let me think step by step. He paid. {OBJECT}"
    for text in (thought, f"{thought}\n\n"):
        value = parse_reply(text, Verdict, is_cut=True).value
        assert value is not None and value["prediction"] == "NO"
    assert parse_reply(f"{thought} But wait", Verdict, is_cut=True).value is None
