"""Make a case from a full opinion: background, claim and defence, and the verdict apart.

CaseLaw reads all of it, the appellate study the three parts as the facts of its case.
A summary that holds a name of the caption, of counsel or the bench, or a word of an outcome, is
asked for again.

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
from moot.datasets.opinion_text import collect_names, find_leaks
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate

SEAT, KIND = "clerk", "case summary"
PARTS = ("background", "claim", "defence")
TRIES = 3
"""How often a summary is asked for that has a name or tells the outcome."""
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
    outcome: Literal["PLAINTIFF", "DEFENDANT", "SETTLEMENT", "DISMISSED"] = Field(
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
async def case_summary(debate: Debate, _params: SummaryParams) -> Answer | None:
    """Summarise an opinion: three parts without names and verdict, and the verdict."""
    names = collect_names(debate.case.text, [debate.case.attributes.get("names", "")])
    leaks: list[str] = []
    for _ in range(TRIES):
        summary = await debate.say(
            SEAT, KIND, "summaries/case_summary", schema=CaseSummary, utterances=(), leaks=leaks
        )
        if not summary.usable or summary.parsed is None:
            return None
        text = "\n".join(str(summary.parsed[part]) for part in PARTS)
        leaks = [] if debate.voices.is_human(SEAT) else find_leaks(text, names)
        if not leaks and not debate.is_placeholder(summary):
            outcome = str(summary.parsed["outcome"]).casefold()
            return Answer(outcome) if outcome in debate.task.labels else None
        summary.parse_status = "invalid"
        summary.parse_problem = f"the summary has {', '.join(leaks)}"
    return None


def summary_records(utterances: pd.DataFrame) -> list[JsonObject]:
    """Return one record a usable summary: its three parts separated by tabs, and its label."""
    usable = utterances[(utterances["kind"] == KIND) & ~utterances["parse_status"].isin(UNUSABLE)]
    records = []
    for case_id, reply in zip(usable["case_id"], usable["parsed"], strict=True):
        parsed = json.loads(reply)
        parts = (" ".join(str(parsed[name]).split()) for name in PARTS)
        records.append(
            {
                "case_id": case_id,
                "case_background": "\t".join(parts),
                "labels": _LABELS[str(parsed["outcome"]).casefold()],
            }
        )
    return records


def write_summaries(shards: Sequence[Path], output: Path) -> None:
    """Write a model's usable summaries in the format of the CaseLaw loader.

    The file is `summaries/{experiment}/{model}.jsonl` with `case_id`, `case_background` and
    `labels`. Raise `UserError` if there are none.
    """
    utterances = read_frames(shards)
    lines = [json.dumps(record, ensure_ascii=False) for record in summary_records(utterances)]
    if not lines:
        raise UserError(
            f"{output.stem}: none of {len(utterances)} utterances is a usable summary. Use a larger"
            " model."
        )
    write_atomically(output, "\n".join(lines) + "\n")
