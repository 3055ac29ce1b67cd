"""Three kinds of appellate panel ("Tipping the Balance", Methods, phases 1 to 3), three judges and
three rounds each.

    synthetic_panel   one model plays all judges; each round is one reply that is split into their statements
    panel             each judge is a seat of its own; within a round no judge knows what the others say in it
    human_panel       as panel, with a person as the third judge: statements from a bank, or a person's in that seat

After a round all its statements join the shared memory. No prompt asks for a position. Where the
paper is silent: a statement's position is what the rules of `moot.labels` read in it; the panel's
decision is the majority of the last round's positions, and a tie, or no position at all, is none. A
bank's human affirms in every other repeat of a case, so that each case has both halves.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from pydantic import Field, model_validator

from moot.core.cases import stable_fraction
from moot.core.errors import UserError
from moot.core.kinds import EXTRA, OVERRUN, STATEMENT, VOTE
from moot.core.likelihood import label_shares, without_prior
from moot.core.types import Json
from moot.protocols import Debaters, Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import PERSON, PersonsForm, all_spoken
from moot.protocols.utterances import Utterance
from moot.studies.appellate.data_opinions import AFFIRM, NOT_AFFIRM, human_statements
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, NOT_AFFIRMED_CODE
from moot.studies.appellate.legal.rules import label_statement
from moot.studies.appellate.panel_statements import (
    Spoken,
    parts_of_json,
    round_schema,
    split_round,
    stated_confidence,
)
from moot.studies.appellate.rubric import APPELLATE

HUMAN = "human"
APPEAL = frozenset({AFFIRM, NOT_AFFIRM})
OPTIONS = Options(known=APPEAL, explained=False)
VOTES = {AFFIRM: "Yes", NOT_AFFIRM: "No"}
SCRIPT = "panel"


class PanelParams(ProtocolParams):
    """Parameters of all three panels; the defaults are the paper's."""

    judges: int = Field(3, ge=1, le=9, description="judges of the panel, the human among them")
    rounds: int = Field(3, ge=1, le=9, description="rounds in which every judge speaks once")
    votes: Literal["none", "likelihood"] = Field(
        "none",
        description=(
            "after each statement, read the judge's position off the log-probabilities of the"
            " labels, too"
        ),
    )


class Opinion(PersonsForm):
    """What a person on a panel states."""

    statement: str = Field(description="your position, and your reasons")
    confidence: float = Field(
        ge=0, le=100, description="how sound your reasoning is, from 0 to 100"
    )


class OpinionOnAppeal(Opinion):
    """An opinion on whether to affirm."""

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
            "a round as free text that is split by its headings (the paper), or as JSON by judge"
        ),
    )
    characters: int = Field(
        1500,
        ge=20,
        description=(
            "the room for one judge in a JSON reply, so that the first does not take it all"
        ),
    )


class HumanPanelParams(PanelParams):
    """Parameters of the human-AI panel."""

    human: Literal["bank", "ask"] = Field(
        "bank",
        description=(
            "statements from the bank, or asked for; ask is the same as `seats: {human: person}`"
        ),
    )
    condition: Literal["balanced", "affirm", "not affirm"] = Field(
        "balanced",
        description=(
            "which way the bank's human argues; balanced: each way in half of a case's repeats"
        ),
    )
    bank: str = Field(
        "", description="YAML file of statements by case and stance; none: the sample's own"
    )

    @model_validator(mode="before")
    @classmethod
    def _a_person_is_asked(cls, given: Json) -> Json:
        """`human: ask` seats a person, and the reverse."""
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


of_study = partial(
    protocol, study="appellate", prompts=("panel/",), options=OPTIONS, rubric=APPELLATE
)

# Phase 1: one model, all judges


@of_study("synthetic_panel", SyntheticParams, seats=lambda _: (SCRIPT,))
async def synthetic_panel(debate: Debate, params: SyntheticParams) -> Answer | None:
    """Each round is one reply; all that it holds is kept, with what is missing, extra or beyond the
    rounds flagged.
    """
    for number in range(1, params.rounds + 1):
        schema = round_schema(params.judges, params.characters) if params.reply == "json" else None
        said = await debate.say(
            SCRIPT, "script", "panel/script", schema=schema, private=True, round=number
        )
        spoken = parts_of_json(said) if schema else split_round(said.text, number)
        record_parts(debate, params, said, number, spoken)
    return decision(debate, params.rounds)


