"""Write the pseudonyms of an opinion's names and the findings of the gates to a file.

The file lies next to the cases. No debate reads it.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.artifacts import describe, write_frame
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.datasets import DatasetOptions, LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, select_recogniser
from moot.studies.appellate.deidentify import DeidentifiedOpinion, Opinion, deidentify
from moot.studies.appellate.opinion_reading import read_usable_opinions
from moot.studies.appellate.opinion_records import list_opinion_files


def write_deidentification(
    options: DatasetOptions, context: LoadContext, /, output: Path, **digests: str
) -> None:
    """Write `deidentified/{dataset}.parquet`: one row per opinion; lists and maps are JSON.

    Raises:
        UserError: if the data set does not read local opinions.
    """
    dataset = context.name
    if not isinstance(options, OpinionsOptions) or options.source != "local":
        raise UserError(
            f"datasets.{dataset}: the data set does not read local opinions, so no text was"
            " de-identified. Expected `source: local`."
        )
    path = context.data_root / options.path
    recogniser = select_recogniser(options)
    rows = []
    for opinion in read_usable_opinions(path, options.faulty).opinions:
        deidentified = deidentify(opinion, options.max_characters, recogniser)
        rows.append(_build_row(opinion, deidentified))
    frame = pd.DataFrame(rows)
    description = describe(sources=list_opinion_files(path), dataset=dataset, **digests)
    write_frame(output, "deidentified", frame, description)
    LOG.info(
        "%s: %d of %d opinions pass the gates", dataset, int(frame["passed"].sum()), len(frame)
    )


def _build_row(opinion: Opinion, deidentified: DeidentifiedOpinion) -> dict[str, Any]:
    report = deidentified.report
    row: dict[str, Any] = {
        "case_id": opinion.opinion_id,
        "source_row": opinion.source_row,
        "passed": report.passed,
        "name_words_checked": report.tokens,
        "names_surviving": list(report.names),
        "outcome_sentences_marked": len(opinion.marked_sentences),
        "outcome_sentences_surviving": list(report.outcomes),
        "problems": list(report.problems),
        "names": dict(deidentified.names),
        "survivors": [[survivor.reason, survivor.words] for survivor in report.survivors],
        "reasons": report.reasons,
        "party_rules": list(report.party_rules),
        "outcome_from": opinion.attributes.get("outcome_from", "source"),
    }
    for name, value in row.items():
        if isinstance(value, list | dict):
            row[name] = json.dumps(value, ensure_ascii=False)
    return row
