"""Replies and the values that a reader would take from them; None where it would ask again."""

import json
import time
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, create_model

from moot.core.cases import Task
from moot.llm.parsing.replies import parse_label, parse_reply
from moot.llm.parsing.schema import describe_schema
from moot.protocols.reply_schemas import prediction_schema
from moot.studies.conference.forms import Grade

YES_NO = ("NO", "YES")
GUILT = ("GUILTY", "NOT GUILTY")
APPEAL = ("AFFIRM", "NOT AFFIRM")
SIDES = ("PLAINTIFF", "DEFENDANT")
LETTERS = ("A", "B", "C", "D")
STANCES = ("PRO", "CON", "NEUTRAL")
CHINESE = ("支持", "反对")

LABELS = [
    # the whole reply but for marks
    (YES_NO, "YES", "YES"), (YES_NO, "**No.**", "NO"), (GUILT, "not_guilty", "NOT GUILTY"),
    (APPEAL, "Not affirm", "NOT AFFIRM"), (("-1", "0", "1"), "-1", "-1"), (LETTERS, "(B)", "B"),
    (YES_NO, "AYES", None), (YES_NO, "YES or NO", None), (GUILT, "[ ] GUILTY", None),
    # announced
    (YES_NO, "Answer: NO, because he was ill.", "NO"), (LETTERS, "ANSWER: $B$", "B"),
    (YES_NO, "So the answer (Yes or No) is No.", "NO"), (SIDES, "[[DEFENDANT]]", "DEFENDANT"),
    (STANCES, "Long reasons.\n\n\\boxed{\\text{Con}}", "CON"), (LETTERS, "正确答案：B", "B"),
    (STANCES, "Both moods occur.\n\nCON", "CON"), (("1", "0"), "Answer=>1", "1"),
    (LETTERS, "Antwort:\n\nAntwort: C", "C"), (LETTERS, "ANSWER: **B. robbery**", "B"),
    (YES_NO, "<answer>YES</answer>", "YES"), (LETTERS, "ANSWER: A, B, and C", None),
    (STANCES, "Answer: PRO\nOn reflection the correct answer is CON.", None),
    (YES_NO, "If he paid, the answer is YES.", None), (YES_NO, "The answer is not YES.", None),
    # the first or last sentence
    (GUILT, "We find the defendant GUILTY.", "GUILTY"),
    (SIDES, "PLAINTIFF cites a lease; DEFENDANT none. Thus, PLAINTIFF is right.", "PLAINTIFF"),
    (YES_NO, "No. The two men on the bridge cannot be helped.", "NO"),
    (STANCES, "The stance is PRO.", "PRO"), (CHINESE, "支持。租客付了款。", "支持"),
    (SIDES, "Given the log, DEFENDANT is better.", "DEFENDANT"), (YES_NO, "In sum, NO.", "NO"),
    # what others answer, and suppositions
    (YES_NO, "He claims that the answer is YES.", None), (SIDES, "She says it is DEFENDANT.", None),
    (APPEAL, "Had the notice come in time, AFFIRM.", None), (CHINESE, "我认为应当支持。", None),
    (APPEAL, "I lack the facts to say AFFIRM.", None), (GUILT, "His answer was GUILTY.", None),
    (SIDES, "PLAINTIFF is what the other side wants.", None),
    (SIDES, "The PLAINTIFF's answer is DEFENDANT.", None),
    (("AI", "HUMAN"), "AI is named in the third line of the text.", None),
    (("LIABLE", "FREE"), "The maker admitted that it is LIABLE.", None),
    (("1", "2"), "1. The brief is clear.", None), (SIDES, "I disagree with DEFENDANT.", None),
    (APPEAL, "It is AFFIRM, or NOT AFFIRM.", None), (CHINESE, "我不支持。", None),
    (GUILT, "The defendant is GUILTY and NOT GUILTY.", None), (LETTERS, "A witness saw him.", None),
    (YES_NO, "Yes, but I am not sure; it may as well be no.", None), (YES_NO, "Is it YES?", None),
    (YES_NO, "No breach was ever found.", None), (LETTERS, "B. But A is as good.", None),
    (("WON", "LOST"), "The tenant lost his job in May.", None),
    # a list of the options
    (STANCES, "PRO: it praises the tram.\nCON:", None), (LETTERS, "A) robbery\nB) arson\nC", None),
    # a reasoning block
    (YES_NO, "<think>YES, surely</think>NO", "NO"), (STANCES, "[THINK]It praises, so\nPRO", None),
    (YES_NO, "<|channel|>analysis YES<|channel|>final<|message|>NO<|return|>", "NO"),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "reply", "label"), LABELS)
