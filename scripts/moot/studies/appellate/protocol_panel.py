"""Three kinds of appellate panel ("Tipping the Balance", Methods, phases 1 to 3).

    synthetic_panel   one model plays all judges; each round is one reply, split by judge
    panel             each judge has a seat; no judge hears the others within a round
    human_panel       as panel, with a person or a bank of statements as the last judge

A panel has three judges and three rounds. After a round all its statements join the shared memory.
On appeals no prompt asks for a position. Our choices where the paper is silent: rules read a
statement's position; the panel's decision is the majority of the last round's positions; a tie or a
round without positions gives no decision. The bank's human affirms in every other repeat of a case,
so that each case has both stances.

On other data no rule reads a position. There each judge votes for a label at the end of each round,
by a generated reply, and the decision is the majority of the last round's votes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from pydantic import Field, model_validator

from moot.core.cases import stable_fraction
from moot.core.errors import UserError
from moot.core.likelihood import label_shares, subtract_prior
from moot.core.types import Json
from moot.core.utterance_kinds import EXTRA, OVERRUN, STATEMENT, VOTE
from moot.protocols import Debaters, Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import PERSON, PersonForm, gather_statements
from moot.protocols.reply_schemas import prediction_schema
from moot.protocols.utterances import Utterance
from moot.studies.appellate.data_opinions import AFFIRM, NOT_AFFIRM, load_human_statements
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, NOT_AFFIRMED_CODE
from moot.studies.appellate.legal.rules import label_statement
from moot.studies.appellate.panel_statements import (
    JudgeStatement,
    make_round_schema,
    make_votes_schema,
    read_confidence,
    read_json_round,
    read_vote,
    split_round,
)
from moot.studies.appellate.rubric_of_statements import APPELLATE

HUMAN = "human"
APPEAL = frozenset({AFFIRM, NOT_AFFIRM})
OPTIONS = Options(fixed_labels=APPEAL, explains_labels=False)
VOTE_WORDS = {AFFIRM: "Yes", NOT_AFFIRM: "No"}
SCRIPT = "panel"


class PanelParams(ProtocolParams):
    """Parameters of all three panels. The defaults are the paper's."""

    judges: int = Field(
        3, ge=1, le=9, description="Number of judges, including the human. Default: 3, the paper's."
    )
    rounds: int = Field(
        3,
        ge=1,
        le=9,
        description="Number of rounds; every judge speaks once per round. Default: 3, the paper's.",
    )
    votes: Literal["none", "generation", "likelihood"] | None = Field(
        None,
        description=(
            "Whether each judge also votes for a label at the end of each round, by a generated"
            " reply or by the log-probabilities of the labels. Default: none on appeals, generation"
            " on other labels."
        ),
    )


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


class SyntheticParams(PanelParams):
    """Parameters of the synthetic panel."""

    reply: Literal["text", "json"] = Field(
        "text",
        description=(
            "Format of a round: free text that is split by its headings (the paper), or JSON by"
            " judge. Default: text."
        ),
    )
    chars_per_judge: int = Field(
        1500,
        ge=20,
        description=(
            "Maximum characters of one judge in a JSON reply, so that all judges get space."
        ),
    )


class HumanPanelParams(PanelParams):
    """Parameters of the human-AI panel."""

    human: Literal["bank", "ask"] = Field(
        "bank",
        description=(
            "Whether the human's statements come from the bank or from a person; ask is the same as"
            " `seats: {human: person}`. Default: bank."
        ),
    )
    condition: Literal["balanced", "affirm", "not affirm"] = Field(
        "balanced",
        description=(
            "Stance of the bank's human. Default: balanced, each stance in half of a case's"
            " repeats."
        ),
    )
    bank: str = Field(
        "", description="YAML file of statements by case and stance. Default: the sample's file."
    )

    @model_validator(mode="before")
    @classmethod
    def _a_person_is_asked(cls, given: Json) -> Json:
        """Seat a person with `human: ask`, and set `human: ask` if a person sits on the panel."""
        if not isinstance(given, Mapping) or not isinstance(given.get("seats", {}), Mapping):
            return given
        seats = dict(given.get("seats", {}))
        human = given.get("human", "ask")
        if HUMAN in seats and human != "ask":
            raise ValueError(
                f"`human: {human}` and {HUMAN}: {seats[HUMAN]} in `seats`; expected one of them"
            )
        if given.get("human") == "ask" or HUMAN in seats:
            return {**given, "human": "ask", "seats": {HUMAN: PERSON, **seats}}
        return given


