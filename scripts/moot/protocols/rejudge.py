"""Show the debates of another experiment to a model as judge, round by round.

No debater is asked again. The model reads the public utterances, without the former judge's.
After each round it states its belief; the last belief is its answer. The beliefs of the
former judge are recorded for comparison, and the model never reads them.
"""

import json
from collections.abc import Mapping
from itertools import chain, groupby

from pydantic import Field

from moot.core.artifacts import repeats_by_case
from moot.core.cases import Case
from moot.core.types import Fields
from moot.core.utterance_kinds import BELIEF, PUBLIC
from moot.protocols import Options, ProtocolParams, ReasonLength, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.replayed import RecordedDebate, missing_text_error, read_debates
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import Utterance

JUDGE, RECORDED_JUDGE = "judge", "recorded judge"


class RejudgeParams(ProtocolParams):
    """Parameters of `rejudge`."""

    source_experiment: str = Field(
        description="The experiment whose debates are judged again, recorded or held by models."
    )
    source_model: str = Field(description="The model of the source experiment.")
    max_reason_chars: ReasonLength = 0


def _transcripts(params: RejudgeParams) -> dict[str, str]:
    return {"debates": f"transcripts/{params.source_experiment}/{params.source_model}"}


def source_repeats(setup: JobSetup, case: Case) -> list[int]:
    """Return the repeats of a case that were debated."""
    return repeats_by_case(_source_debates(setup)).get(case.case_id, [])


@protocol(
    "rejudge",
    RejudgeParams,
    study="recorded",
    needs=_transcripts,
    repeats=source_repeats,
    options=Options(explains_labels=False),
    seats=lambda _: (JUDGE,),
)
async def rejudge(debate: Debate, params: RejudgeParams) -> Answer | None:
    """Show each round and ask for the belief after it."""
    belief: Utterance | None = None
    schema = prediction_schema(
        debate.task, name="Belief", reasoning=True, max_reason_chars=params.max_reason_chars
    )
    rows = _source_debates(debate.setup)[debate.case.case_id, debate.repeat].rows
    for number, turns in groupby(rows, lambda row: row["round"]):
        are_public = [_play(debate, row) for row in turns]
        if any(are_public):
            belief = await debate.say(
                JUDGE,
                BELIEF,
                "rejudge/belief",
                schema=schema,
                private=True,
                round=number,
                round_shown=number,
            )
    return read_answer(debate, belief) if belief else None


def _play(debate: Debate, row: Fields) -> bool:
    """Record a turn again, and return whether the new judge reads it."""
    if row["speaker"] != JUDGE:
        is_public = row["visibility"] == PUBLIC and bool(row["text"])
        if is_public:
            debate.record(
                row["speaker"], row["kind"], row["text"], source=row["source"], round=row["round"]
            )
        return is_public
    parsed = json.loads(row["parsed"] or "{}")
    distribution = parsed.get("distribution", {})
    if row["prediction"] or distribution:
        debate.record(
            RECORDED_JUDGE,
            row["kind"],
            row["text"],
            source=row["source"],
            private=True,
            round=row["round"],
            prediction=row["prediction"],
            confidence=row["confidence"],
            probability=distribution.get(row["prediction"], row["probability"]),
        )
    return False


def _source_debates(setup: JobSetup) -> Mapping[tuple[str, int], RecordedDebate]:
    """Return the finished debates by case and repeat.

    Raises:
        UserError: The debates have no texts.
    """
    params: RejudgeParams = setup.params
    debates = read_debates(tuple(setup.artifacts.values()), frozenset(), JUDGE)
    rows = chain.from_iterable(debate.rows for debate in debates.values())
    if not any(row["text"] and row["visibility"] == PUBLIC for row in rows):
        raise missing_text_error(setup.experiment, params.source_experiment, "a judge could read")
    return debates
