"""Reasoning of a statement: reassertions, persons that it names, citations."""

import pytest

from moot.studies.appellate.legal.citations import count_citations
from moot.studies.appellate.reasoning_structure import (
    gives_human_as_reason,
    is_reasserted,
    names_human,
    takes_up_opposing_view,
)
from panel_results import CASES

REASSERTED = (
    "I would affirm the conviction. The statute is clear, and the jury heard the evidence. See"
    " Smith v. Jones. Other courts agree. For these reasons I vote to affirm.\nConfidence: 80"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REASSERTED, True),
        ("I would affirm. The law is clear. The facts are too. I would reverse.", False),
        ("The law is clear. The facts are too. Nothing speaks against it. I would affirm.", False),
        ("I would affirm the judgment. The law is clear.", False),
        ("I vote to reverse. The record is thin. Nobody saw it. I would reverse the ruling.", True),
        ("", False),
    ],
)
def test_assertion_reasoning_reassertion(text: str, expected: bool) -> None:
    assert is_reasserted(text) == expected


@pytest.mark.parametrize(
    ("text", "names", "reason", "opposing"),
    [
        ("I agree with the Human Judge that the law is vague.", True, True, False),
        ("In light of the human opinion I would now reverse.", True, True, False),
        ("The Human Judge spoke first.", True, False, False),
        ("Human rights and human dignity are at stake.", False, False, False),
        ("On the other hand, privacy matters.", False, False, True),
        ("To play devil's advocate: one might argue that the forms suffice.", False, False, True),
        ("While I understand the concern, I would affirm.", False, False, True),
        ("AI Judge 2 persuaded me.", False, False, False),
        ("", False, False, False),
    ],
)
def test_references_to_the_human_and_to_opposing_views(
    text: str, names: bool, reason: bool, opposing: bool
) -> None:
    assert names_human(text) == names
    assert gives_human_as_reason(text) == reason
    assert takes_up_opposing_view(text) == opposing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Katz v. United States, 389 U.S. 347 (1967).", (1, 1, 0, 1)),
        ("As Smith v. Jones shows.", (1, 0, 0, 1)),
        ("Lee v. Hall, 12 F.3d 34, binds us.", (1, 1, 1, 0)),
        ("18 U.S.C. § 2511 applies.", (1, 1, 0, 1)),
        ("We weigh the facts.", (0, 0, 0, 0)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_citations(text: str, expected: tuple[int, int, int, int]) -> None:
    assert count_citations(text, CASES[0].text) == expected
