"""The decision conference (Heller et al., "Finding Common Ground", section 3.2).

Each topic is debated in rounds in which every participant speaks once. After a round the judge says
AGREEMENT or MORE DEBATE and nothing else; on agreement the evaluator scores the debate and the
moderator goes on to the next topic. With `agreement: false` there is no judge, and the moderator
takes the same decision, by the same criterion, in the same words and as publicly.
The paper revisits stages in a loop; here topics without agreement are revisited up to `visits`
times, by default not at all.

Where the paper is silent: a topic without agreement after `rounds` rounds is closed as open; a
decision that cannot be used counts as more debate; a failed call leaves its speaker silent; the
evaluator's scores are private, so that they influence no speaker; every
call has the temperature of the parameters, 0.7 by default.
"""

from collections.abc import Iterable, Sequence

from pydantic import Field

from moot.core.types import JsonObject
from moot.core.utterance_kinds import (
    CLOSING,
    CODING,
    DECISION,
    EVALUATION,
    GRADE,
    GRADE_REVERSED,
    OPENING,
    STATEMENT,
    VERDICT,
)
from moot.protocols import Debaters, Options, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.protocols.utterances import Utterance
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.data_conference import Agenda, Topic, read_agenda
from moot.studies.conference.forms import (
    EVALUATOR,
    JUDGE,
    MODERATOR,
    USER,
    Evaluation,
    Message,
    coding_schema,
    next_speaker,
    participant_seat,
)
from moot.studies.conference.protocol_decisions import (
    ANSWERS,
    GRADER,
    GradedParams,
    ask_decision,
    grade_decision,
    opposite_words,
)

CODER = "coder"
STEERING = "steering"


class ConferenceParams(GradedParams):
    """Parameters of the conference; the defaults are the paper's if it states them."""

    agreement: bool = Field(
        True, description="whether a judge detects agreement; otherwise the moderator decides"
    )
    participants: int = Field(2, ge=2, description="how many participants debate")
    topics: tuple[Topic, ...] = Field(
        (), description="topics (title, stage, question) in place of the case's own"
    )
    rounds: int = Field(3, ge=1, description="the maximum number of rounds on one topic")
    visits: int = Field(
        1,
        ge=1,
        le=10,
        description=(
            "how often topics are visited at most, until all ended in agreement (the paper revisits"
            " stages in a loop, without a limit)"
        ),
    )
    words: int = Field(
        150, ge=5, description="the requested maximum length of a statement, in words"
    )
    probing: bool = Field(
        False,
        description=(
            "whether participants are told to object and to name missing points, and the "
            "moderator to name omitted aspects (paper: no, since this is what its judge adds)"
        ),
    )
    evaluator: bool = Field(
        True, description="whether an evaluator scores a topic's debate by ten criteria"
    )
    evaluates_open_topics: bool = Field(
        False,
        description="whether the evaluator also scores topics closed without agreement (paper: no)",
    )
    coding: bool = Field(
        True, description="whether a second model codes the clusters reached (seat `coder`)"
    )


def _participants(params: ConferenceParams) -> list[str]:
    return [participant_seat(number) for number in range(1, params.participants + 1)]


AGREEMENT_LABELS = frozenset({AGREEMENT, OPEN})
PARTICIPANTS = Debaters(_participants, MODERATOR, agreement_labels=AGREEMENT_LABELS)


@protocol(
    "conference",
    ConferenceParams,
    study="conference",
    debaters=PARTICIPANTS,
    options=Options(fixed_labels=AGREEMENT_LABELS),
    seats=lambda params: (MODERATOR, *_participants(params), JUDGE, EVALUATOR, GRADER, CODER),
)
async def conference(debate: Debate, params: ConferenceParams) -> Answer | None:
    """Debate every topic.

    The answer tells whether every topic ended in agreement. On a task with other labels it is the
    group's verdict.
    """
    agenda = read_agenda(debate.case.text, debate.task.question)
    agenda = Agenda(agenda.issue, params.topics or agenda.topics)
    history = [Message(USER, agenda.issue)]
    agreements = [False] * len(agenda.topics)
    for _ in range(params.visits):
        for place, topic in enumerate(agenda.topics):
            if not agreements[place]:
                context = {"agenda": agenda, "topic": topic, "number": place + 1}
                agreements[place] = await debate_topic(debate, params, history, context)
        if all(agreements):
            break
    await debate.say(MODERATOR, CLOSING, "conference/closing", agenda=agenda, agreed=agreements)
    course = [(utterance.kind, utterance.prediction) for utterance in debate.utterances]
    topics = topics_visited(course, len(agenda.topics))
    await grade_decisions(debate, params, agenda, topics)
    await code_clusters(debate, params, agenda)
    return await determine_outcome(debate, params, agenda, agreements)


async def debate_topic(
    debate: Debate, params: ConferenceParams, history: list[Message], context: JsonObject
) -> bool:
    """Debate one topic in the order of Algorithm 1 and return whether it ended in agreement.

    The debate ends with agreement or after `params.rounds` rounds.
    """
    round_number = 1
    while (speaker := next_speaker(history, params.participants)) != EVALUATOR:
        decision = ""
        if speaker == MODERATOR:
            kind = STEERING if history[-1].speaker == JUDGE else OPENING
            await debate.say(MODERATOR, kind, f"conference/{kind}", round=round_number, **context)
        elif speaker == JUDGE:
            decision = await ask_for_decision(debate, params, round_number, context)
            round_number += 1
        else:
            seats = _participants(params)
            seat = debate.speaking_order(seats)[seats.index(speaker)]
            await debate.say(
                seat,
                STATEMENT,
                "conference/statement",
                round=round_number,
                **context,
            )
        history.append(Message(speaker, decision))
        if round_number > params.rounds:
            break
    is_agreed = history[-1].content == ANSWERS[AGREEMENT]
    may_be_agreed = is_agreed or debate.is_placeholder(debate.utterances[-1])
    if params.evaluator and (may_be_agreed or params.evaluates_open_topics):
        await debate.say(
            EVALUATOR,
            EVALUATION,
            "conference/evaluation",
            schema=Evaluation,
            private=True,
            **context,
        )
    history.append(Message(EVALUATOR))
    return is_agreed


