"""The independent gate refuses a text in which a name survived de-identification."""

import pytest

from moot.studies.appellate.deidentify.gates import find_survivors
from moot.studies.appellate.deidentify.lexicon import Lexicon
from opinion_texts import PLAIN


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("It was OPINION, ZEMBLE who wrote it.", "capitalised word"),
        ("Respondent, United Nuclear Corporation (Name A), mined it.", "capitalised word"),
        ("The gas came from LP Gas Equipment, Inc. in the spring.", "capitalised word"),
        ("He saw Dr. Sean Name A on the road.", "capitalised word"),
        ("The house of Mr. And Ms. Ostrander was sold.", "capitalised word"),
        ("He lived at 18 Jenkins Road for a year.", "capitalised word"),
        ('The driver was J.E. "Gene" Statute A of the store.', "initials"),
        ("It was written by Kilbraith, justice.", "capitalised word"),
        ("The driver told Odette Person A of it.", "capitalised word"),
        ("Ronald and Person A, Plaintiffs, sold it.", "unknown word opens a sentence"),
        ("The minor was called T.A. by the clerk.", "initials"),
        ("The clerk of G & G was told.", "initials"),
        ("This was decided in 132 N.M. 433, 50 P.3d 182 before.", "citation"),
        ("The case was No. 98-1234 of the court.", "reference: docket"),
        ("Defendant told Stone that the wall was his.", "capitalised word"),
        ("Stone testified that the wall was his.", "a name opens a sentence"),
        ("Zemke testified that the wall was his.", "unknown word opens a sentence"),
        ("He wrote to gene@example.org about the wall.", "reference: number"),
        ("The truck was stopped by Deputy House on the road.", "customary word as a name"),
        ("The driver lived in Pueblo, and left.", "customary word as a name"),
        ("A mile on, June testified that the wall was his.", "customary word as a name"),
        ("The driver went to los University A on the road.", "part of a name"),
        ("La Officer A saw the driver on the road.", "part of a name"),
        ("The clerk of Person A & G was told of it.", "part of a name"),
        ("It was sold to U S Company A for a price.", "part of a name"),
        ("The driver told Person A House of it.", "part of a name"),
        ("The truck was stopped behind the Name A K by the officer.", "part of a name"),
        ("The truck was seen at Company A American, and left.", "part of a name"),
        ("The driver had a policy of National General, and paid.", "name of customary words"),
        ("For a year National had failed to pay, and left.", "customary word as a name"),
        ("The price was paid to Bank of America in the spring.", "name of customary words"),
        ("He was seen at the Family Medical Center in the spring.", "name of customary words"),
        (
            "The truck was stopped near Indian School Road by the officer.",
            "name of customary words",
        ),
    ],
)
def test_the_independent_gate_finds_names_that_an_extractor_left(
    sentence: str, reason: str
) -> None:
    text = f"{PLAIN}{sentence} The driver left."
    assert reason in {survivor.reason for survivor in find_survivors(text, Lexicon([PLAIN]))}


def test_the_independent_gate_lets_facts_without_names_pass() -> None:
    text = (
        f"{PLAIN}Defendant and Person B drove to City A on date A. Thereafter, Officer A stopped"
        " Person B's truck. The State charged Defendant under statute A in docket B, Count II."
        " However, the District Court of County A dismissed it."
    )
    assert not find_survivors(text, Lexicon([PLAIN]))


def test_a_recogniser_judges_the_finished_text_too() -> None:
    text = f"{PLAIN} Price went home."
    assert not find_survivors(text, Lexicon([PLAIN]))
    survivors = find_survivors(
        text, Lexicon([PLAIN]), lambda facts: [("Price", "person")] if "Price" in facts else []
    )
    assert [survivor.reason for survivor in survivors] == ["recogniser"]


def test_the_independent_gate_sees_a_name_in_lower_case() -> None:
    lexicon = Lexicon(["He lived in Zemblia and met Ostrander."])
    survivors = find_survivors(f"{PLAIN}The zemblia program was late.", lexicon)
    assert [survivor.words for survivor in survivors] == ["zemblia"]


def test_a_broken_name_is_joined_only_as_two_whole_words() -> None:
    lexicon = Lexicon(["He met Brightwater. Bright waterfalls and Eastbright water were seen."])
    text = "Bright water left Bright waterfalls."
    assert lexicon.join_broken_names(text) == "Brightwater left Bright waterfalls."
