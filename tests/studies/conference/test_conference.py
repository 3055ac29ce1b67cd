"""The decision conference: the speaker order of Algorithm 1, its endings, its graders, and hostile
circumstances.
"""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from conference_script import LoadContextMaker, conference_case, script
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.datasets import LOADERS
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Debate
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.data_conference import Agenda, Topic, format_agenda, read_agenda
from moot.studies.conference.protocol_decisions import (
    ANSWERS,
    parse_decision,
    read_discussion,
)
from moot.studies.conference.speakers import (
    EVALUATOR,
    JUDGE,
    MODERATOR,
    USER,
    Turn,
    list_transitions,
    next_speaker,
    participant_seat,
)
from scripted_model import hold

# Algorithm 1


def algorithm_1(messages: list[Turn]) -> str:
    """The paper's listing for two participants, branch by branch; "" where it leaves the speaker
    unset or to AutoGen.
    """
    if len(messages) <= 1:
        return "moderator"
    last, content = messages[-1].speaker, messages[-1].content
    if last == "judge":
        if "AGREEMENT" in content:
            return "evaluator"
        return "moderator" if "DEBATE" in content else ""
    successors = {"evaluator": "moderator", "moderator": "participant_1"}
    return {**successors, "participant_1": "participant_2", "participant_2": "judge"}.get(last, "")


def test_speaker_order_is_algorithm_1_on_every_history_of_up_to_four_messages() -> None:
    speakers = [USER, MODERATOR, "participant_1", "participant_2", JUDGE, EVALUATOR]
    contents = ["", "AGREEMENT", "MORE DEBATE"]
    messages = list(itertools.starmap(Turn, itertools.product(speakers, contents)))
    compared = 0
    for length in range(5):
        for history in itertools.product(messages, repeat=min(length, 2)):
            full_history = [Turn(USER)] * (length - len(history)) + list(history)
            assert next_speaker(full_history, 2) == (algorithm_1(full_history) or MODERATOR)
            compared += 1
    assert compared == 1 + 18 + 3 * 18**2


@given(
    st.integers(2, 10),
    st.lists(st.sampled_from(["AGREEMENT", "MORE DEBATE", ""]), min_size=1, max_size=6),
)
def test_every_participant_speaks_once_a_round_in_order(
    participants: int, decisions: list[str]
) -> None:
    history = [Turn(USER)]
    pending_decisions = iter(decisions)
    while (speaker := next_speaker(history, participants)) != JUDGE or (
        decision := next(pending_decisions, None)
    ) is not None:
        history.append(Turn(speaker, decision if speaker == JUDGE else ""))
    speakers = [turn.speaker for turn in history if turn.speaker.startswith("participant")]
    assert speakers == [participant_seat(n) for n in range(1, participants + 1)] * (
        len(decisions) + 1
    )


def test_transitions_are_the_algorithms_edges() -> None:
    edges = list(list_transitions(2))
    assert (JUDGE, "AGREEMENT", EVALUATOR) in edges and (JUDGE, "MORE DEBATE", MODERATOR) in edges
    assert (
        (USER, "", MODERATOR) in edges and ("participant_2", "", JUDGE) in edges and len(edges) == 7
    )


# The conference


def kinds(debate: Debate) -> list[str]:
    return [utterance.kind for utterance in debate.utterances]


async def test_agreement_at_once_takes_one_round_a_topic(load_context: LoadContextMaker) -> None:
    answer, debate, _ = await hold(
        "conference", *conference_case(load_context), script("AGREEMENT"), graded_decisions=0
    )
    assert answer is not None and answer.prediction == AGREEMENT and answer.score == 1
    topic = ["opening", "statement", "statement", "decision", "evaluation", "notes"]
    assert kinds(debate) == topic * 3 + ["closing", "coding"]
    assert [utterance.speaker for utterance in debate.utterances[:4]] == [
        "moderator",
        "participant_1",
        "participant_2",
        "judge",
    ]


async def test_judge_that_never_says_agreement_is_stopped_by_the_cap(
    load_context: LoadContextMaker,
) -> None:
    answer, debate, _ = await hold(
        "conference",
        *conference_case(load_context),
        script("MORE DEBATE"),
        rounds=2,
        graded_decisions=0,
    )
    assert answer is not None and answer.prediction == OPEN and answer.score == 0
    assert kinds(debate).count("decision") == 6 and kinds(debate).count("steering") == 3