def test_labels(labels: tuple[str, ...], reply: str, label: str | None) -> None:
    assert (parse_label(reply, labels).value or {}).get("prediction") == label


def test_labels_with_capitals_are_compared_in_any_case() -> None:
    assert parse_label("lost", ("Lost", "Won")).value == {"prediction": "Lost"}
    assert parse_label("The answer is WON.", ("Lost", "Won")).value == {"prediction": "Won"}


GRADES = [
    ("8", 8), ("**6**", 6), ("7: it keeps to the form", 7), ("Rating: [[6]]", 6), ("7.00/10", 7),
    ("The grade is 2.", 2), ("Right.\nScore: 5", 5), ('{"grade": "8/10"}', 8), ("评分：6", 6),
    ("7 or 8", None), ("Grade: 7, maybe 8", None), ("7.5", None), ("11", None), (".7", None),
    ("1. It is late.\n2. It is long.", None),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "grade"), GRADES)
def test_numbers(reply: str, grade: int | None) -> None:
    assert (parse_reply(reply, Grade).value or {}).get("grade") == grade


TASK = Task("case", "Did he pay?", ("no", "yes"))
FORM = prediction_schema(TASK, reasoning=True)
VALUE = {"reasoning": "if (user) {}", "prediction": "YES", "confidence": 70}
OBJECT = json.dumps(VALUE)
OBJECTS = [
    (OBJECT, "strict"), (f"```json\n{OBJECT}\n```", "repaired"), (OBJECT * 2, "repaired"),
    (f"[{OBJECT}]", "repaired"),
    (f"Let me see... {{x}}\n\n{OBJECT}\n\nIs {{more}} needed?", "repaired"),
    (f"<think>NO</think>{OBJECT}<|im_end|>", "strict"), (OBJECT.replace("70", '"70%"'), "repaired"),
    (OBJECT.replace('"', "'"), "repaired"), (OBJECT.replace("YES", "yes."), "repaired"),
    (OBJECT.replace("prediction", "Prediction"), "strict"),
    (f"{describe_schema(FORM)}\n{OBJECT}", "repaired"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "status"), OBJECTS)
def test_objects(reply: str, status: str) -> None:
    parsed = parse_reply(reply, FORM)
    assert (parsed.value, parsed.status) == (VALUE, status)


@pytest.mark.parametrize("reply", [
    describe_schema(FORM), OBJECT[:-1], OBJECT[:40], OBJECT + OBJECT.replace("YES", "NO"),
    f'{{"answer": {OBJECT}}}', OBJECT.replace("YES", "YES or NO"), f"The answer is NO.\n{OBJECT}",
    "{" * 99, "", "[]",
    '{"prediction": "YES", "prediction": "NO"}', '{prediction: YES, prediction: NO}',
])  # fmt: skip
def test_objects_that_state_no_answer(reply: str) -> None:
    parsed = parse_reply(reply, FORM)
    assert (parsed.value, parsed.status) == (None, "invalid")
    assert parsed.problem


def test_values_beyond_their_bounds_are_kept_beside_a_clear_answer() -> None:
    graded = {"reason": "Both accept the timetable. " * 20, "grade": 9}
    parsed = parse_reply(json.dumps(graded), Grade)
    assert (parsed.value, parsed.status) == (graded, "strict")
    factors = [{"factor": "x", "weight": "high", "reasoning": "y"}] * 22
    reply = {"factors": factors, "prediction": "YES", "confidence": 70}
    parsed = parse_reply(json.dumps(reply), prediction_schema(TASK, factors=10))
    assert (parsed.value, parsed.status) == (reply, "strict")


def test_words_for_an_object() -> None:
    parsed = parse_reply("**Prediction:** Yes\n**Confidence:** 70%", FORM)
    assert parsed.value == {"prediction": "YES", "confidence": 70}
    assert (parsed.status, list(parsed.missing)) == ("extracted", ["reasoning"])


LISTED = prediction_schema(Task("case", "Which?", ("fraud", "theft"), multilabel=True))


