"""Conditional, withdrawn and struck-out answers, and other people's, are not read as answers."""

import json

import pytest

from answer_labels import (
    LABEL_SETS,
    PAYMENT_FORM,
    SIDES,
    STANCES,
    YES_NO,
    check_labels,
    check_no_label,
    fill_frames,
    grade_of,
    label_of,
)
from moot.llm.parsing.ladder import parse_reply

OBJECT = json.dumps({"prediction": "YES", "confidence": 70})
NOT_READ = [
    "If the lease had ended, the answer is {0}.", "Were the lease void, my answer would be {0}.",
    "According to the tenant, the answer is {0}.",
    "The landlord argues: the answer is {0}.", "In the opinion of her lawyer, the answer is {0}.",
    "{0} unless he paid.", "{0}, but only if he paid", "{0} (?)",
    "{0}, I guess?", "Answer: {0}?", "~~{0}~~", "<del>{0}</del>",
    "[ ] {0}", "- [ ] {0}", "☐ {0}", "( ) {0}", "[ ] {0} [ ] {1}", "[x] {0} [x] {1}",
    "{0}.\n\nEdit: {1}.", "{0}\nUPDATE: {1}", "{0}. On closer inspection, {1}.", "{0}. Oops, {1}.",
    "{0}. I stand corrected: {1}.", "{0}\nOn reflection I would say {1}.",
    "The witness's answer is {0}.", "The lower court's ruling is {0}.",
    "I am not sure that the answer is {0}.", "I'm 20% sure that the answer is {0}.",
]  # fmt: skip
READ = [
    "If I must choose, the answer is {0}.", "If forced to decide, my answer is {0}.",
    "According to the evidence, the answer is {0}.", "According to the lease, the answer is {0}.",
    "I am 80% confident that the answer is {0}.", "I'm fairly sure that the answer is {0}.",
    "Sure! {0}", "Certainly. {0}", "Of course! The answer is {0}.", "Okay, {0}",
    "~~{1}~~ {0}", "- [ ] {1}\n- [x] {0}", "☐ {1} ☑ {0}", "( ) {1} (x) {0}", "<del>{1}</del> {0}",
    "Had he paid, he would say so. The answer is {0}.", "As the text says, the answer is {0}.",
    "According to the tenant, he paid. Answer: {0}", "The tenant says so. My answer is {0}.",
    "The text's stance is {0}, but only mildly.", "The author's overall position is {0}.",
    "{0}, if you ask me.", "Answer: {0}\nIf he had paid, the answer would be {1}.",
]  # fmt: skip


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_a_withdrawn_answer_is_not_read(labels: tuple[str, ...]) -> None:
    check_no_label((reply for reply, _ in fill_frames(NOT_READ, labels)), labels)


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_an_answer_that_is_not_withdrawn_is_read(labels: tuple[str, ...]) -> None:
    check_labels(fill_frames(READ, labels), labels)


WORDS_TO_USER = [
    "No, I won't make a prediction about a person.", "No, I cannot give an answer to this.",
    "Yes, I can help with that! What is the case?", "Yes, I can do that.",
    "Yes! Please share the facts.", "Yes, please provide the case.",
]  # fmt: skip
OWN_REASONS = [
    ("No, I will not find for a man who lied.", "NO"), ("Yes, I can see that he paid.", "YES"),
    ("No. I cannot find a receipt.", "NO"), ("Yes, I understand why he left, and he paid.", "YES"),
    ("Yes. The letter was not given to her.", "YES"),
]  # fmt: skip


def test_words_to_the_user_are_no_answer() -> None:
    check_no_label(WORDS_TO_USER, YES_NO)


def test_reasons_in_the_first_person_withdraw_nothing() -> None:
    check_labels(OWN_REASONS, YES_NO)


@pytest.mark.parametrize("frame", ["{}: no", "{} = no", "{} - no", "**{}**: no."])
def test_a_label_that_is_a_field_with_the_value_no_is_not_read(frame: str) -> None:
    for labels in (("won", "lost"), ("support", "oppose"), ("PRO", "CON")):
        assert label_of(frame.format(labels[0]), labels) is None