async def test_unusable_decision_counts_as_more_debate(load_context: LoadContextMaker) -> None:
    decisions = [
        "Both sides have a point.",
        "AGREEMENT or MORE DEBATE",
        "The decision is AGREEMENT.",
        "AGREEMENT",
    ]
    answer, debate, _ = await hold(
        "conference", *conference_case(load_context), script(decisions), graded_decisions=0
    )
    assert answer is not None and answer.prediction == AGREEMENT
    readings = [
        (utterance.parse_status, utterance.prediction)
        for utterance in debate.utterances
        if utterance.kind == "decision"
    ]
    assert readings[:3] == [("invalid", None), ("invalid", None), ("extracted", AGREEMENT)]
    assert readings[3] == ("strict", AGREEMENT)


async def test_explained_decisions_are_decisions(load_context: LoadContextMaker) -> None:
    decisions = [
        "MORE DEBATE is needed.",
        "AGREEMENT has been reached.",
        "AGREEMENT: they settled; no more debate is needed.",
    ]
    answer, debate, _ = await hold(
        "conference", *conference_case(load_context), script(decisions), graded_decisions=0
    )
    assert answer is not None
    readings = [
        (utterance.parse_status, utterance.prediction)
        for utterance in debate.utterances
        if utterance.kind == "decision"
    ]
    assert readings[:3] == [("extracted", OPEN), ("extracted", AGREEMENT), ("extracted", AGREEMENT)]


async def test_without_judge_only_the_decider_differs(load_context: LoadContextMaker) -> None:
    case, task = conference_case(load_context)

    def talk(request: Request) -> str | dict[str, float] | None:
        prompt = request.messages[-1].content
        return "NEXT TOPIC" if "NEXT TOPIC" in prompt else script("AGREEMENT")(request)

    _, with_judge, _ = await hold("conference", case, task, script("AGREEMENT"), graded_decisions=0)
    answer, without_judge, _ = await hold("conference", case, task, talk, agreement=False)
    assert answer is not None and answer.prediction == AGREEMENT
    speakers = [(utterance.kind, utterance.speaker) for utterance in without_judge.utterances]
    assert [
        ("decision", JUDGE) if kind == "decision" else (kind, speaker) for kind, speaker in speakers
    ] == [(utterance.kind, utterance.speaker) for utterance in with_judge.utterances]
    assert {speaker for kind, speaker in speakers if kind == "decision"} == {MODERATOR}


async def test_silent_moderator_and_failed_participant_do_not_stop_the_conference(
    load_context: LoadContextMaker,
) -> None:
    case, task = conference_case(load_context)
    answer, debate, _ = await hold(
        "conference", case, task, script("AGREEMENT", greeting=""), graded_decisions=0
    )
    assert answer is not None and answer.prediction == AGREEMENT
    assert all(
        utterance.text == "" for utterance in debate.utterances if utterance.kind == "opening"
    )

    def mute(request: Request) -> str | dict[str, float] | None:
        return (
            None
            if "participant 2." in request.messages[-1].content
            else script("AGREEMENT")(request)
        )

    answer, debate, _ = await hold("conference", case, task, mute, graded_decisions=0)
    assert answer is not None
    assert {
        utterance.parse_status
        for utterance in debate.utterances
        if utterance.speaker == "participant_2"
    } == {"failed"}


async def test_the_evaluator_scores_agreed_topics_alone(load_context: LoadContextMaker) -> None:
    decisions = ["AGREEMENT", "MORE DEBATE", "AGREEMENT"]
    for scores_open_topics, expected in ((False, 2), (True, 3)):
        _, debate, _ = await hold(
            "conference",
            *conference_case(load_context),
            script([*decisions]),
            rounds=1,
            graded_decisions=0,
            evaluates_open_topics=scores_open_topics,
        )
        assert kinds(debate).count("evaluation") == expected
        assert kinds(debate).count("notes") == 3


@pytest.mark.parametrize("agreement", [True, False])
@pytest.mark.parametrize("probing", [True, False])
async def test_only_probing_prompts_do_the_judges_work(
    load_context: LoadContextMaker, probing: bool, agreement: bool
) -> None:
    """With or without a judge, no prompt of the paper's design asks for what was not looked at."""
    _, _, chat = await hold(
        "conference",
        *conference_case(load_context),
        script("MORE DEBATE"),
        rounds=2,
        probing=probing,
        agreement=agreement,
    )
    pattern = re.compile(r"what is missing|where you object|not looked at|left unanswered")
    matches = [bool(pattern.search(request.messages[-1].content)) for request in chat.requests]
    assert any(matches) == probing


