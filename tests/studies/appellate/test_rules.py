"""The labeler by rules, on sentences that were not used to write it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.yaml_text import load_yaml
from moot.studies.appellate.data_opinions import SAMPLE
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.rubric import CODES, LABELS, RUBRIC, decide_label, decide_outcome
from moot.studies.appellate.legal.rubric_rules import label_statement
from moot.studies.appellate.legal.sentences import split_sentences
from scripted_model import PROJECT

STATEMENTS = [
    ("I believe we should AFFIRM the decision of the district court.", "AFFIRM"),
    ("I would decline to reverse the conviction.", "AFFIRM"),
    ("I would dismiss the appeal.", "AFFIRM"),
    ("I believe that we should reverse the conviction.", "REVERSE"),
    ("I am leaning towards remanding the case for more fact-finding.", "REMAND"),
    (
        "There is a strong argument in favor of reversing, and I vote to reverse and remand.",
        "REVERSE AND REMAND",
    ),
    (
        "I maintain that the district court should have granted the motion to suppress.",
        "REVERSE OR REMAND",
    ),
    ("The district court erred when it ignored the patients' interests.", "REVERSE OR REMAND"),
    ("We must ask whether to affirm or to reverse. Both sides have merit.", "NONE"),
    ("The appellant argues that we should reverse the conviction.", "NONE"),
    ("Should we affirm the decision?", "NONE"),
    ("", "NONE"),
    ("I vote to affirm. The statute is vague, and I would reverse.", "HALLUCINATION"),
    ("I would affirm in part and reverse in part.", "REVERSE"),
    (
        "I respectfully dissent from my colleagues who would affirm. It ought to be reversed.",
        "REVERSE",
    ),
    ("I agree with the Human Judge that the decision must be affirmed.", "AFFIRM"),
    ("I do not agree with Judge 1 that we should reverse. The ruling was correct.", "AFFIRM"),
    ("**AFFIRM**. The statute is clear.", "AFFIRM"),
    ("Vote: REVERSE", "REVERSE"),
    ("There is no basis to overturn the conviction.", "AFFIRM"),
    ("I would not affirm.", "REVERSE OR REMAND"),
    ("It is not clear whether the ruling should be affirmed.", "NONE"),
    ("I would let the conviction stand.", "AFFIRM"),
    ("I therefore reject the appeal.", "AFFIRM"),
    ("I recommend that the decision be vacated and the case remanded.", "REVERSE AND REMAND"),
    ("The motion to dismiss should be granted.", "NONE"),
    ("If the record were full, we would affirm.", "NONE"),
    ("I would remand with instructions to vacate the sentence.", "REMAND"),
    ("The judgment should not be affirmed.", "REVERSE OR REMAND"),
    ("The judgment could be affirmed.", "NONE"),
    ("I vote against affirming.", "REVERSE OR REMAND"),
    ("Ruling affirmed.", "AFFIRM"),
]
# Positions without the name of a remedy, and words that only resemble them.
IMPLIED = [
    ("I support the lower court's ruling.", "AFFIRM"),
    ("The district court got it right.", "AFFIRM"),
    ("I agree with the decision of the district court.", "AFFIRM"),
    ("The judgment below ought to stand.", "AFFIRM"),
    ("I would deny the appeal.", "AFFIRM"),
    ("I believe the conviction should not stand.", "REVERSE OR REMAND"),
    ("I do not agree with the lower court's decision to deny the motion.", "REVERSE OR REMAND"),
    ("I do not believe the conviction should stand.", "REVERSE OR REMAND"),
    ("I would grant the appeal.", "REVERSE OR REMAND"),
    ("I side with the appellant.", "REVERSE OR REMAND"),
    ("The question is whether the conviction should stand.", "NONE"),
    ("I agree with the lower court's decision to deny? That depends on the facts.", "NONE"),
    ("We must consider the lower court's decision to deny the motion.", "NONE"),
    ("One could agree with the lower court.", "NONE"),
    ("I find for the appellee.", "AFFIRM"),
    ("The district court got it right. I side with the appellant.", "NONE"),
    ("I agree with Judge 2 on the point of consent.", "NONE"),
]

CONVICTION = "A jury found against the doctor. The decision under review is the conviction."


DISMISSAL = "He sued the nurse. The decision under review is the dismissal."


RUBRIC_EXAMPLE = (
    "I believe that the doctor’s actions did indeed violate the statute … [and] would vote to"
    " REVERSE the former decision."
)


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        (RUBRIC_EXAMPLE, CONVICTION, "HALLUCINATION"),
        (RUBRIC_EXAMPLE, DISMISSAL, "REVERSE"),
        (RUBRIC_EXAMPLE, "", "REVERSE"),
        (
            "The doctor's conduct clearly violated the law. I would reverse.",
            CONVICTION,
            "HALLUCINATION",
        ),
        ("The doctor's conduct clearly violated the law. I would affirm.", CONVICTION, "AFFIRM"),
        (
            "It is unclear whether the doctor violated the law. I would reverse.",
            CONVICTION,
            "REVERSE",
        ),
        ("The doctor did not violate the statute. I would reverse.", CONVICTION, "REVERSE"),
        (
            "The government argues that his actions violated the Act. I vote to reverse.",
            CONVICTION,
            "REVERSE",
        ),
        ("The nurse violated his rights. I would reverse the dismissal.", DISMISSAL, "REVERSE"),
    ],
)
def test_a_vote_against_a_conviction_that_the_speaker_bears_out(
    text: str, facts: str, expected: str
) -> None:
    assert label_statement(text, facts).label == expected


def test_the_scripts_of_the_sample_contradict_no_conviction() -> None:
    records = load_yaml((PROJECT / SAMPLE).read_text("utf-8"))
    for record in records:
        for stance, statements in record["statements"].items():
            for statement in statements:
                code = label_statement(statement, record["facts"]).code
                assert code == int(stance == "affirm"), statement


@pytest.mark.parametrize(("text", "expected"), [*STATEMENTS, *IMPLIED])
def test_labels_of_statements(text: str, expected: str) -> None:
    assert label_statement(text).label == expected


def test_negated_and_attributed_verbs_are_not_votes() -> None:
    assert not [
        disposition
        for disposition in find_dispositions("The Court of Appeals reversed in Smith.")
        if disposition.is_explicit
    ]
    negated = find_dispositions("We do not reverse.")
    assert [(disposition.name, disposition.is_explicit) for disposition in negated] == [
        ("affirm", False)
    ]


def test_the_evidence_is_the_sentence_that_votes() -> None:
    statement = "The facts are sad. I vote to reverse. Confidence: 70."
    assert label_statement(statement).evidence == "I vote to reverse."


def test_every_label_has_a_definition_and_a_code() -> None:
    assert set(CODES) == set(LABELS) == set(RUBRIC.labels) and not list(RUBRIC.problems())
    assert {label: CODES[label] for label in ("AFFIRM", "REMAND", "NONE", "HALLUCINATION")} == {
        "AFFIRM": 1, "REMAND": 0, "NONE": 3, "HALLUCINATION": 3,
    }  # fmt: skip


@given(
    st.sets(
        st.sampled_from(
            ["affirm", "reverse", "vacate", "remand", "dismiss", "not affirm", "in part"]
        )
    )
)
def test_labels_and_outcomes_are_defined_for_all_dispositions(dispositions: set[str]) -> None:
    assert decide_label(dispositions) in LABELS
    assert decide_outcome(dispositions) in {"affirm", "reverse", "mixed", "dismiss", ""}
    if dispositions & {"reverse", "vacate"}:
        assert CODES[decide_label(dispositions)] == 0


@given(st.text(alphabet=st.sampled_from("We affirm. I reverse;(\"“”{1}\n'’vNo"), max_size=200))
def test_any_text_can_be_read_and_sentences_keep_their_place(text: str) -> None:
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
    assert label_statement(text).label in LABELS


def test_the_rules_repeat_the_labels_that_the_study_prints(shared_data: Path) -> None:
    """Four scripts of a human judge, and an example for each label of the rubric."""
    path = shared_data.parent / "papers" / "appellate-panel-debate.txt"
    scripts, _, rubric = path.read_text("utf-8").partition("Appendix ii. Output Label Rubric")
    _, _, scripts = scripts.partition("Affirmative Prompt Examples")
    printed = re.findall(r"\n[12]\. “(.*?)\nUnited States v. Hollern", scripts, re.DOTALL)
    texts = [" ".join(re.sub(r"https?://\S+", "", text).split()) for text in printed]
    assert [label_statement(text).code for text in texts] == [1, 1, 0, 0]
    examples = [" ".join(text.split()) for text in re.findall("“(.*?)”", rubric, re.DOTALL)]
    facts = "The decision under review is the conviction of a doctor."
    labels = [label_statement(text, facts).label for text in examples[:7]]
    assert labels == [
        "AFFIRM",
        "REVERSE",
        "REMAND",
        "REVERSE AND REMAND",
        "REVERSE OR REMAND",
        "NONE",
        "HALLUCINATION",
    ]