def record_parts(
    debate: Debate, params: PanelParams, said: Utterance, number: int, spoken: Sequence[Spoken]
) -> None:
    """Record each judge's statement of a synthetic round.

    Kinds: `statement`; `overrun` beyond the last round; `extra` for a judge that the panel does not
    have, or who speaks twice. A judge who is missing has an empty statement, status `invalid` (or
    `failed`, if the call failed).
    """
    heard: set[int] = set()
    scale = debate.voices.confidence_scale(said.speaker)
    for part in spoken:
        belongs = part.round == number and part.judge <= params.judges and part.judge not in heard
        kind = STATEMENT if belongs else OVERRUN if part.round > params.rounds else EXTRA
        heard |= {part.judge} if belongs else set()
        debate.record(
            f"judge_{part.judge}", kind, part.statement, source=said.source,
            round=part.round if kind == OVERRUN else number,
            confidence=stated_confidence(part.statement, scale), call_id=said.call_id,
        )  # fmt: skip
    for judge in range(1, params.judges + 1):
        if judge not in heard:
            debate.record(
                f"judge_{judge}", STATEMENT, "", source=said.source, round=number, call_id=said.call_id,
                parse_status="failed" if said.failed else "invalid",
            )  # fmt: skip


# Phase 2: a seat for each judge


def _judges(params: PanelParams) -> list[str]:
    return [f"judge_{number}" for number in range(1, params.judges + 1)]


JUDGES = Debaters(_judges, "judge_1", peers=True)


@of_study("panel", PanelParams, debaters=JUDGES, seats=_judges)
async def panel(debate: Debate, params: PanelParams) -> Answer | None:
    """In each round all judges speak unaware of one another; then all is shared."""
    seats = debate.speaking_order(_judges(params))
    if not is_appeal(debate) and params.votes == "none":
        raise UserError(
            f"experiment '{debate.experiment}': statements are read for AFFIRM and REVERSE, and"
            f" cases of '{debate.case.dataset}' ask for {', '.join(debate.task.labels)}. Set"
            " `votes: likelihood`."
        )
    for number in range(1, params.rounds + 1):
        await hold_round(debate, params, seats, number)
    return decision(debate, params.rounds)


async def hold_round(
    debate: Debate, params: PanelParams, seats: Sequence[str], number: int
) -> None:
    """One round of judges at once: each hears the rounds before, none hears this one; then each may
    vote.
    """
    earlier = memory(debate, number)
    models = [seat for seat in seats if not debate.is_human_seat(seat)]
    if params.votes == "likelihood" and number == 1 and models:
        await vote(debate, models[0], 0, (), blank=True)
    spoken = await all_spoken(*(state(debate, seat, number, earlier) for seat in seats))
    if params.votes == "likelihood":
        heard = [(said.speaker, [*earlier, said]) for said in spoken if not said.failed]
        await all_spoken(*(vote(debate, seat, number, known) for seat, known in heard))


async def state(debate: Debate, seat: str, number: int, earlier: Sequence[Utterance]) -> Utterance:
    """One judge's statement, with the confidence that it states."""
    form = OpinionOnAppeal if is_appeal(debate) else Opinion
    said = await debate.say(
        seat,
        STATEMENT,
        "panel/statement",
        form=form,
        round=number,
        heard=earlier,
        number=number,
        people=people(debate),
    )
    if said.confidence is None:
        said.confidence = stated_confidence(said.text, debate.voices.confidence_scale(seat))
    return said


async def vote(
    debate: Debate, seat: str, number: int, heard: Sequence[Utterance], *, blank: bool = False
) -> Utterance:
    """Which side's word the judge's model finds more probable;
    `blank` asks without case and record.
    """
    return await debate.choose(
        seat, "blank_vote" if blank else "vote", "panel/vote", private=True, round=number, heard=heard,
        words=VOTES if is_appeal(debate) else None,
        people=people(debate), blank=blank,
    )  # fmt: skip


def calibrate_votes(debate: Debate) -> None:
    """Take the content-free prior of a word off every vote (contextual calibration; Zhao and
    others, 2021).

        A model may prefer "Yes" to any question; what it gives the words without case and record is
        that prior.
    """
    blank = next(
        (said.parsed for said in debate.utterances if said.kind == "blank_vote" and said.usable),
        None,
    )
    for said in debate.utterances:
        if "shares" in (said.parsed or {}):
            continue  # a person's vote
        if said.kind == VOTE and said.parsed and said.usable and blank:
            said.answer_likeliest(
                label_shares(without_prior(said.parsed["logprobs"], blank["logprobs"]))
            )
        elif said.kind in (VOTE, "blank_vote"):
            said.prediction = said.confidence = said.probability = None


