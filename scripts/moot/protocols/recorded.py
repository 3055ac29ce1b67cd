"""Debates that really happened, taken from the records of a data set without any call.

An experiment with `source: recorded` runs this protocol. The records determine its cases and
repeats.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pyarrow.compute as pc
from pydantic import Field

from moot.core.artifacts import read_table, repeats_by_case, rows_by_debate
from moot.core.cases import Case
from moot.core.errors import unknown_name
from moot.core.experiment_config import RECORDED
from moot.core.schemas import JUDGED
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import CONCLUSION, PUBLIC, VERDICT, VOTES, name_of_judge
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.setup import JobSetup

Rows = Sequence[Fields]
JUDGE = "judge"


class RecordedParams(ProtocolParams):
    """Parameters of recorded experiments."""

    method: str = Field(
        description=("The condition of the records, such as a debate or a single prompt.")
    )


def recorded_repeats(setup: JobSetup, case: Case) -> list[int]:
    """Return the recorded repeats of a case."""
    return _repeats(*_record_key(setup)).get(case.case_id, [])


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
async def replay_records(debate: Debate, params: RecordedParams) -> Answer | None:
    """Record all utterances in their order, and conclude as the records do.

    There is a conclusion for each judge.
    """
    del params
    rows = _read_debates(*_record_key(debate.setup))[debate.case.case_id, debate.repeat]
    utterances = [row for row in rows if row["kind"] != CONCLUSION]
    conclusions = [(row, json.loads(row["parsed"])) for row in rows if row["kind"] == CONCLUSION]
    for row in utterances:
        _say(debate, row, json.loads(row["parsed"]) if row["parsed"] else None)
    has_several_judges = len(conclusions) > 1
    has_verdict = any(row["kind"] == VERDICT for row in utterances)
    needs_verdict = (
        has_several_judges
        or conclusions[0][1].get("reason")
        or all(row["kind"] == VOTES for row in utterances)
    )
    if needs_verdict and not has_verdict:
        for row, outcome in conclusions:
            problem = outcome.get("reason")
            verdict = {
                "speaker": name_of_judge(*(outcome.get(part, "") for part in JUDGED)) or JUDGE,
                "kind": VERDICT,
                "source": "model",
                "round": 0,
            }
            status = {"parse_status": "invalid" if problem else "strict"}
            _say(
                debate,
                {**row, **verdict},
                {"problem": problem} if problem else None,
                private=has_several_judges,
                **status,
            )
    for row, outcome in conclusions:
        _say(debate, row, {"reason": "", **outcome})
    return None


def _say(
    debate: Debate, row: Fields, parsed: JsonObject | None, *, private: bool = False, **fields: str
) -> None:
    debate.record(
        row["speaker"],
        row["kind"],
        row["text"],
        source=row["source"],
        private=private or row["visibility"] != PUBLIC,
        round=row["round"],
        parsed=parsed,
        prediction=row["prediction"],
        confidence=row["confidence"],
        probability=(parsed or {}).get("distribution", {}).get(row["prediction"]),
        **fields,
    )


def _record_key(setup: JobSetup) -> tuple[Path, str, str, str]:
    recorded_as = setup.chats[setup.model].config.model
    return setup.artifacts["records"], setup.params.method, recorded_as, setup.experiment


@cache
def _read_debates(
    path: Path, method: str, model: str, experiment: str
) -> Mapping[tuple[str, int], Rows]:
    """Return the rows of each recorded debate, by case and repeat.

    Raises:
        UserError: The method or the model has no records.
    """
    condition = pc.scalar(True)
    for column, name in (("method", method), ("model", model)):
        names = sorted(set(read_table(path, [column], condition)[column].to_pylist()))
        if name not in names:
            raise unknown_name(
                f"{column} of the records", name, names, f"experiment '{experiment}'"
            )
        condition &= pc.field(column) == name
    return rows_by_debate([path], row_filter=condition)


@cache
def _repeats(path: Path, method: str, model: str, experiment: str) -> Mapping[str, list[int]]:
    return repeats_by_case(_read_debates(path, method, model, experiment))
