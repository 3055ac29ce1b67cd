"""CaseLaw: who won, from a summary of background, plaintiff's claim and defendant's statement (Debate-Feedback, 4.2).

Settlements and dismissals are set aside, since the text states them; what remains is binary.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.core.cases import Split, Task
from moot.core.errors import UserError
from moot.core.input_files import check_values, read_jsonl
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.texts.facts import LegalTextOptions, Record, prepare, require_text, source_files

WINNERS = {"Plaintiff wins": "plaintiff", "Defendant wins": "defendant"}
SET_ASIDE = ("Settlement", "Dismissed")
_GET = "download it as data/raw/README.md says (caselaw)."

TASK = Task(
    noun="the case",
    question="Which party does the court decide for?",
    labels=("defendant", "plaintiff"),
    positive="plaintiff",
    meaning={"plaintiff": "the plaintiff wins", "defendant": "the defendant wins"},
    background="A civil or criminal dispute before an American court, told as background, claim and defence.",
    roles={"prosecutor": "plaintiff's counsel", "defense": "defendant's counsel"},
)


class CaselawOptions(LegalTextOptions):
    """Options of the CaseLaw data set."""

    source: Literal["sample", "local", "download", "cap"] = Field(  # type: ignore[assignment]
        description="shipped, read from data_root, downloaded, or summarised by a model from full opinions (cap)"
    )
    summaries: str = Field(
        "", description="with `source: cap`: EXPERIMENT/MODEL of the protocol case_summary that wrote the cases"
    )


@dataset("caselaw", CaselawOptions)
def load(options: CaselawOptions, context: LoadContext) -> Loaded:
    """JSON lines with `case_background` (parts separated by tabs) and `labels` ("Plaintiff wins", "Defendant wins").

    Raises:
        UserError: a file is missing or malformed, a label is outside the set, a text is empty.
    """
    files = _summaries(options, context) or source_files(
        options, context, "caselaw/trial_prediction.jsonl", "caselaw.jsonl"
    )
    cleaning = {"records read": 0, "settled or dismissed (left out)": 0}
    records: list[Record] = []
    for path, split in files.items():
        records += _read(path, split, options.encoding, cleaning)
    sample = ("sample cases written for moot, not real ones",) if options.source == "sample" else ()
    task = replace(TASK, notes=sample)
    return prepare(records, task, options, context, court="state court", cleaning=cleaning, sources=list(files))


def _summaries(options: CaselawOptions, context: LoadContext) -> dict[Path, Split | None]:
    """The file that a model's summaries of opinions stand in; empty for other sources."""
    if options.source != "cap":
        return {}
    if not re.fullmatch(r"[^/]+/[^/]+", options.summaries):
        raise UserError(
            f"data set {context.name}: found summaries '{options.summaries}', expected EXPERIMENT/MODEL, where the "
            "experiment's protocol is case_summary. Name both."
        )
    return {Path("results/summaries") / f"{options.summaries}.jsonl": None}


def _read(path: Path, split: Split | None, encoding: str, cleaning: dict[str, int]) -> list[Record]:
    frame = read_jsonl(path, {"case_background": str, "labels": str}, encoding=encoding, get=_GET)
    check_values(path, frame["labels"], [*WINNERS, *SET_ASIDE])
    cleaning["records read"] += len(frame)
    cleaning["settled or dismissed (left out)"] += int(frame["labels"].isin(SET_ASIDE).sum())
    decided = frame[frame["labels"].isin(list(WINNERS))]
    return [
        Record(int(row), require_text(path, row, "case_background", text), WINNERS[label], split)
        for row, text, label in zip(decided.index, decided["case_background"], decided["labels"], strict=True)
    ]
