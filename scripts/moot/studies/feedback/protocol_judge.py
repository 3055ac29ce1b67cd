"""The judge of Debate-Feedback: its probability of each label, and the answer of the debate."""

from collections.abc import Mapping

from moot.core.confidence import stated_probabilities
from moot.core.errors import LogprobsUnavailableError
from moot.core.likelihood import label_shares, log_shares
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import SMOOTHED
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema
from moot.protocols.smoothing import (
    LABEL_ALONE,
    STATED_CONFIDENCE,
    TOKEN_PROBABILITIES,
    Outlook,
    Probabilities,
    decide,
    final_answer,
    likeliest_answer,
)
from moot.protocols.utterances import Utterance, label_word
from moot.studies.feedback.protocol_params import JUDGE, FeedbackParams

_YES_OR_NO = {"en": {"yes": "YES", "no": "NO"}, "zh": {"yes": "是", "no": "否"}}


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
    """Return a person's choice, or else the likeliest label by token probabilities.

    A person's choice counts even with confidence 0.
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
    """Return the label words' shares of probability.

    For several labels it is the share of YES for each label.
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
    """Return the decision y from O_n, with O_n if it is made of token probabilities.

    Thresholds are fitted to O_n on validation cases. If O_n comes from an answer without a
    probability, only the decision is returned.
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
