"""Judges of one conference: each model decides on the same exchanges (Heller et al., Table 5).

The paper tests judges, so its participants must stay the same. Here the public statements of
another experiment's conference are played to the model, without the words of its judge. Whenever
that judge or moderator decided, the model decides, with the prompt of the conference. It does not
read its earlier decisions, because the record continued by the first judge's decisions. A second
model then grades the decisions, as in the conference.
"""

from collections.abc import Mapping
from itertools import chain

from pydantic import Field

from moot.core.artifacts import repeats_by_case
from moot.core.cases import Case
from moot.core.errors import UserError
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import DECISION, OPENING, PUBLIC, STATEMENT
from moot.protocols import Options, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.replayed import RecordedDebate, missing_text_error, read_debates
from moot.protocols.setup import JobSetup
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.data_conference import Agenda, Topic, read_agenda
from moot.studies.conference.forms import JUDGE
from moot.studies.conference.protocol import (
    AGREEMENT_LABELS,
    count_visits,
    grade_decisions,
    topics_visited,
)
from moot.studies.conference.protocol_decisions import GRADER, GradedParams, ask_decision


class JudgingParams(GradedParams):
    """Parameters of `judging`."""

    source_experiment: str = Field(description="the experiment whose conferences are judged")
    source_model: str = Field(description="the model of the source experiment")
    topics: tuple[Topic, ...] = Field(
        (), description="topics of the conferences, if they replaced the case's own"
    )
    visits: int = Field(1, ge=1, description="how often the conferences visited topics at most")


def _transcripts(params: JudgingParams) -> dict[str, str]:
    return {"debates": f"transcripts/{params.source_experiment}/{params.source_model}"}


def source_repeats(setup: JobSetup, case: Case) -> list[int]:
    """Return the repeats of a case that were debated."""
    return repeats_by_case(_source_debates(setup)).get(case.case_id, [])


@protocol(
    "judging",
    JudgingParams,
    study="conference",
    prompts=("conference/base", "conference/decision", "conference/answer", "conference/grade"),
    needs=_transcripts,
    repeats=source_repeats,
    options=Options("none"),
    seats=lambda _: (JUDGE, GRADER),
)
async def judging(debate: Debate, params: JudgingParams) -> Answer | None:
    """Play a conference, ask for each of its decisions, and let the grader grade them.

    The answer is whether the last decision on every topic is agreement. On a task with other labels
    there is no answer.
    """
    agenda = read_agenda(debate.case.text, debate.task.question)
    agenda = Agenda(agenda.issue, params.topics or agenda.topics)
    last_decisions: dict[int, str | None] = {}
    rows = _source_debates(debate.setup)[debate.case.case_id, debate.repeat].rows
    course = [(row["kind"], row["prediction"]) for row in rows]
    topics = topics_visited(course, len(agenda.topics))
    if len(topics) > params.visits * len(agenda.topics):
        raise UserError(
            f"experiment '{debate.setup.experiment}': found topic {len(topics)} in the conference"
            f" '{debate.case.case_id}' of '{params.source_experiment}', expected at most"
            f" {params.visits * len(agenda.topics)}. Set `params.topics` and `params.visits` to"
            " those of that experiment."
        )
    for row in rows:
        if row["kind"] == DECISION:
            visit = count_visits(debate.utterances, len(debate.utterances))
            number = topics[max(visit, 1) - 1]
            last_decisions[number] = await _decide(debate, params, agenda, number, row)
        elif row["visibility"] == PUBLIC and row["speaker"] != JUDGE:
            _play(debate, row)
    await grade_decisions(debate, params, agenda, topics)
    usable_decisions = [decision for decision in last_decisions.values() if decision is not None]
    if not usable_decisions or set(debate.task.labels) != AGREEMENT_LABELS:
        return None
    share = usable_decisions.count(AGREEMENT) / len(last_decisions)
    return Answer(AGREEMENT if share == 1 else OPEN, None, share)


async def _decide(
    debate: Debate, params: JudgingParams, agenda: Agenda, number: int, row: Fields
) -> str | None:
    """Ask for the decision on a topic, at the place of a decision of the source."""
    context: JsonObject = {"agenda": agenda, "topic": agenda.topics[number - 1], "number": number}
    heard = [entry for entry in debate.readable_by(JUDGE) if entry.kind != DECISION]
    decision = await ask_decision(
        debate,
        params.answer,
        JUDGE,
        "conference/decision",
        private=True,
        utterances=heard,
        round=row["round"],
        **context,
    )
    return decision.prediction


def _play(debate: Debate, row: Fields) -> None:
    """Record a turn again; an opening without words still opens a topic, and no seat reads it."""
    if row["text"] or row["kind"] == OPENING:
        status: JsonObject = {} if row["text"] else {"parse_status": "failed"}
        debate.record(
            row["speaker"],
            row["kind"],
            row["text"],
            source=row["source"],
            round=row["round"],
            **status,
        )


def _source_debates(setup: JobSetup) -> Mapping[tuple[str, int], RecordedDebate]:
    """Return the finished conferences by case and repeat.

    Raise `UserError` if their words are unknown.
    """
    params: JudgingParams = setup.params
    debates = read_debates(tuple(setup.artifacts.values()), frozenset(), JUDGE)
    rows = chain.from_iterable(debate.rows for debate in debates.values())
    if not any(row["text"] and row["kind"] == STATEMENT for row in rows):
        raise missing_text_error(setup.experiment, params.source_experiment, "a judge could read")
    return debates
