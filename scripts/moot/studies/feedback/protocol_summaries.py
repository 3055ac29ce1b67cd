"""From a full opinion to a CaseLaw case: background, claim and defence without the verdict, and the
verdict apart.

Debate-Feedback (section 3) starts from cases "formatted into case background, plaintiff claim and
defendant statement". The paper prints no prompt for that. Its authors' earlier repository has one
(Xi7997/Adversarial-Model-for-Law, `Dataset/Original/data_preprocessing.py`: background of at most
500 words, claims and defences of 200 each, by gpt-4o-mini), without a licence. The words here are
ours.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from moot.core.artifacts import read_frames
from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.types import JsonObject
from moot.core.utterance_kinds import UNUSABLE
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate

SEAT, KIND = "clerk", "case summary"
_LABELS = {
    "plaintiff": "Plaintiff wins",
    "defendant": "Defendant wins",
    "settlement": "Settlement",
    "dismissed": "Dismissed",
}


class SummaryParams(ProtocolParams):
    """Parameters of the summaries."""

    temperature: float = Field(
        0.0, ge=0, description="sampling temperature, unless the model's entry sets one"
    )
    words: int = Field(
        200, ge=20, description="maximum words of the background, as stated in the prompt"
    )


class CaseSummary(BaseModel):
    """What a summary holds."""

    model_config = ConfigDict(extra="forbid")
    background: str = Field(
        description="parties, events and course of the case, without the outcome"
    )
    claim: str = Field(description="what the plaintiff asks for and why")
    defence: str = Field(description="what the defendant answers and why")
    prediction: Literal["PLAINTIFF", "DEFENDANT", "SETTLEMENT", "DISMISSED"] = Field(
        description="the outcome"
    )


@protocol(
    "case_summary",
    SummaryParams,
    study="feedback",
    prompts=("summaries/",),
    options=Options("none"),
    seats=lambda _: (SEAT,),
)
async def case_summary(debate: Debate, params: SummaryParams) -> Answer | None:  # noqa: ARG001
    """Summarise an opinion in one call: three parts without the verdict, and the verdict."""
    summary = await debate.say(SEAT, KIND, "summaries/case_summary", schema=CaseSummary)
    return Answer(summary.prediction) if summary.usable and summary.prediction else None


def summary_records(utterances: pd.DataFrame) -> list[JsonObject]:
    """Return one record a usable summary: its three parts separated by tabs, and its label."""
    usable = utterances[(utterances["kind"] == KIND) & ~utterances["parse_status"].isin(UNUSABLE)]
    records = []
    for parsed in map(json.loads, usable["parsed"]):
        parts = (" ".join(str(parsed[name]).split()) for name in ("background", "claim", "defence"))
        records.append(
            {
                "case_background": "\t".join(parts),
                "labels": _LABELS[str(parsed["prediction"]).casefold()],
            }
        )
    return records


def write_summaries(shards: Sequence[Path], output: Path) -> None:
    """Write a model's usable summaries in the format of the CaseLaw loader.

    The file is `summaries/{experiment}/{model}.jsonl` with `case_background` and `labels`. Raise
    `UserError` if there are none.
    """
    utterances = read_frames(shards)
    lines = [json.dumps(record, ensure_ascii=False) for record in summary_records(utterances)]
    if not lines:
        raise UserError(
            f"{output.stem}: none of {len(utterances)} utterances is a usable summary. Use a larger"
            " model."
        )
    write_atomically(output, "\n".join(lines) + "\n")
