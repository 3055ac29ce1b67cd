"""Annotation sheets: randomly drawn statements of an experiment and model for people to label."""

from collections.abc import Sequence
from pathlib import Path

from moot.core.artifacts import read_cases
from moot.core.log import LOG
from moot.jobs.statement_labels import rubric_of, statements_of
from moot.labels.sheet_names import key_file, name_sheet
from moot.labels.sheets import blinded, write_sheets
from moot.labels.statements import draw_statements, sheet_id
from moot.plan.plan import Plan


def write_drawn_sheet(
    plan: Plan, experiment: str, model: str, cases: Path, shards: Sequence[Path], folder: Path
) -> list[Path]:
    """Draw `annotation_sample` statements, and write a sheet of those that no sheet has yet.

    Args:
        plan: the checked configuration.
        experiment, model: names in it.
        cases: `cases/{dataset}.parquet`.
        shards: the transcripts.
        folder: of the sheets, which outlast `results/`.

    Returns:
        The sheet and its tasks.
    """
    config = plan.config
    statements = statements_of(plan, experiment, shards)
    drawn = draw_statements(statements, config.annotation_sample, config.seed)
    facts = {case.case_id: case.text for case in read_cases(cases)[0]}
    name = name_sheet(folder, plan.experiments[experiment].study, experiment, model)
    paths = write_sheets(
        blinded(drawn, facts, config.seed),
        folder,
        sheet_id(experiment, model),
        rubric_of(plan, experiment),
    )
    LOG.info(
        "%d of %d statements drawn; sheets: %s; for labelers: %s; which experiment it is: %s",
        len(drawn),
        len(statements),
        folder,
        name,
        key_file(folder),
    )
    return paths
