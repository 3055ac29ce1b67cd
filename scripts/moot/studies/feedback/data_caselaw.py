"""CaseLaw: who won, from a summary of background, plaintiff's claim and defendant's statement.

Source: Debate-Feedback, 4.2.

Settlements and dismissals are left out, since the text states them. The remaining outcomes are
binary.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from moot.core.cases import SplitName, Task
from moot.datasets import SOURCE_PATTERN, LoadContext, Loaded, dataset
from moot.datasets.reading.checks import DataFaults, check_values
from moot.datasets.reading.records import read_jsonl
from moot.studies.feedback.legal_texts import (
    LegalTextOptions,
    Record,
    prepare,
    require_text,
    source_files,
)

WINNERS = {"Plaintiff wins": "plaintiff", "Defendant wins": "defendant"}
UNDECIDED_OUTCOMES = ("Settlement", "Dismissed")
OVER_THE_CAP = "plaintiffs above the cap (left out)"
MIN_DEFENDANTS_OF_CAP = 100
"""Until more defendants have won, the authors' script leaves no case out."""
_GET = "download it as data/raw/README.md says (caselaw)."

TASK = Task(
    noun="the case",
    question="Which party does the court decide for?",
    labels=("defendant", "plaintiff"),
    positive="plaintiff",
    meaning={"plaintiff": "the plaintiff wins", "defendant": "the defendant wins"},
    background=(
        "A civil or criminal dispute before an American court, told as background, claim and"
        " defence."
    ),
    roles={"prosecutor": "plaintiff's counsel", "defense": "defendant's counsel"},
)


class CaselawOptions(LegalTextOptions):
    """Options of the CaseLaw data set."""

    # pyrefly: ignore[bad-override]
    source: Literal["sample", "local", "download", "summaries"] = Field(
        description=(
            "shipped, read from data_root, downloaded, or written by the protocol case_summary from"
            " full opinions (summaries)"
        )
    )
    plaintiffs_per_defendant: float | None = Field(
        None,
        gt=0,
        description=(
            "leave out a case that a plaintiff wins once the file has more than 100 cases that"
            " defendants win and more than this many times as many that plaintiffs win (the script"
            " behind the published files: 1.75). Default: keep all cases"
        ),
    )
    summaries: str = Field(
        "",
        pattern=f"^({SOURCE_PATTERN})?$",
        description=(
            "with `source: summaries`: EXPERIMENT/MODEL of the protocol case_summary that wrote the"
            " cases"
        ),
    )

    @model_validator(mode="after")
    def _check_summaries(self) -> "CaselawOptions":
        if (self.source == "summaries") != bool(self.summaries):
            raise ValueError(
                "`source: summaries` and `summaries: EXPERIMENT/MODEL` go together; name both, or"
                " neither"
            )
        return self


def _summary_artifacts(options: CaselawOptions) -> dict[str, str]:
    return {"summaries": f"summaries/{options.summaries}.jsonl"} if options.summaries else {}


@dataset(
    "caselaw", CaselawOptions, needs=_summary_artifacts, shipped=("data/samples/caselaw.jsonl",)
)
def load(options: CaselawOptions, context: LoadContext) -> Loaded:
    """Load JSON lines with `case_background` and `labels`.

    `case_background` has parts separated by tabs, `labels` is "Plaintiff wins" or "Defendant wins".

    Raises:
        UserError: a file is missing or malformed, a label is outside the set, a text is empty.
    """
    files: dict[Path, SplitName | None] = dict.fromkeys(context.artifacts.values())
    files = files or source_files(
        options, context, "caselaw/trial_prediction.jsonl", "caselaw.jsonl"
    )
    cleaning = {"records read": 0, "settled or dismissed (left out)": 0}
    records = list[Record]()
    for path, split_name in files.items():
        records += _read_file(path, split_name, options, cleaning)
    return prepare(
        records, TASK, options, context, court="state court", cleaning=cleaning, sources=list(files)
    )


def _read_file(
    path: Path, split_name: SplitName | None, options: CaselawOptions, cleaning: dict[str, int]
) -> list[Record]:
    columns: dict[str, type] = {"case_background": str, "labels": str}
    frame = read_jsonl(path, columns, encoding=options.encoding, get=_GET)
    faults = DataFaults()
    with faults.noting():
        check_values(path, frame["labels"], [*WINNERS, *UNDECIDED_OUTCOMES])
    cleaning["records read"] += len(frame)
    cleaning["settled or dismissed (left out)"] += int(
        frame["labels"].isin(UNDECIDED_OUTCOMES).sum()
    )
    decided = frame[frame["labels"].isin(list(WINNERS))]
    if options.plaintiffs_per_defendant is not None:
        is_kept = _within_cap(list(decided["labels"]), options.plaintiffs_per_defendant)
        cleaning[OVER_THE_CAP] = cleaning.get(OVER_THE_CAP, 0) + is_kept.count(False)
        decided = decided[is_kept]
    records = list[Record]()
    for row, values in decided.iterrows():
        with faults.noting():
            text = require_text(path, row, "case_background", values["case_background"])
            target = WINNERS[values["labels"]]
            records.append(Record(int(str(row)), text, target, split_name))
    faults.check()
    return records


def _within_cap(outcomes: list[str], plaintiffs_per_defendant: float) -> list[bool]:
    """Return whether each case stays by the authors' rule, in the order of the file."""
    plaintiffs = defendants = 0
    is_kept: list[bool] = []
    for outcome in outcomes:
        is_full = (
            defendants > MIN_DEFENDANTS_OF_CAP
            and plaintiffs > plaintiffs_per_defendant * defendants
        )
        is_plaintiff = outcome == "Plaintiff wins"
        is_kept.append(not (is_plaintiff and is_full))
        if is_kept[-1]:
            plaintiffs += is_plaintiff
            defendants += not is_plaintiff
    return is_kept
