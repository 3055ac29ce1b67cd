"""Test the rules, groups and label numbers of a rubric."""

import subprocess
import sys
from pathlib import Path

import pytest

from moot.core.rubric import RUBRICS, Rubric, rubric_for

GROUNDS = Rubric.model_validate({
    "labels": {"Law": "on the law", "fair": "on fairness", "need": "on need", "-": "on neither"},
    "neutral": "-",
    "groups": {"equity": ["fair", "need"]},
    "rules": {"need": ["hardship", r"\bneed"], "fair": "fair", "Law": [r"\blaw\b", "Gesetz"]},
})  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "label", "words"),
    [
        ("It is not FAIR.", "fair", "FAIR"),
        ("Fair or not, the law says so.", "Law", "law"),
        ("The lawn is in need of water.", "need", "need"),
        ("Das steht im Gesetz, trotz Härte.", "Law", "Gesetz"),
        ("unneeded", "-", ""),
        ("", "-", ""),
    ],
)
def test_the_first_label_with_a_match_is_used(statement: str, label: str, words: str) -> None:
    assert GROUNDS.apply_rules(statement) == (label, words)


def test_labels_of_a_group_share_a_number() -> None:
    assert GROUNDS.numbers == {"Law": 0, "fair": 1, "need": 1, "-": 2}
    assert GROUNDS.positions == ("Law", "equity") and GROUNDS.no_position == 2
    assert [key for key, _ in GROUNDS.problems()] == [("labels", "-")], (
        "a label begins with a letter or a digit"
    )


def test_a_rubric_of_a_study_argues_for_the_labels_of_its_cases() -> None:
    appellate = RUBRICS["appellate"]
    assert rubric_for(frozenset(appellate.positions)) is appellate
    for position in appellate.positions:
        label, _ = appellate.apply_rules(appellate.sentence_for(position))
        assert appellate.group_of[label] == position
    assert rubric_for(frozenset({"no", "yes"})) is None
    assert GROUNDS.describe().splitlines()[:2] == ["Law: on the law", "fair: on fairness"]


def test_rules_in_code_have_priority() -> None:
    rubric = GROUNDS.with_rules(lambda statement: ("fair", statement[:3]), {})
    assert rubric.apply_rules("the law") == ("fair", "the")
    assert GROUNDS.apply_rules("the law") == ("Law", "law"), "the rubric itself has not changed"


def test_shipped_rubrics_are_there_before_a_protocol_is() -> None:
    program = "from moot.core.rubric import RUBRICS; print(*RUBRICS)"
    environment = {"PYTHONPATH": str(Path(__file__).parents[2] / "scripts")}
    command = [sys.executable, "-c", program]
    names = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert names.stdout.split() == ["appellate"]
