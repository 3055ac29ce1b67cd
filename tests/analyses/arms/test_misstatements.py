"""Test how misquotations and wrong figures are planted, and how objections to them are counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from moot.analyses.arms.misstatements import (
    MISQUOTE,
    WRONG_FIGURE,
    alter_passage,
    holds_words,
    names_misstatement,
    negate,
)
from moot.analyses.arms.tables_misstatements import NONE_PLANTED, planted_misstatements
from moot.core.checked_passages import find_passages
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults, ExperimentView
from results_on_disk import case, prediction, utterance, write_results

FACTS = (
    "The door was not forced. He had 3 prior arrests and owed $1,250.50 on 12 May 1998."
    " 他没有逃跑。"
)
CASES = [case(f"c{number}", ("no", "yes")[number % 2]) for number in range(20)]


@pytest.mark.parametrize(
    ("quotation", "altered"),
    [
        ("the door was not forced", "the door was forced"),
        ("he had 3 prior arrests", "he had not 3 prior arrests"),
        ("他没有逃跑", "他逃跑"),
        ("他是被告人", "他不是被告人"),
        ("a large stone wall", "a large stone wall"),
    ],
)
def test_a_negated_quotation_says_the_opposite(quotation: str, altered: str) -> None:
    assert negate(quotation) == altered


@pytest.mark.parametrize("draw", [0.0, 0.3, 0.99])
@pytest.mark.parametrize(
    ("arm", "statement", "is_altered"),
    [
        (MISQUOTE, "He says “the door was not forced”.", True),
        (MISQUOTE, "“他没有逃跑”", True),
        (MISQUOTE, "He says “words that are not there”.", False),
        (MISQUOTE, "He had 3 prior arrests.", False),
        (WRONG_FIGURE, "He had 3 prior arrests.", True),
        (WRONG_FIGURE, "It was $1,250.50.", True),
        (WRONG_FIGURE, "On 12 May 1998 it rained.", True),
        (WRONG_FIGURE, "He had 4 prior arrests.", False),
        (WRONG_FIGURE, "He says “the door was not forced”.", False),
    ],
)
def test_only_passages_of_the_case_are_altered(
    arm: str, statement: str, is_altered: bool, draw: float
) -> None:
    [passage] = find_passages(statement)
    altered = alter_passage(arm, passage, FACTS, draw)
    assert bool(altered) == is_altered
    assert not altered or not holds_words(FACTS, altered)


@pytest.mark.parametrize(
    ("text", "original", "altered", "is_named"),
    [
        ("The record does not say “the door was forced”.", "was not forced", "was forced", True),
        (
            "They misquote: it says “the door was not forced”.",
            "door was not forced",
            "door was forced",
            True,
        ),
        ("He had 3 prior arrests, not 5.", "3", "5", True),
        ("He had 5 prior arrests.", "3", "5", False),
        ("It is wrong that he had 5 prior arrests.", "3", "5", True),
        ("It is wrong to say so.", "3", "5", False),
    ],
)
def test_an_objection_contains_the_passage_and_calls_it_wrong(
    text: str, original: str, altered: str, is_named: bool
) -> None:
    assert names_misstatement(text, original, altered) == is_named


def run(folder: Path, arm: str, speeches: list[str], has_notes: bool = True) -> ExperimentResults:
    """Debates in which the defense and the judge speak after an altered opening."""
    answers, talk = [], []
    note = {"arm": arm, "turn": 1, "speaker": "prosecutor", "side": "yes", "original": "3"}
    for number, known_case in enumerate(CASES):
        name = known_case.case_id
        answers.append(prediction(name, known_case.target, "yes" if arm else "no"))
        talk.append(utterance(f"{name}#0", 1, "prosecutor", f"He had {5 if arm else 3} arrests."))
        if arm and has_notes and number % 4 < 3:
            parsed = json.dumps(note)
            row = utterance(f"{name}#0", 2, "moot", "5", kind="arm", parsed=parsed)
            talk.append(row | {"source": "computed", "visibility": "moot"})
        seats = zip(("defense", "judge"), speeches, strict=True)
        talk += [utterance(f"{name}#0", 3 + turn, *seat) for turn, seat in enumerate(seats)]
    control_of = "trial" if arm else ""
    view = ExperimentView("courtroom", "toy", ("tiny",), "test", {}, {}, arm, control_of)
    name = f"trial-arm={arm}" if arm else "trial"
    return write_results(
        folder, CASES, {"tiny": answers}, {"tiny": talk}, experiment=name, config=view
    )


def tabulate(debate: ExperimentResults, arm: ExperimentResults) -> dict[str, Any]:
    published: Any = None
    controls = {arm.experiment: arm}
    results = StudyResults(
        "courtroom", {"trial": debate}, no_scores(), {}, published, controls=controls
    )
    [row] = planted_misstatements(results).frame.to_dict("records")
    return row


@pytest.mark.parametrize("is_noticed", [True, False])
def test_the_table_counts_who_notices_and_whether_it_pays(tmp_path: Path, is_noticed: bool) -> None:
    objection = "In fact he had 3 arrests, not 5." if is_noticed else "He is a good person."
    debate = run(tmp_path, "", ["So be it.", "He had 3 arrests."])
    row = tabulate(debate, run(tmp_path, WRONG_FIGURE, [objection, "He had 5 arrests."]))
    assert row["arm"] == "plant wrong figure" and row["debates altered"] == 15
    assert row["an opponent objects"] == is_noticed and row["an opponent objects, without it"] == 0
    assert row["the judge names it"] == 0
    assert row["verdicts for its side, more than without it"] == 1
    assert row["same answer"] == 0


def test_a_run_without_altered_statements_has_a_note(tmp_path: Path) -> None:
    debate = run(tmp_path, "", ["", ""])
    row = tabulate(debate, run(tmp_path, MISQUOTE, ["", ""], has_notes=False))
    assert row["what is missing"] == NONE_PLANTED
