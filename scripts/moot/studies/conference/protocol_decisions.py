"""The judge's decision (agreement or more debate): asking, grading and protocols with a truth.

Source: Heller et al., "Finding Common Ground", sections 3.2.1 (the judge) and 4.2 (single-answer
grading, 0 to 10, with a short explanation, of the decision and of its form). Grading twice, and
grading decisions that are known to be wrong, are our additions: they show the reliability of the
grades in Table 5.

The paper names no temperature. Here all calls of a conference, of its judge on known statements and
of its grader have the same temperature, by default 0.7.
"""

import re
from functools import cache, partial
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.types import JsonObject
from moot.core.utterance_kinds import DECISION, GRADE, GRADE_REVERSED, PUBLIC, STATEMENT
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import choice_form
from moot.protocols.reply_schemas import read_answer
from moot.protocols.utterances import Utterance
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.data_conference import Agenda, Topic
from moot.studies.conference.forms import JUDGE, MAX_GRADE, Grade, participant_seat

MORE_DEBATE = "MORE DEBATE"
ANSWERS = {OPEN: MORE_DEBATE, AGREEMENT: "AGREEMENT"}
"""The words of a decision, the same for a judge and for the moderator of a conference without."""
GRADER = "grader"

AnswerForm = Literal["label", "json", "likelihood"]


class DecisionParams(ProtocolParams):
    """How a decision is asked for."""

    answer: AnswerForm = Field(
        "label",
        description=(
            "the decision as bare words (the paper), as JSON, or by the likelihood of its words"
        ),
    )


class GradedParams(DecisionParams):
    """How decisions are asked for and graded."""

    graded_decisions: int = Field(
        5,
        ge=0,
        description="how many of the judge's decisions a second model grades (seat `grader`)",
    )
    gradings: int = Field(
        2, ge=1, description="how often each decision is graded, to measure the grader's stability"
    )
    reversed_decisions: bool = Field(
        True, description="whether the opposite of each decision is graded too"
    )


class JudgeParams(DecisionParams):
    """Parameters of `agreement`."""


class GradingParams(ProtocolParams):
    """Parameters of `grading`."""

    gradings: int = Field(2, ge=1, description="how often each decision is graded")


async def ask_decision(
    debate: Debate, answer: AnswerForm, seat: str, prompt: str, **context: Any
) -> Utterance:
    """Ask for agreement or more debate.

    `prediction` is "agreement" or "open"; None if the answer is unusable.

    A placeholder asks for more debate, which needs the most calls.
    """
    labels = [label for label in debate.task.labels if label in ANSWERS] or list(ANSWERS)
    words = {label: ANSWERS[label] for label in labels}
    if answer == "likelihood":
        reply = await debate.choose(seat, DECISION, prompt, words=words, **context)
        if debate.is_placeholder(reply):
            reply.prediction = OPEN
        reply.text = words.get(reply.prediction or "", "")
        return reply
    spoken = tuple(words.values())
    reply = await debate.say(
        seat,
        DECISION,
        prompt,
        schema=decision_schema(spoken) if answer == "json" else None,
        labels=spoken if answer == "label" else (),
        form=choice_form(spoken),
        words=words,
        **context,
    )
    decision = (reply.parsed or {}).get("prediction")
    reply.prediction = next((label for label, word in words.items() if word == decision), None)
    if debate.is_placeholder(reply):
        reply.prediction = OPEN
    return reply


async def grade_decision(
    debate: Debate,
    question: str,
    exchange: str,
    decision: str,
    *,
    kind: str,
    times: int,
    number: int,
) -> list[int]:
    """Let the grader grade one decision on an exchange several times.

    Returns the usable grades.
    """
    grades = []
    context: JsonObject = {"question": question, "exchange": exchange, "decision": decision}
    for _ in range(times):
        reply = await debate.say(
            GRADER,
            kind,
            "conference/grade",
            schema=Grade,
            private=True,
            utterances=(),
            round=number,
            **context,
        )
        if reply.usable and reply.parsed:
            grades.append(int(reply.parsed["grade"]))
    return grades


