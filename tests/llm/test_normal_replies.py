"""Replies in normal legal prose: conditions, parties and second thoughts withdraw no answer."""

import json
from typing import Literal

import pytest
from pydantic import create_model

from answer_labels import (
    PAYMENT_FORM,
    SIDES,
    YES_NO,
    check_grades,
    check_labels,
    fill_frames,
    label_of,
)
from moot.core.cases import Task
from moot.llm.parsing.ladder import parse_reply
from moot.protocols.reply_schemas import prediction_schema

GUILT = ("guilty", "not guilty")
VIOLATION = ("violation", "no violation")
SIGNS = ("-1", "0", "1")
GERMAN = ("JA", "NEIN")
CHINESE = ("是", "否")
GUILT_FORM = prediction_schema(Task("case", "Is he guilty?", GUILT), reasoning=False)
PREDICTION_FORM = create_model("Prediction", prediction=(Literal["YES", "NO"], ...))
OBJECT = json.dumps({"prediction": "YES", "confidence": 80})

CONDITIONS = [
    ("If the tenant had paid, he could stay. The answer is NO.", "NO"),
    ("If he paid, fine; the answer is YES.", "YES"),
    ("Unless the lease says otherwise, rent is due. My answer is YES.", "YES"),
    ("Even if he paid late, he paid. Verdict: YES", "YES"),
    ("If required to choose, my answer is YES", "YES"),
    ("If a choice must be made, my answer is YES.", "YES"),
    ("If the rule is applied strictly, the answer is NO.", "NO"),
    ("If we follow Smith v Jones, the answer is YES.", "YES"),
    ("Were I the judge, my answer would be YES.", "YES"),
    ("If the lease had ended, she would owe nothing, but it had not, so the answer is YES.", "YES"),
    ("If there were any doubt, the witness removed it: the answer is YES.", "YES"),
    ("He had paid in full. The answer is YES.", "YES"),
    ("Suppose the notice had been valid. The eviction was still void. The answer is YES.", "YES"),
    ("Final answer: YES. Were the contract void, the claim would fail; it is not void.", "YES"),
    ("**Answer:** No — if the contract had been signed, it'd be different.", "NO"),
    ("YES, as long as the facts are as stated.", "YES"),
    ("YES, unless I am mistaken.", "YES"),
    ("Yes, if only because the landlord failed to object.", "YES"),
    ("The answer is YES, if narrowly.", "YES"),
    ("YES. He paid in May. If he had not paid, the result would be different.", "YES"),
]
SOURCES = [
    ("According to the tenant, he paid. The answer is NO.", "NO"),
    ("According to Article 264 of the Criminal Law, the answer is YES.", "YES"),
    ("According to Section 8-201, the answer is YES.", "YES"),
    ("According to Title VII, the answer is NO.", "NO"),
    ("According to contract law, the answer is YES.", "YES"),
    ("According to established case law, the answer is NO.", "NO"),
    ("According to the tenant's own letter, the answer is YES.", "YES"),
    ("In the view of the court, the answer is YES.", "YES"),
    ("As the appeals court said, the answer is YES. The lower court erred.", "YES"),
    ("As the plaintiff argues, the answer is YES.", "YES"),
    ("Contrary to what the defendant says, the answer is NO.", "NO"),
    ("While the tenant argues that the notice was late, the answer is NO.", "NO"),
]
REASONS = [
    ("YES. I do not need to comment further.", "YES"),
    ("NO. I cannot help but conclude that he lied.", "NO"),
    ("YES. I would not speculate about his motives.", "YES"),
    ("YES. We cannot predict everything, but he paid.", "YES"),
    ("Yes. I can provide reasons: he paid on time.", "YES"),
    ("NO. The witness said 'I did not help him'.", "NO"),
    ("NO. I would not classify the letter as a notice. The tenant was not told of it.", "NO"),
    ("YES. We must not guess at intentions: the text of the deed is clear.", "YES"),
    ("Yes. I would be happy to see the claim succeed, and the law supports it.", "YES"),
    ("NO, I cannot give an opinion on damages.", "NO"),
    ("YES. The tenant says that is wrong, but the receipt is clear.", "YES"),
]
SECOND_THOUGHTS = [
    ("Answer: YES. On closer reading of the lease, this is confirmed.", "YES"),
    ("YES\nUpdate: he also paid in May.", "YES"),
    ("YES. On reflection, the lease supports this.", "YES"),
    ("YES. On closer inspection, there was no breach of the clause.", "YES"),
    ("YES. That is wrong only in the eyes of the tenant.", "YES"),
    ("The court of first instance held that the clause was void. On closer examination, that"
     " holding is correct. My answer is YES.", "YES"),
]  # fmt: skip
LEGAL_PROSE = [
    ("YES. The tenant gave notice on 3 May, within the period of Section 4. Had the landlord"
     " refused it, the result might have differed.", "YES"),
    ("NO. Although the plaintiff argues that the contract was frustrated, the defendant says the"
     " risk was allocated. I agree with the defendant.", "NO"),
    ("If the facts are as described, the dismissal was unfair. The answer is YES.", "YES"),
    ("The prosecution says the accused was present. The defence argues that he was elsewhere. On"
     " balance, the verdict is NO.", "NO"),
    ("No. The plaintiff did not prove causation. If he had called an expert, he might have won.",
     "NO"),
    ("According to Section 12(3), the notice period is three months. Verdict: YES.", "YES"),
    ("**Answer: NO**\n\nThe tenant claims he paid. Unless new evidence appears, the claim fails.",
     "NO"),
    ("In the opinion of the expert, the wall was unsafe. The owner knew this. The answer is YES.",
     "YES"),
    ("YES — the driver was negligent and, as the witness said, was speeding.", "YES"),
]  # fmt: skip


