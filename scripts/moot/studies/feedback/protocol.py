"""Debate-Feedback (Algorithm 1 of the paper): debaters, a reliability assistant, a judge that
smooths.

    O_0 = LM(x)
    each round:  a  openings of all debaters    e  rebuttals after reading the others' openings
                 v  reliability of each, by the assistant   sum  the judge's summary of a, e and v
                 O_i = (1-T) O_(i-1) + T LM(x, sum)  if Threshold(v),  else O_i = LM(x)

Our choices where the paper is silent or ambiguous: * T is a natural number in Algorithm 1's header
and a weight in [0, 1] in Equation 1: here the weight. * LM(x) of a failed threshold is "the initial
prediction" in the text: here O_0 itself, without asking again. * Two debaters on opposite sides
(Algorithm 1), or three who may agree (Table 4): `sides` and `debaters`. * What a debater argues for
is read from its text; where that names no label, or two, no reliability is reckoned. * Whether a
second round knows of the first: debaters read the earlier summaries (`memory: false`: they do not).
* The judge's LM(x, sum) does not see O_(i-1), which enters by smoothing alone. * Probabilities of
label words hold a prior for the words themselves: thresholds, fitted on validation cases, undo it.
* A judge who states no confidence that can be read: the label alone is smoothed, as 1 for it and 0
for the others, and the debate's answer has no probability (`label alone` among the probabilities).
* Equal probabilities: the latest answer counts. A confidence weighs an answer and never changes it,
so thresholds are fitted on token probabilities alone. * Debate-Feedback (single) has no assistant,
so nothing is held against a debate and it is always smoothed.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.cases import Task
from moot.core.confidence import stated_probabilities
from moot.core.errors import LogprobsUnavailableError, UserError
from moot.core.likelihood import label_shares, log_shares
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import OPENING, SMOOTHED, STATEMENT_SUMMARY
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols import Debaters, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import gather_statements
from moot.protocols.reply_schemas import find_position, prediction_schema, prediction_type
from moot.protocols.smoothing import (
    LABEL_ALONE,
    STATED_CONFIDENCE,
    TOKEN_PROBABILITIES,
    Outlook,
    Probabilities,
    Rule,
    decide,
    final_answer,
    is_threshold_met,
    likeliest_answer,
    next_outlook,
)
from moot.protocols.utterances import Utterance, label_word

JUDGE, ASSISTANT = "judge", "assistant"
_YES_OR_NO = {"en": {"yes": "YES", "no": "NO"}, "zh": {"yes": "是", "no": "否"}}


class FeedbackParams(ProtocolParams):
    """Parameters of Debate-Feedback;
    T = 0.5 as in the paper's Table 2, which states neither debaters nor rounds.
    """

    debaters: int = Field(
        3, ge=1, le=5, description="how many debaters (the paper's example: 3; it advises 2 to 4)"
    )
    sides: Literal["free", "opposed"] = Field(
        "free", description="debaters choose their position, or each is given a label in turn"
    )
    opinions: Literal["text", "form"] = Field(
        "text",
        description=(
            "how debaters with `sides: free` state an opinion: in free text, from which the label"
            " is read (the paper), or in a form"
        ),
    )
    label_names: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "the name of a label in prompts and scored answers, by label (the paper: Plaintiff"
            " wins); default: the label in upper case"
        ),
    )
    rounds: int = Field(
        2, ge=1, le=5, description="rounds of openings and rebuttals (the paper advises 2 to 3)"
    )
    weight: float = Field(0.5, ge=0, le=1, description="T: the weight of the latest probabilities")
    smoothing: bool = Field(
        True,
        description="whether earlier probabilities count too; false has the same effect as T = 1",
    )
    assistant: str = Field(
        "", description="the experiment whose debates train the assistant; default: no assistant"
    )
    assistant_features: Literal["tfidf", "tfidf-crossed", "embeddings", "transformer"] = Field(
        "tfidf",
        description=(
            "the assistant's inputs from case and opinion; tfidf is the light default, "
            "transformer the pre-trained model of the paper"
        ),
    )
    statement_summaries: bool = Field(
        False,
        description=(
            "whether the judge summarises each debater's statements of a round, and the assistant"
            " reads the summary (the paper) instead of the rebuttal; the experiment that trains the"
            " assistant needs the same value"
        ),
    )
    threshold: float = Field(
        0.5, ge=0, le=1, description="smallest reliability with which a debate counts"
    )
    threshold_rule: Rule = Field(
        "mean", description="whether the mean, any or every reliability must reach `threshold`"
    )
    memory: bool = Field(True, description="whether debaters read the summaries of earlier rounds")
    words: int = Field(
        200,
        ge=10,
        description="maximum words of a statement, as stated in the prompt (the paper: 200)",
    )
    answer: Literal["auto", "likelihood", "generation"] = Field(
        "auto",
        description=(
            "source of the judge's probability: the label words' tokens, or a confidence stated "
            "with a generated answer; auto: tokens if the endpoint gives their probabilities"
        ),
    )


def _assistant_file(params: FeedbackParams) -> dict[str, str]:
    if not params.assistant:
        return {}
    return {ASSISTANT: f"assistants/{params.assistant}/{{model}}/{params.assistant_features}.skops"}


def _seats(params: FeedbackParams) -> list[str]:
    return [f"debater {number}" for number in range(1, params.debaters + 1)]


def _sides(params: FeedbackParams, task: Task) -> dict[str, str]:
    """Return the label that each debater must argue for; "" for a free choice."""
    labels = (
        [""]
        if params.sides == "free"
        else sorted(task.labels, key=lambda label: label != task.positive)
    )
    return {seat: labels[place % len(labels)] for place, seat in enumerate(_seats(params))}


EXPERTS = Debaters(
    _seats,
    JUDGE,
    assigns_sides=lambda params: params.sides == "opposed",
    sides=_sides,
)


def find_misfit(params: FeedbackParams, _labels: Sequence[str], multilabel: bool) -> str:
    """Return why debates about some data cannot be held; "" if they can."""
    if params.sides == "opposed" and multilabel:
        return (
            "`sides: opposed` gives each debater one label to argue for, and these cases have"
            " several. Set `sides: free`."
        )
    return ""


@protocol(
    "feedback",
    FeedbackParams,
    study="feedback",
    needs=_assistant_file,
    debaters=EXPERTS,
    seats=lambda params: (*_seats(params), JUDGE),
    misfit=find_misfit,
)
async def debate_feedback(debate: Debate, params: FeedbackParams) -> Answer | None:
    """Run Algorithm 1.

    There is no answer if the judge gives no usable probabilities, or if no seat speaks in a round.
    """
    debaters = assign_seats(debate, params)
    first = await judge_outlook(debate, params, 0)
    if first is None:
        return None
    current = first
    record_outlook(debate, first, first, 0)
    for number in range(1, params.rounds + 1):
        openings = await speak(debate, params, debaters, OPENING, number)
        rebuttals = await speak(debate, params, debaters, "rebuttal", number, openings)
        if not rebuttals:
            return None
        texts = {rebuttal.speaker: rebuttal.text for rebuttal in rebuttals}
        if params.statement_summaries:
            texts = await summarise_statements(debate, openings + rebuttals, number)
        reliabilities = verify(debate, rebuttals, texts, number)
        summary = await summarise(debate, openings + rebuttals, reliabilities, number)
        met = is_threshold_met(
            list(reliabilities.values()), params.threshold, params.threshold_rule
        ) or any(map(debate.is_placeholder, rebuttals))
        latest = (
            await judge_outlook(debate, params, number, summary, reliabilities) if met else first
        )
        if latest is None:
            return None
        current = next_outlook(
            first, current, latest, met, params.weight if params.smoothing else 1.0
        )
        record_outlook(debate, current, latest, number, met)
    return answer_from(debate, current)


# The debate step


def assign_seats(debate: Debate, params: FeedbackParams) -> dict[str, str]:
    """Return the debaters in their order of speaking, with their assigned labels."""
    if reason := find_misfit(params, debate.task.labels, debate.task.multilabel):
        raise UserError(f"experiment '{debate.experiment}', data '{debate.case.dataset}': {reason}")
    sides = _sides(params, debate.task)
    return {seat: sides[seat] for seat in debate.speaking_order(_seats(params))}


async def speak(
    debate: Debate,
    params: FeedbackParams,
    debaters: Mapping[str, str],
    kind: str,
    number: int,
    openings: Sequence[Utterance] = (),
) -> list[Utterance]:
    """Return one statement of every debater at once: an opening knows no other of its round, a
    rebuttal knows them all.
    """
    free = params.sides == "free"
    in_form = free and params.opinions == "form"
    schema = opinion_schema(debate.task.labels, debate.task.multilabel) if in_form else None
    summaries = _summaries(debate) if params.memory else []

    async def speak_from(seat: str, side: str) -> Utterance:
        return await debate.say(
            seat,
            kind,
            f"feedback/{kind}",
            schema=schema,
            round=number,
            utterances=(),
            side=side,
            summaries=summaries,
            own=[opening for opening in openings if opening.speaker == seat],
            others=[opening for opening in openings if opening.speaker != seat],
            statement=statement,
        )

    opinions = await gather_statements(*(speak_from(seat, side) for seat, side in debaters.items()))
    for opinion, side in zip(opinions, debaters.values(), strict=True):
        opinion.prediction = (
            side
            or opinion.prediction
            or (None if in_form else find_position(opinion.text, debate.task))
        )
    return [opinion for opinion in opinions if opinion.usable]


def statement(utterance: Utterance) -> str:
    """Return a debater's statement without the form of the reply."""
    parsed = utterance.parsed or {}
    return (
        f"{parsed['statement']} [{_names(parsed['prediction'])}]"
        if "statement" in parsed
        else utterance.text
    )