async def ask_for_decision(
    debate: Debate, params: ConferenceParams, round_number: int, context: JsonObject
) -> str:
    """Ask the judge, or the moderator of a conference without one, for the decision.

    Returns the decision in the judge's words, or "" if it is unusable.
    """
    seat = JUDGE if params.agreement else MODERATOR
    decision = await ask_decision(
        debate,
        params.answer,
        seat,
        "conference/decision",
        round=round_number,
        **context,
    )
    return ANSWERS.get(decision.prediction or "", "")


async def determine_outcome(
    debate: Debate, params: ConferenceParams, agenda: Agenda, agreements: Sequence[bool]
) -> Answer | None:
    """Return whether every topic ended in agreement, or the verdict that the moderator reports.

    The moderator reports a verdict if the task has other labels than agreement. A conference
    without any statement has no answer.
    """
    if not any(
        utterance.kind == STATEMENT and utterance.usable and utterance.text.strip()
        for utterance in debate.utterances
    ):
        return None
    if set(debate.task.labels) == AGREEMENT_LABELS:
        share = sum(agreements) / len(agreements)
        return Answer(AGREEMENT if all(agreements) else OPEN, None, share)
    if params.answer == "likelihood":
        return read_answer(
            debate, await debate.choose(MODERATOR, VERDICT, "conference/verdict", agenda=agenda)
        )
    schema = prediction_schema(debate.task, name="Verdict")
    return read_answer(
        debate,
        await debate.say(MODERATOR, VERDICT, "conference/verdict", schema=schema, agenda=agenda),
    )


async def grade_decisions(
    debate: Debate, params: GradedParams, agenda: Agenda, topics: Sequence[int]
) -> None:
    """Let the grader grade the judge's first decisions, each on the exchange on its topic.

    `topics` has the number of the topic of each visit.
    """
    decisions = [
        decision
        for decision in debate.utterances
        if decision.kind == DECISION and decision.speaker == JUDGE
    ]
    for number, decision in enumerate(decisions[: params.graded_decisions], start=1):
        if decision.has_failed:
            continue
        visit = count_visits(debate.utterances, decision.turn)
        exchange = format_exchange(debate.utterances, visit, until=decision.turn)
        question = agenda.topics[topics[visit - 1] - 1].question
        await grade_decision(
            debate,
            question,
            exchange,
            decision.text,
            kind=GRADE,
            times=params.gradings,
            number=number,
        )
        if params.reversed_decisions:
            opposite = opposite_words(decision.prediction)
            await grade_decision(
                debate,
                question,
                exchange,
                opposite,
                kind=GRADE_REVERSED,
                times=params.gradings,
                number=number,
            )


async def code_clusters(debate: Debate, params: ConferenceParams, agenda: Agenda) -> None:
    """Let the coder tell which clusters the first topic's debate reached.

    The coder sees the names of the clusters but not their lexicons.
    """
    clusters = debate.case.attributes.get("clusters", "")
    if params.coding and clusters:
        schema = coding_schema(clusters)
        exchange, names = format_exchange(debate.utterances, 1), list(schema.model_fields)
        context: JsonObject = {
            "question": agenda.topics[0].question,
            "exchange": exchange,
            "clusters": names,
        }
        await debate.say(
            CODER,
            CODING,
            "conference/coding",
            schema=schema,
            private=True,
            utterances=(),
            **context,
        )


def topics_visited(course: Iterable[tuple[str, str | None]], topic_count: int) -> list[int]:
    """Return the number of the topic of each visit.

    A visit begins with the moderator's opening. Topics that ended in agreement are not revisited.

    Args:
        course: The kind and the prediction of each utterance.
        topic_count: The number of topics on the agenda.

    >>> course = [("opening", None), ("decision", "open"), ("opening", None)]
    >>> topics_visited([*course, ("decision", "agreement"), ("opening", None)], 2)
    [1, 2, 1]
    """
    numbers: list[int] = []
    agreed: set[int] = set()
    for kind, prediction in course:
        if kind == OPENING:
            last = numbers[-1] if numbers else 0
            following = [(last + step) % topic_count + 1 for step in range(topic_count)]
            numbers.append(next((number for number in following if number not in agreed), last))
        elif kind == DECISION and prediction == AGREEMENT and numbers:
            agreed.add(numbers[-1])
    return numbers


def count_visits(utterances: Sequence[Utterance], turn: int) -> int:
    """Count the visits of topics until a turn."""
    return sum(utterance.kind == OPENING and utterance.turn <= turn for utterance in utterances)


def format_exchange(utterances: Sequence[Utterance], visit: int, until: int | None = None) -> str:
    """Return the participants' statements during a visit of a topic as text.

    Each statement is one paragraph, so that it cannot contain a line of another speaker.
    """
    statements = [
        utterance
        for utterance in utterances
        if utterance.kind == STATEMENT
        and utterance.text.strip()
        and count_visits(utterances, utterance.turn) == visit
    ]
    lines = (
        f"{utterance.speaker.replace('_', ' ').capitalize()}: {' '.join(utterance.text.split())}"
        for utterance in statements
        if until is None or utterance.turn < until
    )
    return "\n\n".join(lines)
