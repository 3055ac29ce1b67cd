"""Signs, units and small digits next to a number or a label are part of the value, or the value
is refused.
"""

import json

import pytest

from answer_labels import PAYMENT_FORM, check_grades, label_of
from moot.llm.parsing.ladder import parse_label, parse_reply

NOT_A_PERCENTAGE = [
    "¾", "7½", "70½", "7²", "7⁰", "7₀", "70‰", "<70", "≥70", "≤ 70 %", "$70", "€70",
    "1 in 4", "70 minus 5", "70 plus 5", "70. 5",
]  # fmt: skip
NOT_A_GRADE = [
    "7½", "½", "7²", "<8", "≥ 8", "$8", "€8", "8‰", "1. 8", "10 minus 2", "Grade: 10 minus 2",
    "Grade: <8", "8 of 12 rules", "8 in 10",
]  # fmt: skip
GRADES = [
    ("8 / 10", 8), ("8 of 10", 8), ("8 **out of** 10", 8), ("about 8", 8), ("Around 8", 8),
    ("eight", 8), ("八", 8), ("8分", 8), ("评分：8分", 8), ("Rating: [8]", 8), ("Rating: <8>", 8),
    ("<score>8</score>", 8), ("<grade> 8 </grade>", 8), ("8️⃣", None), ("$8$", 8),
    ("Score: [8/10]", 8),
]  # fmt: skip


@pytest.mark.parametrize("confidence", NOT_A_PERCENTAGE)
def test_a_confidence_with_a_sign_or_unit_is_missing(confidence: str) -> None:
    reply = json.dumps({"prediction": "YES", "confidence": confidence}, ensure_ascii=False)
    parsed = parse_reply(reply, PAYMENT_FORM)
    assert parsed.value == {"prediction": "YES"}
    assert "confidence" in parsed.missing


def test_a_grade_with_a_sign_or_unit_is_not_read() -> None:
    check_grades((reply, None) for reply in NOT_A_GRADE)


def test_a_grade_in_other_spellings_is_read() -> None:
    check_grades(GRADES)


SIGNED_LABELS = [
    ("-1", "0", "1"), ("-2", "-1", "0", "+1", "+2"), ("A+", "A", "A-"), ("C", "C++", "C#"),
    ("<50K", ">50K"), ("<=50K", ">50K"), ("≤1", ">1"), ("$1", "$5"), ("1", "10", "100"),
]  # fmt: skip
FRAMES = [
    "{0}", "**{0}**", "Answer: {0}", "Answer: **{0}**", "The answer is {0}.", "{0}\n", '"{0}"',
]  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("labels", SIGNED_LABELS)
def test_labels_that_differ_in_one_character_are_distinguished(
    frame: str, labels: tuple[str, ...]
) -> None:
    for label in labels:
        assert label_of(frame.format(label), labels) in (label, None)
        assert label_of(f"Answer: {label}", labels) == label


@pytest.mark.parametrize(("labels", "reply"), [
    (("0", "1"), "-1"), (("0", "1"), ">1"), (("0", "1"), "<1"), (("0", "1"), "$1"),
    (("0", "1"), "1,000"), (("0", "1"), "1²"), (("10", "12"), "1²"), (("1", "2", "3"), "½"),
    (("0", "1"), "Answer: -1"), (("0", "1"), "**-1**"), (("A", "B"), "B-"), (("A", "B"), "A+"),
    (("A", "B"), "Answer: B-"), (("<50K", ">50K"), "50K"), (("<=50K", ">50K"), "Answer: 50K"),
    (("-1", "0", "1"), "- 1"),
])  # fmt: skip
def test_another_sign_is_not_the_label(labels: tuple[str, ...], reply: str) -> None:
    assert label_of(reply, labels) is None


@pytest.mark.parametrize("invisible", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202c"])
def test_invisible_characters_are_no_part_of_a_label(invisible: str) -> None:
    for reply in (
        f"YES{invisible}",
        f"Y{invisible}ES",
        f"{invisible}YES",
        f"Answer: YES{invisible}",
    ):
        assert label_of(reply, ("NO", "YES")) == "YES"
    reply = json.dumps({"prediction": f"YES{invisible}", "confidence": 70})
    assert parse_reply(reply, PAYMENT_FORM).value == {"prediction": "YES", "confidence": 70}


@pytest.mark.parametrize("label", ["not guilty", "non-toxic", "not_entailment"])
@pytest.mark.parametrize("joint", [" ", "-", "_", "‑", "‐", "  ", "** **", "** "])
def test_a_label_of_two_words_is_read_with_any_joint(label: str, joint: str) -> None:
    first, _, second = label.replace("-", " ").replace("_", " ").partition(" ")
    spelling = (
        f"{'**' if '**' in joint else ''}{first}{joint}{second}{'**' if joint == '** **' else ''}"
    )
    labels = (second, label)
    assert label_of(spelling, labels) == label_of(f"Answer: {spelling}", labels) == label
    assert parse_label(second, labels).status == "strict"
