"""Three kinds of appellate panel ("Tipping the Balance", Methods, phases 1 to 3).

    synthetic_panel   one model plays all judges; each round is one reply, split by judge
    panel             each judge has a seat; no judge hears the others within a round
    human_panel       as panel, with a person or a script as the last judge

A panel has three judges and three rounds. After a round all its statements join the shared memory.
On appeals no prompt asks for a position. Our choices where the paper is silent: rules read a
statement's position; the panel's decision is the majority of the last round's positions; a tie or a
round without positions gives no decision. The script affirms in every other repeat of a case,
so that each case has both stances.

On other data no rule reads a position. There each judge votes for a label at the end of each round,
by a generated reply, and the decision is the majority of the last round's votes.
"""

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from moot.core.cases import stable_fraction
from moot.core.errors import UserError
from moot.core.utterance_kinds import EXTRA, OVERRUN, STATEMENT
from moot.protocols import Debaters, Options, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import PersonForm, gather_statements
from moot.protocols.utterances import Utterance
from moot.studies.appellate.data_opinions import AFFIRM, NOT_AFFIRM, load_human_statements
from moot.studies.appellate.legal.rubric_rules import APPELLATE
from moot.studies.appellate.panel_statements import (
    JudgeStatement,
    make_round_schema,
    read_confidence,
    read_json_round,
    split_round,
)
from moot.studies.appellate.protocol_panel_params import (
    APPEAL,
    HUMAN,
    SCRIPT,
    HumanPanelParams,
    PanelParams,
    SyntheticParams,
    find_human_misfit,
    find_misfit,
    list_judges,
)
from moot.studies.appellate.protocol_panel_votes import (
    cast_ballot,
    cast_script_votes,
    cast_vote,
    decide_panel,
    has_person,
    is_appeal,
    vote_mode,
)

OPTIONS = Options(fixed_labels=APPEAL, explains_labels=False)


class Opinion(PersonForm):
    """The form of a person's statement on a panel."""

    statement: str = Field(description="your position, and your reasons")
    confidence: float = Field(
        ge=0, le=100, description="how sound your reasoning is, from 0 to 100"
    )


class OpinionOnAppeal(Opinion):
    """The form of a person's statement on whether to affirm."""

    statement: str = Field(
        description="your position, and your reasons",
        examples=[
            "I would affirm the decision.",
            "I would reverse the decision.",
            "I would remand the case.",
        ],
    )


appellate_protocol = partial(
    protocol,
    study="appellate",
    prompts=("panel/",),
    options=OPTIONS,
    rubric=APPELLATE,
    misfit=find_misfit,
)

# Phase 1: one model plays all judges.


@appellate_protocol("synthetic_panel", SyntheticParams, seats=lambda _: (SCRIPT,))
async def synthetic_panel(debate: Debate, params: SyntheticParams) -> Answer | None:
    """Hold a debate in which each round is one reply, and record all statements of the reply."""
    names: list[str] = []
    for number in range(1, params.rounds + 1):
        schema = (
            make_round_schema(params.judges, params.chars_per_judge)
            if params.reply == "json"
            else None
        )
        reply = await debate.say(
            SCRIPT, "script", "panel/script", schema=schema, private=True, round=number
        )
        statements = read_json_round(reply) if schema else split_round(reply.text, number, names)
        record_statements(debate, params, reply, number, statements)
        if vote_mode(debate, params) != "none":
            await cast_script_votes(debate, params, number)
    return decide_panel(debate, params.rounds)


def record_statements(
    debate: Debate,
    params: PanelParams,
    reply: Utterance,
    number: int,
    statements: Sequence[JudgeStatement],
) -> None:
    """Record each judge's statement of a synthetic round.

    The kind is `statement`, `overrun` beyond the last round, or `extra` for a judge that the panel
    does not have or that speaks twice. A missing judge gets an empty statement with the status
    `invalid`, or `failed` if the call failed.
    """
    judges_heard: set[int] = set()
    scale = debate.voices.confidence_scale(reply.speaker)
    for statement in statements:
        kind = EXTRA
        is_new_judge = statement.judge <= params.judges and statement.judge not in judges_heard
        if statement.round == number and is_new_judge:
            kind = STATEMENT
            judges_heard.add(statement.judge)
        elif statement.round > params.rounds:
            kind = OVERRUN
        debate.record(
            f"judge_{statement.judge}",
            kind,
            statement.statement,
            source=reply.source,
            round=statement.round if kind == OVERRUN else number,
            confidence=read_confidence(statement.statement, scale),
            call_id=reply.call_id,
        )
    for judge in range(1, params.judges + 1):
        if judge not in judges_heard:
            debate.record(
                f"judge_{judge}",
                STATEMENT,
                "",
                source=reply.source,
                round=number,
                call_id=reply.call_id,
                parse_status="failed" if reply.has_failed else "invalid",
            )


