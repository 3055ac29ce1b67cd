"""The judge and the grader of the conference on known decisions, and their data set."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conference_script import PAIR, PAIR_TASK, kinds, script
from files_of_cases import MakeContext
from messages import refusal
from moot.datasets import LOADERS
from moot.llm.parsing.replies import parse_label
from moot.llm.request import Request
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.data_conference import Agenda, Topic, format_agenda, read_agenda
from moot.studies.conference.protocol_decisions import (
    ANSWERS,
    read_discussion,
)
from scripted_model import hold


@pytest.mark.parametrize(
    ("form", "reply", "expected"),
    [
        ("label", "AGREEMENT", AGREEMENT),
        ("label", "more debate", OPEN),
        ("label", "AGREEMENT or MORE DEBATE", None),
        ("json", '{"prediction": "MORE DEBATE"}', OPEN),
        ("likelihood", {"MORE DEBATE": -9.0, "AGREEMENT": -2.0}, AGREEMENT),
    ],
)
async def test_judge_on_statements(
    form: str, reply: str | dict[str, float], expected: str | None
) -> None:
    answer, _, chat = await hold("agreement", PAIR, PAIR_TASK, lambda request: reply, answer=form)
    assert (answer.prediction if answer else None) == expected
    assert PAIR.target not in chat.requests[0].messages[0].content


@pytest.mark.parametrize(
    ("grades", "expected"), [((9, 2), OPEN), ((2, 9), AGREEMENT), ((5, 5), None)]
)
async def test_grader_predicts_the_decision_that_it_grades_higher(
    grades: tuple[int, int], expected: str | None
) -> None:
    def grade(request: Request) -> str:
        is_right = "<decision>\nMORE DEBATE" in request.messages[-1].content
        return json.dumps({"reason": "", "grade": grades[0] if is_right else grades[1]})

    answer, debate, _ = await hold("grading", PAIR, PAIR_TASK, grade)
    assert (answer.prediction if answer else None) == expected
    assert kinds(debate) == ["grade", "grade", "grade_reversed", "grade_reversed"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Judge: AGREEMENT", "AGREEMENT"),
        ("[Judge]: MORE DEBATE", "MORE DEBATE"),
        ("Judge (to chat_manager):\n\nMORE DEBATE\n", "MORE DEBATE"),
        ("Judge_agent (to chat_manager): AGREEMENT.", "AGREEMENT"),
        ("<think>They differ? No.</think>\nJudge: AGREEMENT", "AGREEMENT"),
        ("Judge: AGREEMENT or MORE DEBATE", None),
        ("Judge: no AGREEMENT", None),
        ("Judge: ", None),
        ("Judge: AGREEMENT Judge: MORE DEBATE", None),
    ],
)
def test_a_decision_after_the_name_of_its_seat_is_read(reply: str, expected: str | None) -> None:
    words = tuple(ANSWERS.values())
    parsed = parse_label(reply, words)
    assert (parsed.value or {}).get("prediction") == expected
    assert parsed.status != "strict", "such a reply has more than the required form"


async def test_the_judge_reads_one_prompt_in_a_conference_and_on_known_statements() -> None:
    """The same motion and statements give the same request, to the letter."""
    topic = {"title": "The motion", "stage": "discussion", "question": "zoos"}
    case = replace(PAIR, text="zoos")
    statements = iter(["a.", "b."])

    def talk(request: Request) -> Any:
        is_statement = "Give your view" in request.messages[-1].content
        return next(statements) if is_statement else script("AGREEMENT", greeting="")(request)

    _, _, conference = await hold("conference", case, PAIR_TASK, talk, topics=[topic], rounds=1)
    _, _, agreement = await hold("agreement", PAIR, PAIR_TASK, talk)
    prompts = [
        request.messages
        for request in conference.requests
        if "You are the judge" in request.messages[-1].content
    ]
    assert prompts == [request.messages for request in agreement.requests]


@pytest.mark.parametrize(
    ("text", "topic", "statements"),
    [
        ("Topic: t\n\nParticipant 1: a\n\nParticipant 2: b", "t", ["a", "b"]),
        ("Topic: t\n\nParticipant 1: a\n\nmore\n\nParticipant 2: b", "t", ["a\n\nmore", "b"]),
        ("Participant 1: a", "Q?", ["a"]),
        ("Two people talk.", "Q?", ["Two people talk."]),
        ("", "Q?", [""]),
        ("Topic: t", "t", ["Topic: t"]),
    ],
)
def test_statements_are_read_from_the_text_of_a_case(
    text: str, topic: str, statements: list[str]
) -> None:
    agenda, utterances = read_discussion(text, "Q?")
    assert agenda.topics[0].question == topic
    assert [utterance.text for utterance in utterances] == statements


words = st.text(
    st.characters(exclude_characters="[]#\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), min_size=1
).map(lambda text: " ".join(text.split()))


@given(
    words.filter(bool),
    st.lists(st.tuples(words.filter(bool), words.filter(bool), words.filter(bool)), min_size=1),
)
def test_an_agenda_is_read_from_its_text(issue: str, topics: list[tuple[str, str, str]]) -> None:
    agenda = Agenda(issue, tuple(Topic(*topic) for topic in topics))
    assert read_agenda(format_agenda(agenda), "") == agenda


@pytest.mark.parametrize(
    "content",
    [
        "issue: x\ntopics: []\n",
        "issue: x\ntopics: [{title: a, question: ''}]\n",
        f"issue: x\ntopics: [{{title: a, question: {'q' * 5000}}}]\n",
        "issue: x\ntopic: []\ntopics: [{title: a, question: b}]\n",
        "issue: [\n",
        "",
    ],
)
def test_bad_conference_files(tmp_path: Path, load_context: MakeContext, content: str) -> None:
    folder = tmp_path / "conference"
    folder.mkdir()
    (folder / "c.yaml").write_text(content, encoding="utf-8")
    loader = LOADERS["conference"]
    with refusal():
        loader.load(loader.options(source="local"), load_context("conference", data_root=tmp_path))