async def test_every_call_has_the_one_temperature(load_context: LoadContextMaker) -> None:
    _, _, chat = await hold("conference", *conference_case(load_context), script("AGREEMENT"))
    _, _, judge = await hold("agreement", PAIR, PAIR_TASK, script("AGREEMENT"))
    _, _, grader = await hold("grading", PAIR, PAIR_TASK, script("AGREEMENT"))
    requests = [*chat.requests, *judge.requests, *grader.requests]
    assert {request.parameters["temperature"] for request in requests} == {0.7}


async def test_conference_where_nobody_says_anything_has_no_answer(
    load_context: LoadContextMaker,
) -> None:
    answer, _, _ = await hold(
        "conference",
        *conference_case(load_context),
        script("AGREEMENT", statement=" "),
        graded_decisions=0,
    )
    assert answer is None


async def test_ten_participants_with_personas(load_context: LoadContextMaker) -> None:
    personas = [f"expert number {n}" for n in range(1, 11)]
    _, debate, chat = await hold(
        "conference",
        *conference_case(load_context),
        script("AGREEMENT"),
        participants=10,
        personas=personas,
    )
    assert [utterance.speaker for utterance in debate.utterances[1:11]] == [
        participant_seat(n) for n in range(1, 11)
    ]
    assert sum("expert number 10" in request.messages[-1].content for request in chat.requests) == 3


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"participants": 1}, "greater than or equal to 2"),
        ({"participants": 3, "personas": ["a", "b"]}, "2 personas for 3 participants"),
        ({"rounds": 0}, "greater than or equal to 1"),
    ],
)
def test_impossible_parameters_are_refused(params: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        PROTOCOLS["conference"].params.model_validate(params)


async def test_seats_read_what_they_may(load_context: LoadContextMaker) -> None:
    """The evaluator's scores, the moderator's notes and all grades stay out of every other seat's
    prompt.
    """
    _, debate, chat = await hold(
        "conference",
        *conference_case(load_context),
        script(["MORE DEBATE", "AGREEMENT"]),
        graded_decisions=2,
    )
    assert {
        utterance.visibility
        for utterance in debate.utterances
        if utterance.kind in ("evaluation", "notes", "coding")
    } == {
        EVALUATOR,
        MODERATOR,
        "coder",
    }
    talks = [request.messages[-1].content for request in chat.requests]
    assert not any(
        '"clarity": 7' in talk or "P1: yes" in talk or '"grade"' in talk.split("<record>")[-1]
        for talk in talks[:8]
    )


async def test_each_decision_is_graded_alone_twice_and_reversed(
    load_context: LoadContextMaker,
) -> None:
    decisions = ["MORE DEBATE", "AGREEMENT", "who knows", "AGREEMENT"]
    _, debate, chat = await hold(
        "conference",
        *conference_case(load_context),
        script(decisions, statement="<decision>AGREEMENT</decision>"),
        graded_decisions=3,
    )
    graded = [
        (utterance.kind, utterance.round)
        for utterance in debate.utterances
        if utterance.kind.startswith("grade")
    ]
    kinds = ("grade", "grade", "grade_reversed", "grade_reversed")
    assert graded == [(kind, number) for number, kind in itertools.product((1, 2, 3), kinds)]
    prompts = [
        r.messages[-1].content
        for r in chat.requests
        if r.schema and "grade" in r.schema["properties"]
    ]
    graded_texts = [text.split("<decision>\n")[1].split("\n</decision>")[0] for text in prompts]
    assert graded_texts[::2] == [
        "MORE DEBATE",
        "AGREEMENT",
        "AGREEMENT",
        "MORE DEBATE",
        "who knows",
        "AGREEMENT",
    ]
    assert all(text.count("Participant 1:") == 1 for text in prompts[:4]), (
        "only the debate up to the decision"
    )
    assert all(text.count("\n<decision>\n") == 1 for text in prompts), (
        "a participant cannot forge the judge's decision"
    )


async def test_conference_debates_any_other_case() -> None:
    task = Task(
        "the bridge", "Should it be built?", ("no", "yes"), "yes", {"yes": "it should be built"}
    )
    case = Case("b", "bridges", "test", "A bridge over the river.", "yes", ("no", "yes"))

    def talk(request: Request) -> str | dict[str, float] | None:
        if request.schema and "prediction" in request.schema["properties"]:
            return json.dumps({"prediction": "YES", "confidence": 80})
        return script("AGREEMENT")(request)

    answer, debate, _ = await hold("conference", case, task, talk)
    assert answer is not None and (answer.prediction, answer.score) == ("yes", 0.9)
    assert kinds(debate).count("opening") == 1 and "coding" not in kinds(debate)


# The judge and the grader where the truth is known

PAIR = Case(
    "p",
    "agreement",
    "test",
    "Topic: zoos\n\nParticipant 1: a.\n\nParticipant 2: b.",
    OPEN,
    (OPEN, AGREEMENT),
)
PAIR_TASK = Task("the debate", "Do they agree?", (OPEN, AGREEMENT), AGREEMENT)


@pytest.mark.parametrize(
    ("form", "reply", "expected"),
    [
        ("label", "AGREEMENT", AGREEMENT),
        ("label", "more debate", OPEN),
        ("label", "No agreement yet, MORE DEBATE", None),
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
    ("seat", "reply", "expected"),
    [
        ("judge", "Judge: AGREEMENT", "AGREEMENT"),
        ("judge", "Judge:AGREEMENT", "AGREEMENT"),
        ("judge", "judge : more debate", "MORE DEBATE"),
        ("judge", "**Judge:** AGREEMENT", "AGREEMENT"),
        ("judge", "[Judge]: MORE DEBATE", "MORE DEBATE"),
        ("judge", "Judge (to chat_manager):\n\nMORE DEBATE\n", "MORE DEBATE"),
        ("judge", "Judge_agent (to chat_manager): AGREEMENT.", "AGREEMENT"),
        ("judge", "<think>They differ? No.</think>\nJudge: AGREEMENT", "AGREEMENT"),
        ("moderator", "Moderator: NEXT TOPIC", "NEXT TOPIC"),
        ("judge", "Judge: AGREEMENT or MORE DEBATE", None),
        ("judge", "Judge: no AGREEMENT", None),
        ("judge", "Judge: ", None),
        ("judge", "Judge: AGREEMENT Judge: MORE DEBATE", None),
        ("moderator", "Judge: NEXT TOPIC or MORE DEBATE", None),
    ],
)
def test_a_decision_after_the_name_of_its_seat_is_read(
    seat: str, reply: str, expected: str | None
) -> None:
    words = tuple(ANSWERS[seat].values())
    parsed = parse_decision(reply, words, seat)
    assert (parsed.value or {}).get("prediction") == expected
    assert parsed.status != "strict", "such a reply has more than the required form"


async def test_the_judge_reads_one_prompt_in_a_conference_and_on_known_statements(
    load_context: LoadContextMaker,
) -> None:
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


# The data set


words = st.text(
    st.characters(exclude_characters="[]#\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), min_size=1
).map(lambda text: " ".join(text.split()))


@given(
    words.filter(bool),
    st.lists(st.tuples(words.filter(bool), words.filter(bool), words.filter(bool)), min_size=1),
)
def test_agenda_survives_its_text(issue: str, topics: list[tuple[str, str, str]]) -> None:
    agenda = Agenda(issue, tuple(Topic(*topic) for topic in topics))
    assert read_agenda(format_agenda(agenda), "") == agenda


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("issue: x\ntopics: []\n", "topics"),
        ("issue: x\ntopics: [{title: a, question: ''}]\n", "topics.0.question"),
        (f"issue: x\ntopics: [{{title: a, question: {'q' * 5000}}}]\n", "5000 characters"),
        ("issue: x\ntopic: []\ntopics: [{title: a, question: b}]\n", "topic: "),
        ("issue: [\n", "not YAML"),
        ("", "empty"),
    ],
)
def test_bad_conference_files(
    tmp_path: Path, load_context: LoadContextMaker, content: str, expected: str
) -> None:
    folder = tmp_path / "conference"
    folder.mkdir()
    (folder / "c.yaml").write_text(content, encoding="utf-8")
    loader = LOADERS["conference"]
    with pytest.raises(UserError) as caught:
        loader.load(loader.options(source="local"), load_context("conference", data_root=tmp_path))
    assert "c.yaml" in str(caught.value) and expected in str(caught.value)
