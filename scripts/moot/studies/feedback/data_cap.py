"""Full opinions of the Caselaw Access Project, which `case_summary` turns into CaseLaw cases.

Reads the bulk format (`casebody.data` as XML or as an object) and the format of static.case.law
(`casebody.opinions`).
"""

import json
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.json_lines import read_jsonl
from moot.core.text_files import quote_value
from moot.core.types import JsonObject
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.debate_records import FaultyShare
from moot.datasets.faulty_rows import read_usable_rows
from moot.studies.feedback.data_justice import plain_text
from moot.studies.feedback.texts.leakage import cut

OUTCOMES = ("plaintiff", "defendant", "settlement", "dismissed")
NOT_KNOWN = "not known"
_FIELDS = {"id": int, "name_abbreviation": str, "decision_date": str, "casebody": dict}
_GET = "get opinions from https://static.case.law, as data/raw/README.md says (opinions)."

TASK = Task(
    noun="the opinion",
    question="How did the case end?",
    labels=(*OUTCOMES, NOT_KNOWN),
    meaning={
        "plaintiff": "the court decided for the plaintiff, or for the party that began the case",
        "defendant": "the court decided for the defendant",
        "settlement": "the parties settled",
        "dismissed": "the case was dismissed without a decision between the parties",
    },
    background="The full opinion of an American court.",
    notes=("outcomes are not known beforehand: the summaries name them",),
)


class CapOptions(DatasetOptions):
    """Options of the opinions to be summarised."""

    source: Literal["local"] = Field(description="read from data_root")
    path: str = Field(
        "opinions/cap_illinois_sample.jsonl", description="the file below data_root, JSON lines"
    )
    max_characters: int = Field(
        12_000, ge=500, description="longer opinions lose what lies between opening and end"
    )
    faulty: FaultyShare = 0.0

    def own_files(self, data_root: Path) -> tuple[Path, ...]:
        """Return the file of opinions."""
        return (data_root / self.path,)


@dataset("cap", CapOptions, folder="opinions")
def load(options: CapOptions, context: LoadContext) -> Loaded:
    """Load every opinion as a test case with unknown outcome.

    Raises:
        UserError: the file is missing or malformed, a record has no opinion text, or an id occurs
            twice.
    """
    path = context.data_root / options.path
    cleaning: dict[str, int] = {}

    def read_rows(faults: Faults) -> pd.DataFrame:
        return read_jsonl(path, _FIELDS, get=_GET, faults=faults)

    def check(rows: pd.DataFrame) -> None:
        for row, casebody in rows["casebody"].items():
            opinion_text(path, row, casebody)

    frame = read_usable_rows(path, read_rows, check, options.faulty, cleaning, unique="id")
    cases = []
    cleaning |= {
        "records read": len(frame),
        f"opinions cut to {options.max_characters} characters": 0,
    }
    for row, record in frame.iterrows():
        text = opinion_text(path, row, record["casebody"])
        cleaning[f"opinions cut to {options.max_characters} characters"] += (
            len(text) > options.max_characters
        )
        attributes = {"name": record["name_abbreviation"], "date": record["decision_date"]}
        shortened = cut(text, options.max_characters)
        case_id = f"{context.name}-{record['id']}"
        cases.append(
            Case(
                case_id,
                context.name,
                "test",
                shortened,
                NOT_KNOWN,
                TASK.labels,
                attributes,
                int(str(row)),
            )
        )
    return Loaded(cases, TASK, cleaning=cleaning, sources=[path])


def opinion_text(path: Path, row: object, casebody: JsonObject) -> str:
    """Return the text of a record's opinions, in either of the project's formats."""
    data = casebody.get("data", casebody)
    if isinstance(data, str):
        text = plain_text(data)
    else:
        opinions = data.get("opinions", []) if isinstance(data, dict) else []
        text = "\n\n".join(
            str(opinion.get("text", "")) for opinion in opinions if isinstance(opinion, dict)
        )
    if not text.strip():
        raise UserError(
            f"{path}: row {row}, field 'casebody': found {quote_value(json.dumps(casebody)[:80])},"
            " expected `data` (XML, or an object with `opinions`) or `opinions`, with a text. Get"
            " the record with its full case body."
        )
    return text.strip()
