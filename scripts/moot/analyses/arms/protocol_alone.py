"""A judge who thinks as often as debaters spoke about the same case, then decides.

It is the control arm `alone` of any protocol with debaters: the same number of calls that write
free text, but no other seat. The question has the same words for every protocol, so the wording
also differs from the debate's.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pyarrow.compute as pc
from pydantic import Field

from moot.core.artifacts import rows_by_debate
from moot.core.types import Fields
from moot.core.utterance_kinds import PUBLIC, VERDICT
from moot.protocols import AnswerMode, ProtocolParams, ReasonLength, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema, read_answer

THOUGHT = "thought"
"""The kind of the notes of a judge who thinks without a debate."""


class AloneParams(ProtocolParams):
    """How often a judge thinks, and how it answers."""

    source_experiment: str = Field(
        "",
        description=(
            "the experiment whose debates by the same model determine how often the judge "
            "thinks; default: `default_repetitions` times"
        ),
    )
    speakers: tuple[str, ...] = Field(
        (), description="the seats of that experiment whose public statements are counted"
    )
    default_repetitions: int = Field(
        3, ge=0, description="how often the judge thinks, without such an experiment"
    )
    judge: str = Field(
        "judge", description="the name of the seat that thinks, to which `seats` can give a model"
    )
    answer: AnswerMode = "generation"
    max_reason_chars: ReasonLength = 0


def _transcripts(params: AloneParams) -> dict[str, str]:
    return (
        {"debates": f"transcripts/{params.source_experiment}/{{model}}"}
        if params.source_experiment
        else {}
    )


@protocol(
    "alone",
    AloneParams,
    study="comparison",
    needs=_transcripts,
    seats=lambda params: (params.judge,),
)
async def judge_alone(debate: Debate, params: AloneParams) -> Answer | None:
    """Think, think again with all earlier thoughts, and decide."""
    for number in range(1, count_thoughts(debate, params) + 1):
        await debate.say(params.judge, THOUGHT, "alone/thought", private=True, round=number)
    if params.answer == "likelihood":
        return read_answer(debate, await debate.choose(params.judge, VERDICT, "alone/verdict"))
    schema = prediction_schema(
        debate.task, name="Verdict", reasoning=True, max_reason_chars=params.max_reason_chars
    )
    return read_answer(
        debate, await debate.say(params.judge, VERDICT, "alone/verdict", schema=schema)
    )


def count_thoughts(debate: Debate, params: AloneParams) -> int:
    """Return how often debaters spoke in this case's debate, or the default without a source."""
    if not params.source_experiment:
        return params.default_repetitions
    paths = tuple(
        path for name, path in debate.artifacts.items() if name.partition("_")[0] == "debates"
    )
    return len(
        _read_statements(paths, params.speakers).get((debate.case.case_id, debate.repeat), ())
    )


@cache
def _read_statements(
    paths: tuple[Path, ...], speakers: tuple[str, ...]
) -> Mapping[tuple[str, int], Sequence[Fields]]:
    """Return the public statements of some seats, by case and repeat."""
    is_public_statement = pc.field("speaker").isin(speakers) & (pc.field("visibility") == PUBLIC)
    return rows_by_debate(paths, ["case_id", "repeat"], is_public_statement)
