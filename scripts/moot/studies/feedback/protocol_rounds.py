"""A round of Debate-Feedback: statements of the debaters, their reliability, and the summary."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.types import JsonObject
from moot.core.utterance_kinds import STATEMENT_SUMMARY
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols.debate import Debate
from moot.protocols.people import gather_statements
from moot.protocols.reply_schemas import find_position, prediction_type
from moot.protocols.smoothing import is_threshold_met
from moot.protocols.utterances import Utterance
from moot.studies.feedback.protocol_params import ASSISTANT, JUDGE, FeedbackParams


async def speak(
    debate: Debate,
    params: FeedbackParams,
    debaters: Mapping[str, str],
    kind: str,
    number: int,
    openings: Sequence[Utterance] = (),
) -> list[Utterance]:
    """Return one statement of every debater at once.

    An opening knows no other of its round, a rebuttal knows all openings.
    """
    is_form = params.sides == "free" and params.opinions == "form"
    schema = opinion_schema(debate.task.labels, debate.task.multilabel) if is_form else None
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
            or (None if is_form else find_position(opinion.text, debate.task))
        )
    return [opinion for opinion in opinions if opinion.usable]


def _summaries(debate: Debate) -> list[Utterance]:
    return [
        utterance
        for utterance in debate.utterances
        if utterance.kind == "summary" and utterance.usable
    ]


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


async def summarise_statements(
    debate: Debate, utterances: Sequence[Utterance], number: int
) -> dict[str, str]:
    """Return the judge's summary of each debater's statements in a round (Table 4, step 3)."""

    async def summarise_seat(seat: str) -> Utterance:
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
    replies = await gather_statements(*map(summarise_seat, seats))
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


def is_round_reliable(
    debate: Debate,
    params: FeedbackParams,
    rebuttals: Sequence[Utterance],
    reliabilities: Mapping[str, float],
) -> bool:
    """Return Threshold(v). In a preview, whose replies are placeholders, it is always met."""
    if any(map(debate.is_placeholder, rebuttals)):
        return True
    return is_threshold_met(list(reliabilities.values()), params.threshold)


def repeat_last_opening(debate: Debate, openings: Sequence[Utterance], number: int) -> Utterance:
    """Return what the judge reads in the authors' code.

    A slip there puts the last debater's opening in the place of every debater's rebuttal.
    """
    text = "\n\n".join(map(statement, [*openings[-1:]] * len(openings)))
    return debate.record(JUDGE, "summary", text, source="computed", round=number)


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