def _names(prediction: object) -> str:
    return ", ".join(map(str, prediction)) if isinstance(prediction, list) else str(prediction)


@cache
def opinion_schema(labels: tuple[str, ...], multilabel: bool) -> type[BaseModel]:
    """Return the reply form of a debater with a free choice.

    It has a statement, and the label or labels that it argues for.

    The label counts. If the statement is outside the form, the reply is quoted unchanged.
    """
    statement_field = Field(description="what you say to the judge and the other experts")
    fields: JsonObject = {
        "statement": (Annotated[str, statement_field, MAY_BE_MISSING], ...),
        "prediction": (prediction_type(labels, multilabel), ...),
    }
    return create_model("Opinion", __config__=ConfigDict(extra="forbid"), **fields)


# The verification step


async def summarise_statements(
    debate: Debate, utterances: Sequence[Utterance], number: int
) -> dict[str, str]:
    """Return the judge's summary of each debater's statements in a round (Table 4, step 3)."""

    async def summarise(seat: str) -> Utterance:
        return await debate.say(
            JUDGE,
            STATEMENT_SUMMARY,
            "feedback/statement_summary",
            private=True,
            round=number,
            utterances=(),
            said=[utterance for utterance in utterances if utterance.speaker == seat],
            statement=statement,
        )

    seats = list(dict.fromkeys(utterance.speaker for utterance in utterances))
    replies = await gather_statements(*map(summarise, seats))
    summaries: dict[str, str] = {}
    for seat, reply in zip(seats, replies, strict=True):
        reply.parsed = {"debater": seat}
        if reply.usable:
            summaries[seat] = reply.text
    return summaries