@pytest.mark.parametrize("replies", [CONDITIONS, SOURCES, REASONS, SECOND_THOUGHTS, LEGAL_PROSE])
def test_an_answer_in_normal_prose_is_read(replies: list[tuple[str, str]]) -> None:
    check_labels(replies, YES_NO)


@pytest.mark.parametrize(("labels", "reply", "label"), [
    (YES_NO, "Yes, guilty.", "YES"), (YES_NO, "Yes, liable.", "YES"),
    (YES_NO, "Yes, at fault.", "YES"), (YES_NO, "YES - liable", "YES"),
    (YES_NO, "No: denied.", "NO"), (YES_NO, "No, no.", "NO"), (YES_NO, "NO: no receipt.", "NO"),
    (("theft", "fraud"), "Theft: guilty", "theft"), (("won", "lost"), "Lost - denied", "lost"),
    (("won", "lost"), "Lost: rejected", "lost"), (SIDES, "Defendant: liable", "DEFENDANT"),
    (SIGNS, "The label is -1 since he opposes.", "-1"), (SIGNS, "-1 because he opposes it.", "-1"),
    (SIGNS, "-1: he opposes", "-1"), (SIGNS, "The stance is -1, not 1.", "-1"),
    (SIGNS, "The stance is 1, not -1.", "1"), (SIGNS, "My answer is -1, as he opposes it.", "-1"),
    (SIGNS, "- 0", "0"), (("0", "1"), "Answer=>1", "1"), (CHINESE, "Answer=>是", "是"),
    (("entailment", "neutral"), "Entailment: the text says so.", "entailment"),
    (("entailment", "neutral"), "The answer must be entailment: it follows.", "entailment"),
    (("0", "1"), "1. The tenant paid.", "1"), (("0", "1"), "0. No payment was made.", "0"),
    (GERMAN, "JA\n\nUpdate: Der Mieter hat auch im Mai gezahlt.", "JA"),
    (GERMAN, "Wenn der Mieter gezahlt hätte, dürfte er bleiben. Answer: NEIN", "NEIN"),
    (GERMAN, "**JA** – der Beklagte haftet.", "JA"), (GERMAN, "NEIN - unbegründet.", "NEIN"),
    (CHINESE, "是。被告未按时交付房屋，构成违约。", "是"),
    (CHINESE, "如果被告已付款，原告败诉。答案：否", "否"),
    (CHINESE, "根据《刑法》第二百六十四条，答案是：是", "是"),
    (("租赁纠纷", "买卖纠纷"), "答案：租赁纠纷，不属于买卖纠纷。", "租赁纠纷"),
])  # fmt: skip
def test_a_label_with_a_short_remark_is_read(
    labels: tuple[str, ...], reply: str, label: str
) -> None:
    assert label_of(reply, labels) == label


COMPARISONS = [
    "{0} has made the stronger case.", "{0} has made the best argument.",
    "{0} is stronger than {1}'s.", "{0} is more convincing than {1}’s.",
]  # fmt: skip


@pytest.mark.parametrize("labels", [YES_NO, ("pro", "con"), ("für", "gegen"), ("won", "lost")])
def test_a_comparison_of_the_labels_is_read(labels: tuple[str, str]) -> None:
    for reply, label in fill_frames(COMPARISONS, labels):
        for field in ("", "Answer: ", "Verdict: "):
            assert label_of(field + reply, labels) == label


@pytest.mark.parametrize("words", ["just kidding", "Just kidding!"])
def test_a_joke_states_no_label(words: str) -> None:
    assert label_of(f"The answer is YES, {words}", YES_NO) is None


