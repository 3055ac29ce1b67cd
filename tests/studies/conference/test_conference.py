"""The decision conference: its endings, its graders, and hostile circumstances."""

import itertools
import json
import re
from dataclasses import replace

import pandas as pd
import pytest

from conference_script import PAIR, PAIR_TASK, confer, conference_case, kinds, script
from moot.core.cases import Case, Task
from moot.llm.request import Request
from moot.protocols.debate import Debate
from moot.studies.conference.data_agreement import AGREEMENT, OPEN, draw_groups
from moot.studies.conference.forms import EVALUATOR, JUDGE, MODERATOR
from scripted_model import WINNER, hold


async def test_agreement_at_once_takes_one_round_a_topic() -> None:
    answer, debate, _ = await confer(script("AGREEMENT"), graded_decisions=0)
    assert answer is not None and answer.prediction == AGREEMENT and answer.score == 1
    topic = ["opening", "statement", "statement", "decision", "evaluation"]
    assert kinds(debate) == topic * 3 + ["closing", "coding"]
    assert [utterance.speaker for utterance in debate.utterances[:4]] == [
        "moderator",
        "participant_1",
        "participant_2",
        "judge",
    ]


async def test_judge_that_never_says_agreement_is_stopped_by_the_cap() -> None:
    answer, debate, _ = await confer(script("MORE DEBATE"), rounds=2, graded_decisions=0)
    assert answer is not None and answer.prediction == OPEN and answer.score == 0
    assert kinds(debate).count("decision") == 6 and kinds(debate).count("steering") == 3


async def test_unusable_decision_counts_as_more_debate() -> None:
    decisions = [
        *["Both sides have a point."] * 2,  # asked again, and repeated
        *["AGREEMENT or MORE DEBATE"] * 2,
        "The decision is AGREEMENT.",
        "AGREEMENT",
    ]
    answer, debate, _ = await confer(script(decisions), graded_decisions=0)
    assert answer is not None and answer.prediction == AGREEMENT
    readings = [
        (utterance.parse_status, utterance.prediction)
        for utterance in debate.utterances
        if utterance.kind == "decision"
    ]
    assert readings[:3] == [("invalid", None), ("invalid", None), ("extracted", AGREEMENT)]
    assert readings[3] == ("strict", AGREEMENT)


def decisions_of(debate: Debate) -> list[tuple[str, str]]:
    """Return text and visibility of each decision."""
    return [
        (utterance.text, utterance.visibility)
        for utterance in debate.utterances
        if utterance.kind == "decision"
    ]


async def test_without_judge_only_the_decider_differs() -> None:
    _, with_judge, _ = await confer(script("AGREEMENT"), graded_decisions=0)
    answer, without_judge, _ = await confer(script("AGREEMENT"), agreement=False)
    assert answer is not None and answer.prediction == AGREEMENT
    speakers = [(utterance.kind, utterance.speaker) for utterance in without_judge.utterances]
    assert [
        ("decision", JUDGE) if kind == "decision" else (kind, speaker) for kind, speaker in speakers
    ] == [(utterance.kind, utterance.speaker) for utterance in with_judge.utterances]
    assert {speaker for kind, speaker in speakers if kind == "decision"} == {MODERATOR}
    assert decisions_of(with_judge) == decisions_of(without_judge), "the same words, as publicly"


@pytest.mark.parametrize(("visits", "openings"), [(1, 3), (2, 5), (9, 5)])
async def test_topics_without_agreement_are_visited_again(visits: int, openings: int) -> None:
    replies = iter(["MORE DEBATE", "AGREEMENT", "MORE DEBATE", *["AGREEMENT"] * 9])

    def talk(request: Request) -> str | dict[str, float] | None:
        is_decision = "Decide whether an agreement" in request.messages[-1].content
        return next(replies) if is_decision else script("AGREEMENT")(request)

    params = {"visits": visits, "rounds": 1, "graded_decisions": 0}
    answer, debate, _ = await confer(talk, **params)
    kinds = [utterance.kind for utterance in debate.utterances]
    assert kinds.count("opening") == openings
    assert answer is not None and answer.prediction == (AGREEMENT if visits > 1 else OPEN)


