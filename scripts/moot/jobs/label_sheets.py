"""Annotation sheets: randomly drawn statements of an experiment and model for people to label."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from moot.core.artifacts import read_cases, read_frames
from moot.core.log import LOG
from moot.jobs.statement_labels import (
    ALL_COLUMNS,
    effective_labels,
    labels_by_machines,
    rubric_of,
    statements_of,
)
from moot.labels.sample import (
    draw_more,
    has_text,
    name_units,
    read_sample,
    sample_file,
    unit_sizes,
    write_sample,
)
from moot.labels.sheet_names import key_file, name_sheet
from moot.labels.sheets import blinded, write_sheets
from moot.labels.statements import sheet_id
from moot.plan.plan import Plan


def write_drawn_sheet(
    plan: Plan,
    experiment: str,
    model: str,
    cases: Path,
    shards: Sequence[Path],
    annotations: Sequence[Path],
    folder: Path,
) -> list[Path]:
    """Draw statements until the sample has `annotation_sample` of them; write a sheet of the new
    ones.

    Args:
        plan: the checked configuration.
        experiment, model: names in it.
        cases: `cases/{dataset}.parquet`.
        shards: the transcripts.
        annotations: `annotations/{experiment}/{model}.parquet`, if there are machine labelers.
        folder: of the sheets and samples, which outlast `results/`.

    Returns:
        The sheet, its tasks, and the file of the sample.
    """
    rubric = rubric_of(plan, experiment)
    statements = statements_of(plan, experiment, shards)
    labels = read_frames(annotations) if annotations else pd.DataFrame(columns=ALL_COLUMNS)
    labels = labels_by_machines(labels)
    sizes = unit_sizes(
        statements, labels, effective_labels(labels, plan.config.annotations), rubric.no_position
    )
    units = name_units(statements)
    counts = units[has_text(statements)].value_counts()
    path = sample_file(folder, experiment, model)
    sample = draw_more(
        read_sample(path), sizes, counts, plan.config.annotation_sample, plan.config.seed
    )
    sampled_statements = statements[units.isin(sample.loc[sample["batch"].notna(), "unit"])]
    facts = {case.case_id: case.text for case in read_cases(cases)[0]}
    stem = sheet_id(experiment, model)
    name = name_sheet(folder, plan.experiments[experiment].study, experiment, model)
    paths = write_sheets(blinded(sampled_statements, facts, plan.config.seed), folder, stem, rubric)
    if len(sample):
        write_sample(path, sample)
        paths.append(path)
    LOG.info(
        "%d of %d statements drawn; sheets: %s; for labelers: %s; which experiment it is: %s",
        has_text(sampled_statements).sum(),
        has_text(statements).sum(),
        folder,
        name,
        key_file(folder),
    )
    return paths