def memory(debate: Debate, number: int) -> list[Utterance]:
    """What the panel shares before a round: every statement of the rounds before it, in their
    order.
    """
    return [
        said
        for said in debate.utterances
        if said.kind == STATEMENT and said.round < number and said.text
    ]


def is_appeal(debate: Debate) -> bool:
    """Whether the question is the panel's own (affirm or not); on other data its judges vote on
    that data's labels.
    """
    return set(debate.task.labels) == APPEAL


def people(debate: Debate) -> bool:
    """Whether a person sits on the panel, so that prompts tell AI judges from the human one."""
    return isinstance(debate.params, HumanPanelParams)


# Phase 3: two models and a person


JUDGES_AND_PERSON = Debaters(lambda params: [*_judges(params)[:-1], HUMAN], "judge_1", peers=True)


@of_study(
    "human_panel", HumanPanelParams, debaters=JUDGES_AND_PERSON, seats=JUDGES_AND_PERSON.seats
)
async def human_panel(debate: Debate, params: HumanPanelParams) -> Answer | None:
    """As `panel`, with the human as the last judge; the others learn of the human's presence after
    the first round.
    """
    seats = debate.speaking_order(_judges(params)[:-1])
    condition = condition_name(debate, params) if params.human == "bank" else "asked"
    for number in range(1, params.rounds + 1):
        await hold_round(debate, params, seats, number)
        if params.human == "ask":
            said = await state(debate, HUMAN, number, memory(debate, number))
        else:
            said = debate.record(
                HUMAN, STATEMENT, bank_statement(debate, params, condition, number), round=number
            )
        said.parsed = {"condition": condition}
    return decision(debate, params.rounds)


def condition_name(debate: Debate, params: HumanPanelParams) -> str:
    """Which way the bank's human argues in this repeat; which comes first is drawn for each case."""
    if params.condition != "balanced":
        return params.condition
    first = int(stable_fraction("condition", debate.seed, debate.case.case_id) * 2)
    return (AFFIRM, NOT_AFFIRM)[(first + debate.repeat) % 2]


def bank_statement(debate: Debate, params: HumanPanelParams, condition: str, number: int) -> str:
    """What the bank's human says in a round."""
    statements = human_statements(debate.case.case_id, params.bank)[condition]
    if len(statements) < number:
        raise UserError(
            f"case '{debate.case.case_id}': {len(statements)} statements for '{condition}';"
            f" expected one for each of {params.rounds} rounds. Add statements to the bank, or"
            " lower `rounds`."
        )
    return statements[number - 1]


# What a panel comes to


def decision(debate: Debate, last_round: int) -> Answer | None:
    """The majority of the last round's positions; None for a tie, and where no judge takes one.

    With votes by likelihood, a judge whose statement takes no position counts with his vote.
    """
    calibrate_votes(debate)
    final = [said for said in debate.utterances if said.round == last_round]
    if not is_appeal(debate):
        return majority(
            debate, [said.prediction for said in final if said.kind == VOTE and said.prediction]
        )
    codes = {
        said.speaker: label_statement(said.text).code for said in final if said.kind == STATEMENT
    }
    votes = {
        said.speaker: said.prediction for said in final if said.kind == VOTE and said.prediction
    }
    sides = [position(code, votes.get(speaker)) for speaker, code in codes.items()]
    return majority(debate, [side for side in sides if side])


def majority(debate: Debate, sides: Sequence[str]) -> Answer | None:
    """The side that most judges take, with their share;
    None for a tie, and where no judge takes one.
    """
    ranked = Counter(sides).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    share = sides.count(debate.task.positive) / len(sides) if debate.task.positive else None
    majority_share = ranked[0][1] / len(sides)
    return Answer(ranked[0][0], 100 * majority_share, share, probability=majority_share)


def position(code: int, vote: str | None) -> str | None:
    """A judge's side by the code of the statement, or else by the vote."""
    return {AFFIRMED_CODE: AFFIRM, NOT_AFFIRMED_CODE: NOT_AFFIRM}.get(code, vote)
