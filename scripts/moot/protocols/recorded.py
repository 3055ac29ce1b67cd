"""Debates that really happened: no call is made, what was said is taken from the records of the data set.

An experiment with `source: recorded` runs this protocol. Which cases and repeats there are the records decide.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pyarrow.compute as pc
from pydantic import Field

from moot.core.artifacts import read_table, rows_by_debate
from moot.core.cases import Case
from moot.core.config import RECORDED
from moot.core.errors import unknown_name
from moot.core.kinds import VOTES
from moot.core.types import Fields
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate, Setting

Rows = Sequence[Fields]
JUDGE = "judge"


class RecordedParams(ProtocolParams):
    """What a recorded experiment may say."""

    method: str = Field(description="which condition of the records (debate, single prompt, ...)")


def recorded_repeats(setting: Setting, case: Case) -> list[int]:
    """The repeats of a case that were recorded."""
    return sorted(repeat for case_id, repeat in _records(setting) if case_id == case.case_id)


@protocol(
    RECORDED,
    RecordedParams,
    study="recorded",
    prompts=(),
    needs=lambda _: {"records": "records/{dataset}.parquet"},
    repeats=recorded_repeats,
    options=Options("none"),
    seats=lambda _: (),
)
async def recorded(debate: Debate, params: RecordedParams) -> Answer | None:
    """Say again what was said, in the same order; the recorded conclusion is the answer."""
    del params
    *said, conclusion = _records(debate.setting)[debate.case.case_id, debate.repeat]
    outcome = json.loads(conclusion["parsed"])
    for row in said:
        parsed = json.loads(row["parsed"]) if row["parsed"] else None
        debate.record(
            row["speaker"],
            row["kind"],
            row["text"],
            source=row["source"],
            private=row["visibility"] != "public",
            round=row["round"],
            parsed=parsed,
            prediction=row["prediction"],
            confidence=row["confidence"],
            probability=(parsed or {}).get("distribution", {}).get(row["prediction"]),
        )
    problem = outcome.get("reason", "")
    if problem or all(row["kind"] == VOTES for row in said):
        debate.record(
            JUDGE,
            "verdict",
            "",
            source="model",
            parsed={"problem": problem} if problem else None,
            parse_status="invalid" if problem else "strict",
            prediction=conclusion["prediction"],
            confidence=conclusion["confidence"],
        )
    if conclusion["prediction"] is None:
        return None
    return Answer(conclusion["prediction"], conclusion["confidence"], outcome["score"])


def _records(setting: Setting) -> Mapping[tuple[str, int], Rows]:
    recorded_as = setting.chats[setting.model].config.model
    return _read(setting.artifacts["records"], setting.params.method, recorded_as, setting.experiment)


@cache
def _read(path: Path, method: str, model: str, experiment: str) -> Mapping[tuple[str, int], Rows]:
    """The rows of each recorded debate by case and repeat; raises `UserError` for a method or model without any."""
    chosen = pc.scalar(True)
    for column, wanted in (("method", method), ("model", model)):
        known = sorted(set(read_table(path, [column], chosen)[column].to_pylist()))
        if wanted not in known:
            raise unknown_name(f"{column} of the records", wanted, known, f"experiment '{experiment}'")
        chosen &= pc.field(column) == wanted
    return rows_by_debate([path], where=chosen)