def find_misfit(params: PanelParams, labels: Sequence[str], _multilabel: bool) -> str:
    """Return why a panel on data with these labels gives no decision; "" if it gives one."""
    if set(labels) == APPEAL or params.votes != "none":
        return ""
    return (
        f"the labels are {', '.join(labels)}; expected {AFFIRM} and {NOT_AFFIRM}, which rules read"
        " from statements. Leave `votes` out, so that judges vote for these labels."
    )


def find_human_misfit(params: HumanPanelParams, labels: Sequence[str], multilabel: bool) -> str:
    """Return why a panel with a human on these data gives no decision; "" if it gives one."""
    if params.human == "bank" and set(labels) != APPEAL:
        return (
            f"the labels are {', '.join(labels)}; expected {AFFIRM} and {NOT_AFFIRM}, on which the"
            " bank has statements. Set `human: ask`, or use the protocol panel."
        )
    return find_misfit(params, labels, multilabel)


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


def _list_judges(params: PanelParams) -> list[str]:
    return [f"judge_{number}" for number in range(1, params.judges + 1)]


JUDGES = Debaters(_list_judges, "judge_1", are_judges=True)


@appellate_protocol("panel", PanelParams, debaters=JUDGES, seats=_list_judges)
async def panel(debate: Debate, params: PanelParams) -> Answer | None:
    """Hold a debate in which the judges of a round speak independently and then share memory."""
    seats = debate.speaking_order(_list_judges(params))
    if reason := find_misfit(params, debate.task.labels, debate.task.multilabel):
        raise UserError(f"experiment '{debate.experiment}', data '{debate.case.dataset}': {reason}")
    for number in range(1, params.rounds + 1):
        await hold_round(debate, params, seats, number)
    return decide_panel(debate, params.rounds)


async def hold_round(
    debate: Debate, params: PanelParams, seats: Sequence[str], number: int
) -> None:
    """Hold one round: all judges speak with the memory of earlier rounds, then they may vote."""
    shared_memory = list_shared_statements(debate, number)
    models = [seat for seat in seats if not debate.is_human_seat(seat)]
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


async def cast_vote(
    debate: Debate, seat: str, number: int, utterances: Sequence[Utterance], *, blank: bool = False
) -> Utterance:
    """Ask which word the judge's model finds more probable; `blank` omits case and record."""
    return await debate.choose(
        seat,
        "blank_vote" if blank else "vote",
        "panel/vote",
        private=True,
        round=number,
        utterances=utterances,
        words=VOTE_WORDS if is_appeal(debate) else None,
        people=has_person(debate),
        blank=blank,
    )


async def cast_ballot(
    debate: Debate, seat: str, number: int, utterances: Sequence[Utterance]
) -> Utterance:
    """Ask a judge for a label and a confidence, by a generated reply or a person's form."""
    return await debate.say(
        seat,
        VOTE,
        "panel/ballot",
        schema=prediction_schema(debate.task),
        private=True,
        round=number,
        utterances=utterances,
        people=has_person(debate),
    )


async def cast_script_votes(debate: Debate, params: SyntheticParams, number: int) -> None:
    """Ask the model that plays all judges for the vote of each, and record these votes."""
    judges = _list_judges(params)
    reply = await debate.say(
        SCRIPT,
        "script_votes",
        "panel/script_votes",
        schema=make_votes_schema(debate.task.labels, debate.task.multilabel, params.judges),
        private=True,
        round=number,
    )
    votes = (reply.parsed or {}) if reply.usable else {}
    for judge in judges:
        label = read_vote(votes.get(judge))
        debate.record(
            judge,
            VOTE,
            label,
            source=reply.source,
            private=True,
            round=number,
            prediction=label or None,
            call_id=reply.call_id,
            parse_status="strict" if label else "failed" if reply.has_failed else "invalid",
        )


def vote_mode(debate: Debate, params: PanelParams) -> str:
    """Return how judges vote: none, generation or likelihood."""
    return params.votes or ("none" if is_appeal(debate) else "generation")


def calibrate_votes(debate: Debate) -> None:
    """Remove the content-free prior of the words from every vote (contextual calibration).

    A model may prefer "Yes" to any question. The log-probabilities of the words without case and
    record are that prior (Zhao et al. 2021).
    """
    blank_vote = next(
        (
            utterance.parsed
            for utterance in debate.utterances
            if utterance.kind == "blank_vote" and utterance.usable
        ),
        None,
    )
    for utterance in debate.utterances:
        if utterance.kind == VOTE and "logprobs" not in (utterance.parsed or {}):
            continue  # The vote of a person, or one that was generated.
        if utterance.kind == VOTE and utterance.parsed and utterance.usable and blank_vote:
            utterance.answer_likeliest(
                label_shares(subtract_prior(utterance.parsed["logprobs"], blank_vote["logprobs"]))
            )
        elif utterance.kind in (VOTE, "blank_vote"):
            utterance.prediction = utterance.confidence = utterance.probability = None