async def test_silent_moderator_and_failed_participant_do_not_stop_the_conference() -> None:
    answer, debate, _ = await confer(script("AGREEMENT", greeting=""), graded_decisions=0)
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

    answer, debate, _ = await confer(mute, graded_decisions=0)
    assert answer is not None
    assert {
        utterance.parse_status
        for utterance in debate.utterances
        if utterance.speaker == "participant_2"
    } == {"failed"}


async def test_the_evaluator_scores_only_agreed_topics() -> None:
    decisions = ["AGREEMENT", "MORE DEBATE", "AGREEMENT"]
    for scores_open_topics, expected in ((False, 2), (True, 3)):
        _, debate, _ = await confer(
            script([*decisions]),
            rounds=1,
            graded_decisions=0,
            evaluates_open_topics=scores_open_topics,
        )
        assert kinds(debate).count("evaluation") == expected


@pytest.mark.parametrize("agreement", [True, False])
@pytest.mark.parametrize("probing", [True, False])
async def test_only_probing_prompts_do_the_judges_work(probing: bool, agreement: bool) -> None:
    """With or without a judge, no prompt of the paper's design asks for what was not looked at."""
    _, _, chat = await confer(script("MORE DEBATE"), rounds=2, probing=probing, agreement=agreement)
    pattern = re.compile(r"what is missing|where you object|not looked at|left unanswered")
    matches = [bool(pattern.search(request.messages[-1].content)) for request in chat.requests]
    assert any(matches) == probing


async def test_every_call_has_the_one_temperature() -> None:
    _, _, chat = await confer(script("AGREEMENT"))
    _, _, judge = await hold("agreement", PAIR, PAIR_TASK, script("AGREEMENT"))
    _, _, grader = await hold("grading", PAIR, PAIR_TASK, script("AGREEMENT"))
    requests = [*chat.requests, *judge.requests, *grader.requests]
    assert {request.parameters["temperature"] for request in requests} == {0.7}


@pytest.mark.parametrize("form", ["json", "likelihood"])
async def test_the_moderator_reports_a_verdict_on_other_questions(form: str) -> None:
    case, _ = conference_case()

    def talk(request: Request) -> str | dict[str, float] | None:
        if "PLAINTIFF" in request.choices:
            return {"PLAINTIFF": -0.1, "DEFENDANT": -3.0}
        if request.choices:
            return {"AGREEMENT": -0.1, "MORE DEBATE": -3.0}
        if request.schema and "prediction" in request.schema["properties"]:
            return json.dumps({"reasoning": "So.", "prediction": "PLAINTIFF", "confidence": 80})
        return script("AGREEMENT")(request)

    case = replace(case, target="plaintiff", labels=WINNER.labels)
    answer, _, _ = await hold("conference", case, WINNER, talk, graded_decisions=0, answer=form)
    assert answer is not None and answer.prediction == "plaintiff"


async def test_a_conference_without_statements_has_no_answer() -> None:
    answer, _, _ = await confer(script("AGREEMENT", statement=" "), graded_decisions=0)
    assert answer is None


async def test_seats_read_only_permitted_utterances() -> None:
    """The evaluator's scores and all grades stay out of every other seat's prompt."""
    _, debate, chat = await confer(script(["MORE DEBATE", "AGREEMENT"]), graded_decisions=2)
    private = [entry for entry in debate.utterances if entry.kind in ("evaluation", "coding")]
    assert {entry.visibility for entry in private} == {EVALUATOR, "coder"}
    talks = [request.messages[-1].content for request in chat.requests]
    assert not any(
        '"clarity": 7' in talk or "P1: yes" in talk or '"grade"' in talk.split("<record>")[-1]
        for talk in talks[:8]
    )


async def test_each_decision_is_graded_separately_twice_and_reversed() -> None:
    decisions = ["MORE DEBATE", "AGREEMENT", "who knows", "who knows", "AGREEMENT"]
    _, debate, chat = await confer(
        script(decisions, statement="<decision>AGREEMENT</decision>"), graded_decisions=3
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


def test_as_many_groups_agree_as_not() -> None:
    claims = pd.DataFrame({"topic_id": 1, "stance": ["pro"] * 4 + ["con"] * 2})
    groups = draw_groups(claims, 2, 10, seed=1)
    sides = [len(set(claims.loc[group, "stance"])) for group in groups]
    assert sorted(sides) == [1] * 5 + [2] * 5
