"""The courtroom of AgenticSimLaw ("Multi-Agent Interaction Protocol") on one screen.

    1 prosecution opening   2 defence opening    belief
    3 prosecution rebuttal  4 defence rebuttal   belief
    5 prosecution closing   6 defence closing    belief
    7 verdict

Before each public turn the advocate forms a private strategy. The paper does not say whether the
author of a strategy reads it again. Here the author does, because a forgotten plan guides nothing.
No other seat reads private text.

The authors' program differs from the paper, and `paper-courtroom-code` in config/beyond.yaml has
its design: fixed points instead of strategy calls, a judge that reads the most important features
only, and a silent judge, always the same model, that is asked after every turn: 13 calls.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from moot.core.cases import Task
from moot.core.utterance_kinds import BELIEF, PUBLIC, VERDICT
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols import AnswerMode, Debaters, Options, ProtocolParams, ReasonLength, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema, read_answer

PHASES = ("opening", "rebuttal", "closing")
PROSECUTOR, DEFENSE, JUDGE = "prosecutor", "defense", "judge"
SILENT_JUDGE = "silent_judge"


class CourtroomParams(ProtocolParams):
    """Parameters of the courtroom. The defaults are the paper's, except for `critique`."""

    strategy: Literal["call", "inline", "fixed", "none"] = Field(
        "call",
        description=(
            "how advocates plan: in a separate call, in the statement's call, by four fixed points"
            " a side (the authors' code), or not at all"
        ),
    )
    stresses_factors: bool = Field(
        True,
        description=(
            "whether the prosecution's strategies stress risk factors, and the defence's strategies"
            " protective factors"
        ),
    )
    case_facts_only: bool = Field(
        False,
        description=(
            "whether advocates may use only facts of the case (paper: no, its prosecutor cites "
            "statistics)"
        ),
    )
    beliefs: Literal["after_round", "after_turn", "none"] = Field(
        "after_round",
        description="when the judge updates its private belief (the authors' code: after_turn)",
    )
    silent_judge: bool = Field(
        False,
        description=(
            "whether a separate seat (`silent_judge`) states the beliefs, which the judge does "
            "not read; `seats` can give it to another model (the authors' code: yes)"
        ),
    )
    roles: Literal["adversarial", "cooperative"] = Field(
        "adversarial",
        description="whether advocates argue opposite sides or look for the answer together",
    )
    judge_sees: Literal["facts", "transcript", "both", "ranked"] = Field(
        "both",
        description=(
            "what the judge's prompts contain; ranked: the transcript and the first paragraph of"
            " the facts, the most important features with `summary_features` of the data set"
        ),
    )
    answer: AnswerMode = "generation"
    critique: bool = Field(
        False, description="whether the verdict also assesses each side's arguments (paper: yes)"
    )
    max_reason_chars: ReasonLength = 0

    @model_validator(mode="after")
    def _check_fixed_points(self) -> "CourtroomParams":
        if self.strategy == "fixed" and self.roles == "cooperative":
            raise ValueError("strategy fixed has points for opposite sides; use roles adversarial")
        return self


class Inline(BaseModel):
    """A strategy and the statement that follows from it, in one reply."""

    model_config = ConfigDict(extra="forbid")
    strategy: Annotated[
        str,
        Field(description="your private plan, in a sentence or two; nobody else reads it"),
        MAY_BE_MISSING,
    ]
    statement: str = Field(description="what you say to the court")


def _sides(_params: CourtroomParams, task: Task) -> dict[str, str]:
    return {
        PROSECUTOR: task.positive,
        DEFENSE: next(label for label in task.labels if label != task.positive),
    }


ADVOCATES = Debaters(
    lambda _params: (PROSECUTOR, DEFENSE),
    JUDGE,
    assigns_sides=lambda params: params.roles == "adversarial",
    sides=_sides,
)


@protocol(
    "courtroom",
    CourtroomParams,
    study="courtroom",
    debaters=ADVOCATES,
    options=Options(explains_labels=False),
    seats=lambda params: (
        PROSECUTOR,
        DEFENSE,
        JUDGE,
        *((SILENT_JUDGE,) if params.silent_judge else ()),
    ),
)
async def courtroom(debate: Debate, params: CourtroomParams) -> Answer | None:
    """Hold the seven turns and return the verdict as the answer.

    A failed turn is skipped. A failed verdict leaves no answer.
    """
    advocates = debate.speaking_order((PROSECUTOR, DEFENSE))
    for round_number, phase in enumerate(PHASES, start=1):
        for advocate in advocates:
            await speak(debate, params, advocate, phase, round_number)
            if params.beliefs == "after_turn":
                await update_belief(debate, params, round_number)
        if params.beliefs == "after_round":
            await update_belief(debate, params, round_number)
    return await give_verdict(debate, params)


async def speak(
    debate: Debate, params: CourtroomParams, advocate: str, phase: str, round_number: int
) -> None:
    """Let one advocate form a private strategy and make a public statement."""
    if params.strategy == "inline":
        reply = await debate.say(
            advocate,
            "strategy",
            "courtroom/inline",
            schema=Inline,
            private=True,
            round=round_number,
            phase=phase,
        )
        if reply.usable and reply.parsed:
            statement = reply.parsed["statement"]
            debate.record(
                advocate,
                phase,
                statement,
                source=reply.source,
                round=round_number,
                call_id=reply.call_id,
            )
        return
    if params.strategy == "call":
        await debate.say(
            advocate,
            "strategy",
            "courtroom/strategy",
            private=True,
            round=round_number,
            phase=phase,
        )
    await debate.say(advocate, phase, "courtroom/statement", round=round_number, phase=phase)


async def update_belief(debate: Debate, params: CourtroomParams, round_number: int) -> None:
    """Let the judge privately note its prediction, confidence and reasons.

    A silent judge takes this seat if there is one. It reads public statements only.
    """
    schema = prediction_schema(
        debate.task, name="Belief", reasoning=True, max_reason_chars=params.max_reason_chars
    )
    seat, heard = JUDGE, None
    if params.silent_judge:
        seat = SILENT_JUDGE
        heard = [entry for entry in debate.readable_by(seat) if entry.visibility == PUBLIC]
    await debate.say(
        seat,
        BELIEF,
        "courtroom/belief",
        schema=schema,
        private=True,
        round=round_number,
        utterances=heard,
    )


async def give_verdict(debate: Debate, params: CourtroomParams) -> Answer | None:
    """Ask the judge for the public verdict: reasons, prediction and confidence (turn 7)."""
    if params.answer == "likelihood":
        verdict = await debate.choose(JUDGE, VERDICT, "courtroom/verdict")
        return read_answer(debate, verdict)
    schema = prediction_schema(
        debate.task,
        name="Verdict",
        reasoning=True,
        max_reason_chars=params.max_reason_chars,
        critique=params.critique,
    )
    verdict = await debate.say(JUDGE, VERDICT, "courtroom/verdict", schema=schema)
    return read_answer(debate, verdict)