@pytest.mark.parametrize(("reply", "labels"), [
    ('["THEFT"]', ["THEFT"]), ("theft\nfraud", ["THEFT", "FRAUD"]), ("theft, ", None),
    ('{"prediction": "FRAUD, THEFT"}', ["FRAUD", "THEFT"]), ("theft and more", None),
])  # fmt: skip
def test_lists(reply: str, labels: list[str] | None) -> None:
    assert (parse_reply(reply, LISTED).value or {}).get("prediction") == labels


def test_a_reply_that_is_cut_states_its_first_sentence_and_names_the_limit() -> None:
    cut = parse_label("YES. The tenant then paid in Ma", YES_NO, cut_at=512)
    assert cut.value == {"prediction": "YES"}
    assert parse_label("YES: the tenant", YES_NO, cut_at=6).value == {"prediction": "YES"}
    for reply in (
        "",
        "YES",
        "The answer is YE",
        "<think>He paid",
        "Answer: N",
        "I see. The answer is NO. Wai",
    ):
        assert parse_label(reply, YES_NO, cut_at=512).problem == "cut at max_tokens 512"


@pytest.mark.parametrize(("number", "scale", "confidence"), [
    ("0.7", 1, 70), ("0.7", 100, None), ("70", 1, None), ('"70%"', 1, 70), ("72.5", 100, 73),
    ('"1%"', 1, 1), ('"1/100"', 1, 1), ('"1 out of 100"', 1, 1), ('"1.0"', 1, 100), ("0", 1, 0),
])  # fmt: skip
def test_confidences_on_the_models_scale(number: str, scale: int, confidence: int | None) -> None:
    reply = f'{{"prediction": "YES", "confidence": {number}}}'
    parsed = parse_reply(reply, FORM, confidence_scale=scale)
    assert (parsed.value or {}).get("confidence") == confidence
    assert ("confidence" in parsed.missing) == (confidence is None)


PIECES = st.sampled_from(
    [*'{}[]":,\n`*()/|<>.', "YES", "no", "not ", " or ", "prediction", "Answer: ", '"confidence"',
     "80", "0.7", "```json\n", "<think>", "</think>", "The answer is ", OBJECT, "不", "答案：",
     "\ud800"]
)  # fmt: skip
REPLIES = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))
VERDICT = create_model("Verdict", prediction=(Literal["YES", "NO"], ...), reasoning=(str, ""))


@given(REPLIES)
@settings(max_examples=100)
def test_any_text_gives_a_result_and_no_label_that_it_does_not_state(reply: str) -> None:
    for form in (FORM, VERDICT, Grade, LISTED):
        parsed = parse_reply(reply, form)
        assert (parsed.value is None) == (parsed.status == "invalid")
        json.dumps(parsed.value).encode()
        if form is VERDICT and parsed.value:
            assert parsed.value["prediction"].casefold() in reply.casefold()
    label = (parse_label(reply, YES_NO).value or {}).get("prediction")
    assert label is None or label.casefold() in reply.casefold()


ATTACKS = (
    *("{" * 25_000, "[" * 50_000, '{"a":' * 10_000, '{"prediction": "' + "\\" * 25_001),
    *("<think>" * 5_000, "prediction: " * 4_000, "The answer is " * 2_000, ". " * 25_000),
    *("{'prediction': " * 2_500, "\\boxed{" * 5_000, "YES," * 8_000, "1. " * 15_000),
    *(
        "(yes " * 10_000,
        "<|channel|>final" * 4_000,
        '{"prediction": "YES", ' * 3_000,
    ),
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack[:16])
def test_the_time_of_reading_grows_no_faster_than_the_length(attack: str) -> None:
    """A reading that takes the square of the length takes 16 times as long as of a quarter."""

    def seconds(reply: str) -> float:
        start = time.process_time()
        parse_reply(reply, FORM)
        parse_label(reply, YES_NO)
        return time.process_time() - start

    assert seconds(attack) < 8 * seconds(attack[: len(attack) // 4]) + 1


def test_a_form_with_several_required_fields_is_read_from_objects_only() -> None:
    class Two(BaseModel):
        prediction: Literal["YES", "NO"]
        statement: str

    assert parse_reply("Prediction: YES\nStatement: he paid", Two).value is None
