"""JUSTICE (Alali et al. 2021): whether the first party, the petitioner, wins before the US Supreme
Court, by the facts.

Disposition, votes and decision type give the label away and are never read.
"""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
from pydantic import Field

from moot.core.cases import SplitName, Task
from moot.core.config_errors import Faults
from moot.core.input_files import check_values, read_csv
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.faulty_rows import read_usable_rows
from moot.studies.feedback.texts.lawsuits import between
from moot.studies.feedback.texts.legal_texts import (
    LegalTextOptions,
    Record,
    prepare,
    read_evidence,
    source_files,
)

COLUMNS = ("ID", "term", "first_party", "second_party", "facts", "first_party_winner", "issue_area")
_NO_FACTS = ("", "currently unavailable.", "currently unknown.", "not available.")
_GET = "download it as data/raw/README.md says (justice)."

TASK = Task(
    noun="the case",
    question="Which party does the Supreme Court decide for?",
    labels=("respondent", "petitioner"),
    positive="petitioner",
    meaning={
        "petitioner": "the first party, who asked the Supreme Court to review, wins",
        "respondent": "the second party, who won in the court below, wins again",
    },
    background=(
        "A case before the Supreme Court of the United States, told by its facts before the"
        " decision."
    ),
    roles={"prosecutor": "petitioner's counsel", "defense": "respondent's counsel"},
)


class JusticeOptions(LegalTextOptions):
    """Options of the JUSTICE data set."""

    parties: bool = Field(
        True, description="put the parties' names above the facts, so that it is clear who is first"
    )


@dataset("justice", JusticeOptions)
def load(options: JusticeOptions, context: LoadContext) -> Loaded:
    """Load the JUSTICE table; cases without a winner or without facts are left out and counted.

    Raises:
        UserError: a file is missing or malformed, or `first_party_winner` is not True, False or
            blank.
    """
    files = source_files(options, context, "justice/justice.csv", "justice.csv")
    cleaning = {"records read": 0, "no winner (left out)": 0, "no facts (left out)": 0}
    records = list[Record]()
    for path, split_name in files.items():
        records += _read_file(path, split_name, options, cleaning)
    return prepare(
        records,
        TASK,
        options,
        context,
        court="us supreme court",
        cleaning=cleaning,
        sources=list(files),
    )


def _read_file(
    path: Path, split_name: SplitName | None, options: JusticeOptions, cleaning: dict[str, int]
) -> list[Record]:
    columns = [*COLUMNS, *filter(None, [options.evidence])]

    def read(faults: Faults) -> pd.DataFrame:
        rows = read_csv(path, columns, encoding=options.encoding, get=_GET, faults=faults)
        return rows[columns]

    def check(rows: pd.DataFrame) -> None:
        check_values(path, rows["first_party_winner"], ["True", "False", ""])
        if options.evidence:
            for row, cell in rows[options.evidence].items():
                read_evidence(path, row, options.evidence, cell)

    frame = read_usable_rows(path, read, check, options.faulty, cleaning, unique="ID")
    frame = frame.assign(facts=[plain_text(facts) for facts in frame["facts"]])
    no_winner = frame["first_party_winner"] == ""
    no_facts = ~no_winner & frame["facts"].str.lower().isin(_NO_FACTS)
    cleaning["records read"] += len(frame)
    cleaning["no winner (left out)"] += int(no_winner.sum())
    cleaning["no facts (left out)"] += int(no_facts.sum())
    records = list[Record]()
    for row, fields in frame[~no_winner & ~no_facts].iterrows():
        record = _record(int(str(row)), fields, split_name, options)
        if options.evidence:
            cell = fields[options.evidence]
            record = replace(record, evidence=read_evidence(path, row, options.evidence, cell))
        records.append(record)
    return records


def _record(
    row: int, fields: "pd.Series[str]", split_name: SplitName | None, options: JusticeOptions
) -> Record:
    heading = (
        f"Petitioner: {fields['first_party']}\nRespondent: {fields['second_party']}\n\n"
        if options.parties
        else ""
    )
    target = "petitioner" if fields["first_party_winner"] == "True" else "respondent"
    attributes = {"term": fields["term"], "issue_area": fields["issue_area"] or "unknown"}
    lawsuit = between([fields["first_party"], fields["second_party"]])
    return Record(row, heading + fields["facts"], target, split_name, attributes, lawsuit)


class _Text(HTMLParser):
    """Collects the visible text of a fragment of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def plain_text(html: str) -> str:
    """Return the text of a fragment of HTML, without blanks around it.

    >>> plain_text("<p>Roe &amp; Wade</p>")
    'Roe & Wade'
    """
    parser = _Text()
    parser.feed(html)
    parser.close()
    return "".join(parser.pieces).strip()