conference_protocol = partial(protocol, study="conference")
AGREEMENT_PROMPTS = ("conference/base", "conference/decision", "conference/answer")


@conference_protocol(
    "agreement",
    JudgeParams,
    prompts=AGREEMENT_PROMPTS,
    options=Options("own"),
    seats=lambda _: (JUDGE,),
)
async def agreement(debate: Debate, params: JudgeParams) -> Answer | None:
    """Ask the conference's judge about statements whose agreement is known.

    The judge reads the prompt of the conference: the statements are the record of the first round
    on one topic. The judge's answer is the prediction.
    """
    agenda, statements = read_discussion(debate.case.text, debate.task.question)
    decision = await ask_decision(
        debate,
        params.answer,
        JUDGE,
        "conference/decision",
        utterances=statements,
        agenda=agenda,
        topic=agenda.topics[0],
        number=1,
    )
    return read_answer(debate, decision)


_TOPIC = re.compile(r"Topic: *(?P<topic>.*)", re.DOTALL)
_STATEMENT = re.compile(r"Participant (?P<number>\d{1,3}): *(?P<statement>.*)", re.DOTALL)


def read_discussion(text: str, question: str) -> tuple[Agenda, list[Utterance]]:
    """Read a discussion of one topic: "Topic: ..." and paragraphs "Participant 1: ...".

    Further paragraphs belong to the statement before them. A text without such paragraphs is one
    statement, and a text without a topic is about `question`.
    """
    topic, statements = question, list[Utterance]()
    for paragraph in text.split("\n\n"):
        topic_match = _TOPIC.fullmatch(paragraph)
        statement_match = _STATEMENT.fullmatch(paragraph)
        if statement_match:
            seat = participant_seat(int(statement_match["number"]))
            statements.append(_statement(len(statements) + 1, seat, statement_match["statement"]))
        elif statements:
            statements[-1].text += f"\n\n{paragraph}"
        elif topic_match:
            topic = topic_match["topic"].strip()
    if not statements:
        statements = [_statement(1, "participants", text)]
    return Agenda(topic, (Topic("The motion", "discussion", topic),)), statements


def _statement(turn: int, seat: str, text: str) -> Utterance:
    return Utterance(turn, 1, seat, PUBLIC, STATEMENT, text)


@conference_protocol(
    "grading",
    GradingParams,
    prompts=("conference/grade",),
    options=Options("none"),
    seats=lambda _: (GRADER,),
)
async def grading(debate: Debate, params: GradingParams) -> Answer | None:
    """Let the grader grade both decisions on a case whose truth is known.

    It predicts the decision that gets the higher grade.

    The grades of the true decision have kind "grade", the grades of the planted wrong decision
    "grade_reversed". A grader that gives both the same grades has no usable answer.
    """
    true_label = debate.case.target
    means: dict[str, float] = {}
    for label, word in ANSWERS.items():
        kind = GRADE if label == true_label else GRADE_REVERSED
        question, exchange = debate.task.question, debate.case.text
        grades = await grade_decision(
            debate, question, exchange, word, kind=kind, times=params.gradings, number=1
        )
        means[label] = fmean(grades) if grades else float("nan")
    if not abs(means[OPEN] - means[AGREEMENT]) > 0:
        return None
    score = (MAX_GRADE + means[AGREEMENT] - means[OPEN]) / (2 * MAX_GRADE)
    return Answer(AGREEMENT if means[AGREEMENT] > means[OPEN] else OPEN, None, score)


def opposite_words(decision: str | None) -> str:
    """Return the judge's words for the opposite decision.

    An unusable decision counts as more debate, so that its opposite is agreement.
    """
    return ANSWERS[OPEN if decision == AGREEMENT else AGREEMENT]


@cache
def decision_schema(words: tuple[str, ...]) -> type[BaseModel]:
    fields: JsonObject = {"prediction": (Literal[words], ...)}  # pyrefly: ignore[not-a-type]
    return create_model("Decision", __config__=ConfigDict(extra="forbid"), **fields)
