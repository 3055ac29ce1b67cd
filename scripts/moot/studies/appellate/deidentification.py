"""The file next to the cases: what each name became, and what the gates found.

No debate reads it.
"""

import json
from pathlib import Path

import pandas as pd

from moot.core.artifacts import describe, write_frame
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.datasets import DatasetOptions, LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, recogniser_for
from moot.studies.appellate.deidentify import deidentify
from moot.studies.appellate.deidentify.reading import list_opinion_files, read_opinions


def write_deidentification(
    options: DatasetOptions, context: LoadContext, /, output: Path, **digests: str
) -> None:
    """Write `deidentified/{dataset}.parquet`: one row an opinion, `names` and the findings as JSON.

    Raises:
        UserError: the data set does not read local opinions.
    """
    dataset = context.name
    if not isinstance(options, OpinionsOptions) or options.source != "local":
        raise UserError(
            f"datasets.{dataset}: not local opinions, so there is nothing that was de-identified."
        )
    path = context.data_root / options.path
    recognise = recogniser_for(options)
    rows = []
    for opinion in read_opinions(path):
        done = deidentify(opinion, options.max_characters, recognise)
        report = done.report
        row = {
            "case_id": opinion.opinion_id, "source_row": opinion.source_row,
                "passed": report.passed,
            "name_words_checked": report.tokens, "names_surviving": list(report.names),
            "outcome_sentences_marked": len(opinion.marked_sentences),
                "outcome_sentences_surviving": list(report.outcomes),
            "problems": list(report.problems), "names": dict(done.names),
            "survivors": [[survivor.reason, survivor.words] for survivor in report.survivors],
            "reasons": report.reasons, "party_rules": list(report.party_rules),
            "outcome_from": opinion.attributes.get("outcome_from", "source"),
        }  # fmt: skip
        as_json = {
            name: json.dumps(found, ensure_ascii=False)
            for name, found in row.items()
            if isinstance(found, list | dict)
        }
        rows.append(row | as_json)
    frame = pd.DataFrame(rows)
    write_frame(
        output,
        "deidentified",
        frame,
        describe(sources=list_opinion_files(path), dataset=dataset, **digests),
    )
    LOG.info(
        "%s: %d of %d opinions pass the gates", dataset, int(frame["passed"].sum()), len(frame)
    )