@pytest.mark.parametrize("tag", ["answer", "label", "verdict"])
def test_a_label_in_a_tag_within_a_field_is_read(tag: str) -> None:
    value = f"<{tag}>YES</{tag}>"
    for reply in (json.dumps({"prediction": value}), f"prediction: {value}"):
        parsed = parse_reply(reply, PREDICTION_FORM)
        assert parsed.value == {"prediction": "YES"}


def test_a_sentence_that_opens_with_a_labels_word_is_no_field() -> None:
    """The answer is then looked for in the rest of the reply."""
    for sentence in ("No breach was proven.", "No sign of unequal pay was found."):
        reply = f"Prediction: {sentence}\nAnswer: YES"
        assert parse_reply(reply, PREDICTION_FORM).value == {"prediction": "YES"}


@pytest.mark.parametrize("labels", [GUILT, VIOLATION, ("schuldig", "nicht schuldig")])
@pytest.mark.parametrize("box", ["[ ]", "( )", "☐", "- [ ]"])
def test_a_box_that_is_not_ticked_removes_a_label_of_two_words(
    labels: tuple[str, str], box: str
) -> None:
    short, long = labels
    for label, other_label in ((short, long), (long, short)):
        for end in ("", ".", ", as charged"):
            assert label_of(f"{box} {label}{end}", labels) is None
        assert label_of(f"[x] {label}\n{box} {other_label}", labels) == label
        assert label_of(f"{box} {other_label}\n[x] {label}", labels) == label
        assert label_of(f"{box} {other_label} [x] {label}", labels) == label
        assert label_of(f"☑ {label} {box} {other_label}", labels) == label


@pytest.mark.parametrize("box", ["[ ]", "( )", "☐"])
def test_a_prediction_in_a_box_that_is_not_ticked_is_missing(box: str) -> None:
    for label in GUILT:
        reply = json.dumps({"prediction": f"{box} {label}"}, ensure_ascii=False)
        assert parse_reply(reply, GUILT_FORM).value is None


@pytest.mark.parametrize("words", [
    "Update: none needed.", "On reflection, the facts strongly support this.",
    "Actually, the confidence is high since he paid.", "Wait for further facts.",
    "Edit: added the confidence.", "Hold on to the receipt as evidence.", "Correction: none.",
    "On further consideration of the lease, the claim succeeds.", "Note: I misread nothing.",
    "Actually, it was wrong of the landlord to wait.", "The landlord says that is wrong.",
])  # fmt: skip
def test_words_after_an_object_leave_its_values(words: str) -> None:
    assert parse_reply(f"{OBJECT}\n{words}", PAYMENT_FORM).value == json.loads(OBJECT)
    tags = "<prediction>YES</prediction><confidence>80</confidence>"
    assert parse_reply(f"{tags}\n{words}", PAYMENT_FORM).value == json.loads(OBJECT)


CONFIDENCES = [
    ("The answer is YES. This is about 90% certain.", 90),
    ("YES. My certainty is 85% confident.", 85), ("The answer is YES. It is 75% certain.", 75),
    ("YES. I am over 80% confident.", 80), ("YES. I am at least 80% confident.", 80),
    ("YES. Confidence: 80%. 5 witnesses agree.", 80), ("YES. Confidence: 80% that he paid.", 80),
    ("YES. Confidence: 80, less on damages.", 80), ("YES. Confidence: 80 plus some doubt.", 80),
    (json.dumps({"prediction": "YES", "confidence": ">90"}), 90),
    (json.dumps({"prediction": "YES", "confidence": "> 90"}), 90),
    (json.dumps({"prediction": "YES", "confidence": "90 in 100"}), 90),
    (json.dumps({"prediction": "Yes, guilty", "confidence": 70}), 70),
]  # fmt: skip
GRADES = [
    ("If it kept the form, it would be 9. The grade is 8.", 8),
    ("According to the rubric, the grade is 8.", 8), ("8, if a little long", 8),
    ("If the rubric is applied strictly, the grade is 6.", 6), ("The grade is 7, if only just.", 7),
    ("8. It keeps to the form, unless one counts the heading.", 8), ("> 8", 8),
    ("Score: 8/10 minus points for length", 8), ("Grade: 8 that is clear", 8),
    ("The grade is 8, though I am not sure about the second rule.", 8),
    ("Two of the 3 rules are kept. The grade is 8. 2 sentences are too long.", 8),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "confidence"), CONFIDENCES)
def test_a_confidence_in_normal_words_is_read(reply: str, confidence: int) -> None:
    expected = {"prediction": "YES", "confidence": confidence}
    assert parse_reply(reply, PAYMENT_FORM).value == expected


def test_a_grade_in_normal_words_is_read() -> None:
    check_grades(GRADES)