def verify(
    debate: Debate, rebuttals: Sequence[Utterance], texts: Mapping[str, str], number: int
) -> dict[str, float]:
    """Return each debater's reliability by the assistant; empty if the experiment has none.

    Args:
        texts: the text of each debater that the assistant reads, by seat; a seat without a text has
            no reliability.
    """
    if ASSISTANT not in debate.artifacts:  # in a preview it may not be trained yet
        return dict.fromkeys(texts, 1.0) if debate.params.assistant else {}
    # scikit-learn is slow to import
    from moot.studies.feedback.reliability import STATEMENTS, SUMMARIES, assistant_at

    assistant = assistant_at(debate.artifacts[ASSISTANT])
    place = f"experiment '{debate.experiment}'"
    assistant.check_case(debate.case, place)
    assistant.check_form(SUMMARIES if debate.params.statement_summaries else STATEMENTS, place)
    reliabilities: dict[str, float] = {}
    for rebuttal in rebuttals:
        seat, text = rebuttal.speaker, texts.get(rebuttal.speaker)
        if rebuttal.prediction and text:
            reliability = assistant.of_opinion(debate.case.text, rebuttal.prediction, text)
            reliabilities[seat] = reliability
            debate.record(
                ASSISTANT,
                "reliability",
                f"{seat}: {reliability:.2f}",
                source="computed",
                round=number,
                parsed={"debater": seat, "reliability": reliability},
                prediction=rebuttal.prediction,
            )
    return reliabilities


async def summarise(
    debate: Debate, utterances: Sequence[Utterance], reliabilities: Mapping[str, float], number: int
) -> Utterance:
    """Return the judge's own summary of one round: sum = LM(a, e, v)."""
    return await debate.say(
        JUDGE,
        "summary",
        "feedback/summary",
        round=number,
        utterances=(),
        said=utterances,
        reliabilities=reliabilities,
        statement=statement,
    )


# The judge's probabilities


