"""Thoughts in replies: no word of a thought is an answer, in any template, closed or cut off."""

import pytest

from moot.llm.parsing.ladder import parse_label, parse_reply
from reply_forms import Verdict

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
def test_a_thought_that_is_cut_off_is_no_answer(start: str, thought: str) -> None:
    assert parse_label(f"{start}{thought}", ["NO", "YES"]).status == "invalid"
    assert parse_reply(f"{start}{thought}", Verdict).status == "invalid"
    assert parse_reply(f"{start}Maybe {OBJECT}", Verdict).status == "invalid"


@pytest.mark.parametrize("token", ["</s>", "<eoa>", "<|endoftext|>", "<|im_end|>", "<end_of_turn>"])
def test_an_end_token_is_no_part_of_a_label(token: str) -> None:
    parsed = parse_label(f"NO{token}\n", ["NO", "YES"])
    assert parsed.value == {"prediction": "NO"}
