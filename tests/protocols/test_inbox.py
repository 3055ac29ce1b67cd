"""The inbox of questions to people: what it keeps when a debate asks other questions."""

from pathlib import Path

import pytest

from moot.core.errors import DebatePausedError
from moot.protocols.forms import input_kind
from moot.protocols.inbox import ANSWER, ask_by_inbox, question_stem, remove_stale_questions
from moot.protocols.people import Question, Section

FORM = {"properties": {"statement": {"type": "string"}}, "required": ["statement"]}
SECTIONS = (Section("", "How likely is it?"),)


def test_a_question_asked_no_more_is_removed_unless_it_has_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    questions = [
        Question(
            "trial",
            "ann",
            "Case 1",
            0,
            number,
            "judge",
            "belief",
            1,
            "",
            (Section("", "Say."),),
            FORM,
        )
        for number in (1, 2, 3)
    ]
    for question in questions:
        with pytest.raises(DebatePausedError):
            ask_by_inbox(question)
    asked, answered, _ = map(question_stem, questions)
    answered.with_name(answered.name + ANSWER).write_text("It is likely.\n")
    remove_stale_questions(asked.parent, 0, questions[:1])
    assert {path.name.split(".")[0] for path in asked.parent.iterdir()} == {
        asked.name,
        answered.name,
    }
    assert ask_by_inbox(questions[1]) == {"statement": "It is likely."}


def test_a_field_that_may_be_left_out_has_the_input_of_its_type() -> None:
    assert input_kind({"anyOf": [{"type": "number"}, {"type": "null"}]}) == "number"
