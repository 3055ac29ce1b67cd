"""The judge's decision (agreement or more debate): asking, grading and protocols with a truth.

Source: Heller et al., "Finding Common Ground", sections 3.2.1 (the judge) and 4.2 (single-answer
grading, 0 to 10, with a short explanation, of the decision and of its form). Grading twice, and
grading decisions that are known to be wrong,
are ours: they say how far the grades of Table 5 can be trusted.
"""

from functools import cache, partial
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.types import JsonObject
from moot.core.utterance_kinds import DECISION, GRADE, GRADE_REVERSED
from moot.llm.parsing.ladder import parse_label
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import choice_form
from moot.protocols.replies import read_answer
from moot.protocols.utterances import Utterance
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.speakers import JUDGE, MODERATOR

MORE_DEBATE = "MORE DEBATE"
ANSWERS = {
    JUDGE: {OPEN: MORE_DEBATE, AGREEMENT: "AGREEMENT"},
    MODERATOR: {OPEN: MORE_DEBATE, AGREEMENT: "NEXT TOPIC"},
}
GRADER = "grader"
MAX_GRADE = 10

AnswerForm = Literal["label", "json", "likelihood"]


class Grade(BaseModel):
    """A grade of one decision."""

    model_config = ConfigDict(extra="forbid")
    reason: Annotated[
        str, Field(max_length=160, description="why, in one short sentence"), MAY_BE_MISSING
    ]
    grade: Annotated[int, Field(ge=0, le=MAX_GRADE, description="0 is worst, 10 is best")]


class DecisionParams(ProtocolParams):
    """How a decision is asked for; temperature 0, so that the same debate is always decided in the
    same way.
    """

    answer: AnswerForm = Field(
        "label",
        description=(
            "the decision as bare words (the paper), as JSON, or by the likelihood of its words"
        ),
    )


class JudgeParams(DecisionParams):
    """Parameters of `agreement`."""

    temperature: float = Field(
        0.0, ge=0, description="sampling temperature, unless the model's entry sets one"
    )


class GradingParams(ProtocolParams):
    """Parameters of `grading`."""

    gradings: int = Field(2, ge=1, description="how often each decision is graded")


async def ask_decision(
    debate: Debate, answer: AnswerForm, seat: str, prompt: str, **context: Any
) -> Utterance:
    """Ask for agreement or more debate;
    `prediction` is "agreement" or "open", None where the answer is unusable.
    """
    labels = [label for label in debate.task.labels if label in ANSWERS[seat]] or list(
        ANSWERS[seat]
    )
    words = {label: ANSWERS[seat][label] for label in labels}
    if answer == "likelihood":
        reply = await debate.choose(seat, DECISION, prompt, words=words, **context)
        reply.text = words.get(reply.prediction or "", "")
        return reply
    schema = decision_schema(tuple(words.values())) if answer == "json" else None
    form = choice_form(tuple(words.values()))
    reply = await debate.say(
        seat, DECISION, prompt, schema=schema, form=form, words=words, **context
    )
    if answer == "label" and not reply.has_failed and not reply.is_refused:
        parsed = parse_label(reply.text, tuple(words.values()), is_cut=debate.voices.is_cut(reply))
        reply.parsed, reply.parse_status = (
            parsed.value or {"problem": parsed.problem},
            parsed.status,
        )
    decision = (reply.parsed or {}).get("prediction")
    reply.prediction = next((label for label, word in words.items() if word == decision), None)
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
AGREEMENT_PROMPTS = ("conference/agreement", "conference/answer")


@conference_protocol(
    "agreement",
    JudgeParams,
    prompts=AGREEMENT_PROMPTS,
    options=Options("own"),
    seats=lambda _: (JUDGE,),
)
async def agreement(debate: Debate, params: JudgeParams) -> Answer | None:
    """Ask the conference's judge about statements whose agreement is known.

    The judge's answer is the prediction.
    """
    return read_answer(
        debate, await ask_decision(debate, params.answer, JUDGE, "conference/agreement")
    )


@conference_protocol(
    "grading",
    GradingParams,
    prompts=("conference/grade",),
    options=Options("none"),
    seats=lambda _: (GRADER,),
)
async def grading(debate: Debate, params: GradingParams) -> Answer | None:
    """The grader on decisions whose truth is known: it grades both, and predicts the one that it
    grades higher.

    The grades of the true decision have kind "grade", those of the planted wrong one
    "grade_reversed". A grader that gives both the same grades tells nothing apart, and has no
    usable answer.
    """
    true_label = debate.case.target
    means: dict[str, float] = {}
    for label, word in ANSWERS[JUDGE].items():
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
    return ANSWERS[JUDGE][OPEN if decision == AGREEMENT else AGREEMENT]


@cache
def decision_schema(words: tuple[str, ...]) -> type[BaseModel]:
    fields: JsonObject = {"prediction": (Literal[words], ...)}
    return create_model("Decision", __config__=ConfigDict(extra="forbid"), **fields)