async def judge_outlook(
    debate: Debate,
    params: FeedbackParams,
    number: int,
    summary: Utterance | None = None,
    reliabilities: Mapping[str, float] | None = None,
) -> Outlook | None:
    """Return LM(x) or LM(x, sum) as a probability for each label, and the answer.

    None if the judge gave no usable probabilities.
    """
    context: JsonObject = {"summary": summary, "reliabilities": reliabilities or {}}
    if params.answer != "generation" and not _was_refused(debate):
        try:
            shares = await _likelihood(debate, number, context)
        except LogprobsUnavailableError:
            if params.answer == "likelihood":
                raise
            debate.record(
                JUDGE,
                "note",
                "no token probabilities: stated confidence is used",
                source="computed",
            )
        else:
            return Outlook(shares, (_answer_by_words(debate, shares),)) if shares else None
    schema = prediction_schema(debate.task)
    reply = await debate.say(
        JUDGE, "prediction", "feedback/verdict", schema=schema, round=number, **context
    )
    if not reply.usable or not reply.parsed:
        return None
    answer = str(reply.prediction)
    return Outlook(
        stated_probabilities(debate.task, answer.split(";"), reply.confidence), (answer,)
    )


def _answer_by_words(debate: Debate, shares: Probabilities) -> str:
    """Return a person's choice, also one with confidence 0, or the likeliest label by token
    probabilities.
    """
    task = debate.task
    replies = _predictions(debate)[-len(task.labels) if task.multilabel else -1 :]
    if not all("shares" in (reply.parsed or {}) for reply in replies):
        return likeliest_answer(shares, task)
    if not task.multilabel:
        return str(replies[0].prediction)
    applicable = [
        label
        for label, reply in zip(task.labels, replies, strict=True)
        if reply.prediction == "yes"
    ]
    return ";".join(sorted(applicable)) or likeliest_answer(shares, task)


async def _likelihood(debate: Debate, number: int, context: Fields) -> dict[str, float] | None:
    """Return the label words' shares of probability; with several labels, the share of YES for each
    label.
    """
    if not debate.task.multilabel:
        words = {
            label: debate.params.label_names.get(label, label_word(label))
            for label in debate.task.labels
        }
        return await _scored(debate, "prediction", "verdict", number, {**context, "words": words})
    words = _YES_OR_NO.get(debate.task.language, _YES_OR_NO["en"])
    applies: dict[str, float] = {}
    for label in debate.task.labels:
        shares = await _scored(
            debate, "applies", "applies", number, {**context, "words": words, "label": label}
        )
        if shares is None:
            return None
        applies[label] = shares["yes"]
    return applies


async def _scored(
    debate: Debate, kind: str, template: str, number: int, context: Fields
) -> dict[str, float] | None:
    """Return the words' shares of probability; None if the judge gave none."""
    reply = await debate.choose(JUDGE, kind, f"feedback/{template}", round=number, **context)
    if reply.usable and reply.parsed and (logprobs := reply.parsed.get("logprobs")):
        return label_shares(logprobs)
    return (reply.parsed or {}).get("shares")  # a person's choice


def _was_refused(debate: Debate) -> bool:
    return any(utterance.kind == "note" for utterance in debate.utterances)


def record_outlook(
    debate: Debate, current: Outlook, latest: Outlook, number: int, met: bool = True
) -> None:
    """Record O_i, its components, and the source of the probability."""
    parsed = {
        "smoothed": dict(current.probabilities),
        "latest": dict(latest.probabilities),
        "answer": latest.answers[0],
        "threshold_met": met,
        "probability": _origin(_predictions(debate)[-1]),
    }
    text = ", ".join(f"{label} {share:.3f}" for label, share in current.probabilities.items())
    prediction = decide(current, debate.task)
    debate.record(
        JUDGE,
        SMOOTHED,
        text,
        source="computed",
        private=True,
        round=number,
        parsed=parsed,
        prediction=prediction,
    )


def _predictions(debate: Debate) -> list[Utterance]:
    return [
        utterance for utterance in debate.utterances if utterance.kind in ("prediction", "applies")
    ]


def _origin(utterance: Utterance) -> str:
    """Return the source of the probabilities of a judge's answer."""
    if "logprobs" in (utterance.parsed or {}):
        return TOKEN_PROBABILITIES
    return LABEL_ALONE if utterance.confidence is None else STATED_CONFIDENCE


def answer_from(debate: Debate, outlook: Outlook) -> Answer:
    """Return the decision y from O_n. O_n from token probabilities is added, for calibration on
    validation cases.

    Return only the decision if O_n comes from an answer without a probability.
    """
    task = debate.task
    steps = [
        utterance.parsed
        for utterance in debate.utterances
        if utterance.kind == SMOOTHED and utterance.parsed
    ]
    prediction, confidence, score = final_answer(outlook, steps, task)
    by_tokens = not task.multilabel and all(
        step["probability"] == TOKEN_PROBABILITIES for step in steps
    )
    return Answer(
        prediction, confidence, score, log_shares(outlook.probabilities) if by_tokens else None
    )


def _summaries(debate: Debate) -> list[Utterance]:
    return [
        utterance
        for utterance in debate.utterances
        if utterance.kind == "summary" and utterance.usable
    ]
