"""The file next to the cases: what each name became, and what the gates found. No debate reads it."""

import json
from pathlib import Path

import pandas as pd

from moot.core.artifacts import describe, write_frame
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.datasets import DatasetOptions, LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, recogniser_for
from moot.studies.appellate.deidentify import deidentify
from moot.studies.appellate.deidentify.reading import opinion_files, read_opinions

COLUMNS = (
    "case_id", "source_row", "passed", "name_words_checked", "names_surviving", "outcome_sentences_marked",
    "outcome_sentences_surviving", "problems", "names", "survivors", "reasons", "party_rules", "outcome_from",
)  # fmt: skip


def write_deidentification(options: DatasetOptions, context: LoadContext, /, output: Path, **digests: str) -> None:
    """Write `deidentified/{dataset}.parquet`: one row an opinion, `names` and the findings as JSON.

    Raises:
        UserError: the data set does not read local opinions.
    """
    dataset = context.name
    if not isinstance(options, OpinionsOptions) or options.source != "local":
        raise UserError(f"datasets.{dataset}: not local opinions, so there is nothing that was de-identified.")
    path = context.data_root / options.path
    recognise = recogniser_for(options)
    rows = []
    for opinion in read_opinions(path):
        done = deidentify(opinion, options.max_characters, recognise)
        report = done.report
        told, problems = list(report.outcomes), list(report.problems)
        survivors = [[survivor.reason, survivor.words] for survivor in report.survivors]
        findings = (
            list(report.names), len(opinion.marked), told, problems, dict(done.names), survivors, report.reasons,
            list(report.party_rules),
        )  # fmt: skip
        as_json = (entry if isinstance(entry, int) else json.dumps(entry, ensure_ascii=False) for entry in findings)
        rows.append(
            (
                opinion.opinion_id,
                opinion.source_row,
                report.passed,
                report.tokens,
                *as_json,
                opinion.attributes.get("outcome_from", "source"),
            )
        )
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    write_frame(output, "deidentified", frame, describe(sources=opinion_files(path), dataset=dataset, **digests))
    LOG.info("%s: %d of %d opinions pass the gates", dataset, int(frame["passed"].sum()), len(frame))