# Phase 2: each judge has a seat.


JUDGES = Debaters(list_judges, "judge_1", are_judges=True)


@appellate_protocol("panel", PanelParams, debaters=JUDGES, seats=list_judges)
async def panel(debate: Debate, params: PanelParams) -> Answer | None:
    """Hold a debate in which the judges of a round speak independently and then share memory."""
    seats = debate.speaking_order(list_judges(params))
    for number in range(1, params.rounds + 1):
        await hold_round(debate, params, seats, number)
    return decide_panel(debate, params.rounds)


async def hold_round(
    debate: Debate, params: PanelParams, seats: Sequence[str], number: int
) -> None:
    """Hold one round: all judges speak with the memory of earlier rounds, then they may vote."""
    shared_memory = list_shared_statements(debate, number)
    models = [seat for seat in seats if not debate.voices.is_human(seat)]
    mode = vote_mode(debate, params)
    if mode == "likelihood" and number == 1 and models:
        await cast_vote(debate, models[0], 0, (), blank=True)
    statements = await gather_statements(
        *(make_statement(debate, seat, number, shared_memory) for seat in seats)
    )
    if mode == "none":
        return
    cast = cast_vote if mode == "likelihood" else cast_ballot
    votes = []
    for statement in statements:
        if not statement.has_failed:
            heard = [*shared_memory, statement]
            votes.append(cast(debate, statement.speaker, number, heard))
    await gather_statements(*votes)


async def make_statement(
    debate: Debate, seat: str, number: int, shared_memory: Sequence[Utterance]
) -> Utterance:
    """Ask one judge for a statement, and read the confidence in it."""
    form = OpinionOnAppeal if is_appeal(debate) else Opinion
    utterance = await debate.say(
        seat,
        STATEMENT,
        "panel/statement",
        form=form,
        round=number,
        utterances=shared_memory,
        number=number,
        people=has_person(debate),
    )
    if utterance.confidence is None:
        scale = debate.voices.confidence_scale(seat)
        utterance.confidence = read_confidence(utterance.text, scale)
    return utterance


def list_shared_statements(debate: Debate, number: int) -> list[Utterance]:
    """Return the statements of all earlier rounds, which the panel shares, in order."""
    return [
        utterance
        for utterance in debate.utterances
        if utterance.kind == STATEMENT and utterance.round < number and utterance.text
    ]


# Phase 3: models and a person.


JUDGES_AND_PERSON = Debaters(
    lambda params: [*list_judges(params)[:-1], HUMAN], "judge_1", are_judges=True
)


@appellate_protocol(
    "human_panel",
    HumanPanelParams,
    debaters=JUDGES_AND_PERSON,
    seats=JUDGES_AND_PERSON.seats,
    misfit=find_human_misfit,
)
async def human_panel(debate: Debate, params: HumanPanelParams) -> Answer | None:
    """Hold a debate as `panel` does, with the human as the last judge of each round."""
    seats = debate.speaking_order(list_judges(params)[:-1])
    condition = "asked" if params.has_person else choose_condition(debate, params)
    for number in range(1, params.rounds + 1):
        await hold_round(debate, params, seats, number)
        if params.has_person:
            statement = await make_statement(
                debate, HUMAN, number, list_shared_statements(debate, number)
            )
        else:
            statement = debate.record(
                HUMAN,
                STATEMENT,
                get_scripted_statement(debate, params, condition, number),
                round=number,
            )
        statement.parsed = {"condition": condition}
        if params.has_person and vote_mode(debate, params) != "none" and not is_appeal(debate):
            heard = [*list_shared_statements(debate, number), statement]
            await cast_ballot(debate, HUMAN, number, heard)
    return decide_panel(debate, params.rounds)


def choose_condition(debate: Debate, params: HumanPanelParams) -> str:
    """Return the stance of the script in this repeat. The first one is random by case."""
    if params.condition != "balanced":
        return params.condition
    first = int(stable_fraction("condition", debate.seed, debate.case.case_id) * 2)
    return (AFFIRM, NOT_AFFIRM)[(first + debate.repeat) % 2]


def get_scripted_statement(
    debate: Debate, params: HumanPanelParams, condition: str, number: int
) -> str:
    """Return the statement of the script in a round."""
    statements = load_human_statements(debate.case.case_id)[condition]
    if len(statements) < number:
        raise UserError(
            f"case '{debate.case.case_id}': the sample has {len(statements)} statements for"
            f" '{condition}'; expected one for each of {params.rounds} rounds. Lower `rounds`, or"
            " set `seats: {human: person}`."
        )
    return statements[number - 1]