PARTIES = [
    ("Plaintiff: loses", None), ("Defendant - liable.", "DEFENDANT"),
    ("Defendant, liable for rent.", "DEFENDANT"),
    ("Tenant at fault", None), ("Plaintiff. The defendant broke the lease.", "PLAINTIFF"),
    ("Defendant. The plaintiff has no case.", "DEFENDANT"),
    ("Defendant. The plaintiff wins.", None), ("Plaintiff. No, defendant.", None),
    ("Plaintiff. Defendant.", None),
]  # fmt: skip


def test_a_party_is_an_answer_or_the_subject_of_a_sentence() -> None:
    check_labels(PARTIES, SIDES)


@pytest.mark.parametrize(("labels", "reply", "label"), [
    (("0", "1"), "1. He paid.\n2. She left.", None), (("0", "1"), "1. He paid", "1"),
    (("0", "1"), "1) He paid.\n2) She left.\nAnswer: 0", "0"), (("0", "1"), "1.", "1"),
    (("1", "2", "3"), "1. First\n2. Second\n3. Third", None), (("1", "2", "3"), "2. Weak.", "2"),
    (("positive", "negative"), "Sentiment: negative", "negative"),
    (("high", "low"), "**Risk level:** low", "low"), (("high", "low"), "Risk: not low", None),
    (("guilty", "not guilty"), "Guilty beyond a reasonable doubt.", "guilty"),
    (("guilty", "not guilty"), "Not guilty by reason of insanity", "not guilty"),
])  # fmt: skip
def test_list_items_headings_and_verdicts(
    labels: tuple[str, ...], reply: str, label: str | None
) -> None:
    assert label_of(reply, labels) == label


def test_the_number_one_may_begin_a_list_that_is_cut_off() -> None:
    assert label_of("1. He paid", ("0", "1"), is_cut=True) is None


@pytest.mark.parametrize("words", [
    "Wait, that is wrong.", "Actually, NO.", "On reflection I would say NO.", "Oops, I misread it.",
    "Edit: NO.", "Let me reconsider.", "I take that back.",
])  # fmt: skip
def test_words_after_an_object_can_withdraw_it(words: str) -> None:
    assert parse_reply(f"{OBJECT}\n{words}", PAYMENT_FORM).value is None
    assert parse_reply(f"{words}\n{OBJECT}", PAYMENT_FORM).value == json.loads(OBJECT)


@pytest.mark.parametrize("sentence", [
    "I am not 70% confident.", "I am less than 70% sure.", "He is 70% sure that she paid.",
    "The witness was 70% certain.", "My confidence is 7 out of 10.", "I am at most 70% confident.",
])  # fmt: skip
def test_a_confidence_that_is_denied_or_anothers_is_missing(sentence: str) -> None:
    assert parse_reply(f"The answer is YES. {sentence}", PAYMENT_FORM).value == {
        "prediction": "YES"
    }


def test_a_confidence_of_ones_own_is_read() -> None:
    for sentence in ("I am 70% confident.", "My confidence is 70 out of 100.", "Confidence: 70%"):
        reply = f"The answer is YES. {sentence}"
        assert parse_reply(reply, PAYMENT_FORM).value == {"prediction": "YES", "confidence": 70}


def test_an_object_with_escaped_quotes_is_read() -> None:
    escaped = json.dumps(OBJECT)[1:-1]
    assert parse_reply(escaped, PAYMENT_FORM).value == json.loads(OBJECT)
    assert parse_reply(escaped.replace("{", "{\\n  "), PAYMENT_FORM).value == json.loads(OBJECT)


@pytest.mark.parametrize("reply", [
    "If it were shorter, I would give it 8.", "I would give it 8 if it were shorter.",
    "If the form were kept, the grade would be 8.", "The grade is 8, but only if it is short.",
])  # fmt: skip
def test_a_conditional_grade_is_not_read(reply: str) -> None:
    assert grade_of(reply) is None


@pytest.mark.parametrize("label", STANCES)
def test_a_struck_grade_or_label_leaves_the_other(label: str) -> None:
    assert grade_of("~~8~~ 7") == 7
    assert label_of(f"Answer: ~~PRO~~ ~~CON~~ {label}", STANCES) == label