def list_shared_statements(debate: Debate, number: int) -> list[Utterance]:
    """Return the statements of all earlier rounds, which the panel shares, in order."""
    return [
        utterance
        for utterance in debate.utterances
        if utterance.kind == STATEMENT and utterance.round < number and utterance.text
    ]


def is_appeal(debate: Debate) -> bool:
    """Return whether the labels are affirm and not affirm. Other data sets have labels of their
    own.
    """
    return set(debate.task.labels) == APPEAL


def has_person(debate: Debate) -> bool:
    """Return whether a person sits on the panel, so that prompts distinguish AI judges from the
    human.
    """
    return isinstance(debate.params, HumanPanelParams)


# Phase 3: models and a person.


JUDGES_AND_PERSON = Debaters(
    lambda params: [*_list_judges(params)[:-1], HUMAN], "judge_1", are_judges=True
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
    seats = debate.speaking_order(_list_judges(params)[:-1])
    if reason := find_human_misfit(params, debate.task.labels, debate.task.multilabel):
        raise UserError(f"experiment '{debate.experiment}', data '{debate.case.dataset}': {reason}")
    condition = choose_condition(debate, params) if params.human == "bank" else "asked"
    for number in range(1, params.rounds + 1):
        await hold_round(debate, params, seats, number)
        if params.human == "ask":
            statement = await make_statement(
                debate, HUMAN, number, list_shared_statements(debate, number)
            )
        else:
            statement = debate.record(
                HUMAN,
                STATEMENT,
                get_bank_statement(debate, params, condition, number),
                round=number,
            )
        statement.parsed = {"condition": condition}
        if params.human == "ask" and vote_mode(debate, params) != "none" and not is_appeal(debate):
            heard = [*list_shared_statements(debate, number), statement]
            await cast_ballot(debate, HUMAN, number, heard)
    return decide_panel(debate, params.rounds)


def choose_condition(debate: Debate, params: HumanPanelParams) -> str:
    """Return the stance of the bank's human in this repeat. The first one is random by case."""
    if params.condition != "balanced":
        return params.condition
    first = int(stable_fraction("condition", debate.seed, debate.case.case_id) * 2)
    return (AFFIRM, NOT_AFFIRM)[(first + debate.repeat) % 2]


def get_bank_statement(
    debate: Debate, params: HumanPanelParams, condition: str, number: int
) -> str:
    """Return the statement of the bank's human in a round."""
    statements = load_human_statements(debate.case.case_id, params.bank)[condition]
    if len(statements) < number:
        raise UserError(
            f"case '{debate.case.case_id}': the bank has {len(statements)} statements for"
            f" '{condition}'; expected one for each of {params.rounds} rounds. Add statements to"
            " the bank, or lower `rounds`."
        )
    return statements[number - 1]


# The panel's decision.


def decide_panel(debate: Debate, last_round: int) -> Answer | None:
    """Return the majority of the last round's positions, or None for a tie or no position.

    On appeals the vote of a judge whose statement takes no position counts, where judges vote. On
    other data the votes count.
    """
    calibrate_votes(debate)
    codes: dict[str, int] = {}
    votes: dict[str, str] = {}
    vote_list: list[str] = []
    for utterance in debate.utterances:
        if utterance.round != last_round:
            continue
        if utterance.kind == STATEMENT:
            codes[utterance.speaker] = label_statement(utterance.text, debate.case.text).code
        elif utterance.kind == VOTE and utterance.prediction:
            votes[utterance.speaker] = utterance.prediction
            vote_list.append(utterance.prediction)
    if not is_appeal(debate):
        return decide_by_majority(debate, vote_list)
    sides = [choose_side(code, votes.get(speaker)) for speaker, code in codes.items()]
    return decide_by_majority(debate, [side for side in sides if side])


def decide_by_majority(debate: Debate, sides: Sequence[str]) -> Answer | None:
    """Return the side of most judges with their share, or None for a tie or no side."""
    ranked = Counter(sides).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    share = sides.count(debate.task.positive) / len(sides) if debate.task.positive else None
    majority_share = ranked[0][1] / len(sides)
    return Answer(ranked[0][0], 100 * majority_share, share, probability=majority_share)


def choose_side(code: int, vote: str | None) -> str | None:
    """Return a judge's side by the code of the statement, or else by the vote."""
    return {AFFIRMED_CODE: AFFIRM, NOT_AFFIRMED_CODE: NOT_AFFIRM}.get(code, vote)
